"""The applications: what people run on top of the library.

They use the public names of the library only, so that everything which can be clicked or typed can also be called.
"""

from importlib import import_module
from typing import Any

_SUBMODULES = ("advisor", "cli", "explorer", "images", "report")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"evidentia.app.{name}")
    raise AttributeError(f"module 'evidentia.app' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_SUBMODULES)
