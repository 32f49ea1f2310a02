"""Files that tell when somebody changed them after they were written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DIGEST = "digest"


class DamagedFile(ValueError):
    """A file does not hold what was written."""


def digest(content: Mapping[str, Any]) -> str:
    """Of all that a file holds but the digest itself, whatever the order of the keys.

    >>> digest({"ari": 0.91, "seed": 3}) == digest({"seed": 3, "ari": 0.91, "digest": "of before"})
    True
    >>> digest({"ari": 0.91, "seed": 3}) == digest({"ari": 0.92, "seed": 3})
    False
    """
    held = {key: value for key, value in content.items() if key != DIGEST}
    return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()[:16]


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with its digest in front."""
    return {DIGEST: digest(content), **content}


def read_sealed(path: Path) -> dict[str, Any]:
    """What a sealed file holds; `DamagedFile` when it cannot be read or is not what was written."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DamagedFile(f"{path.name} is not whole: {error}") from None
    if not isinstance(content, dict) or content.get(DIGEST) != digest(content):
        raise DamagedFile(f"{path.name} is not what was written: its digest does not fit.")
    return content
