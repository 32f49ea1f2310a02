"""A fitted network among the numbers of a unit, so that a picture shows the fit that was measured."""

from __future__ import annotations

import base64
from pathlib import Path
from tempfile import TemporaryDirectory

from evidentia import NNEVCLUS, load_model

FILE = "model.npz"


def to_text(model: NNEVCLUS) -> str:
    """The file of a fitted model as letters and digits."""
    with TemporaryDirectory() as directory:
        model.save(Path(directory) / FILE)
        return base64.b64encode((Path(directory) / FILE).read_bytes()).decode()


def from_text(text: str) -> NNEVCLUS:
    with TemporaryDirectory() as directory:
        (Path(directory) / FILE).write_bytes(base64.b64decode(text))
        model: NNEVCLUS = load_model(Path(directory) / FILE)
        return model
