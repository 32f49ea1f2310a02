"""The public names of ``same.py``: what evidentia offers, as lines of text."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

from same_cases import Result, registered

import evidentia
import evidentia.app

PACKAGES = {"evidentia": evidentia.__path__, "evidentia.app": evidentia.app.__path__}


def surface(results: dict[str, Result]) -> list[str]:
    """Return the public names as lines: exports, parameters, methods, functions, records, commands, attributes."""
    lines: set[str] = set()
    described: dict[int, tuple[str, str, Any]] = {}
    inside = [f"{prefix}.{one.name}" for prefix, path in PACKAGES.items() for one in pkgutil.iter_modules(path)]
    for module in ["evidentia", *inside]:
        if module.split(".")[-1].startswith("_"):
            continue
        try:
            home = importlib.import_module(module)
            found = {name: getattr(home, name) for name in getattr(home, "__all__", ())}
        except ImportError as error:
            lines.add(f"module {module} needs {error.name}, which is not here")
            continue
        for name, value in found.items():
            lines.add(f"export {module}.{name}")
            described.setdefault(id(value), (module, name, value))
    for module, name, value in described.values():
        if inspect.isclass(value):
            lines |= set(class_lines(name, value))
        elif callable(value):
            lines.add(f"function {module}.{name}{signature(value)}")
    for name, cls in registered().items():
        for fact in ("reads", "takes", "number", "families", "empty_set", "labels", "criterion", "learner"):
            lines.add(f"record {name}.{fact} = {getattr(cls.method, fact, None)!r}")
        first = next((one for key, one in results.items() if key.startswith(f"{name}: ") and one["attributes"]), None)
        lines |= {f"attribute {cls.__name__}.{one}" for one in first["attributes"]} if first else set()
    return sorted(lines | set(command_lines()))


def class_lines(name: str, cls: type) -> Iterator[str]:
    """List parameters with defaults, methods with signatures, and properties, without those of other libraries."""
    with contextlib.suppress(ValueError, TypeError):
        for parameter in inspect.signature(cls).parameters.values():
            yield f"parameter {name}.{_plain(parameter)}"
    for member in dir(cls):
        if member.startswith("_"):
            continue
        owner = next((one for one in cls.__mro__ if member in vars(one)), cls)
        if not owner.__module__.startswith("evidentia"):
            continue
        found = getattr(cls, member)
        if inspect.isroutine(found):
            yield f"method {name}.{member}{signature(found)}"
        elif isinstance(inspect.getattr_static(cls, member), property) or hasattr(found, "func"):
            yield f"property {name}.{member}"


def signature(found: Any) -> str:
    """Return a signature without types, which may become stricter."""
    try:
        shown = inspect.signature(found)
    except (ValueError, TypeError):
        return "(...)"
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in shown.parameters.values()]
    return re.sub(r" at 0x\w+", "", str(inspect.Signature(bare)))


def _plain(parameter: inspect.Parameter) -> str:
    return re.sub(r" at 0x\w+", "", str(parameter.replace(annotation=inspect.Parameter.empty)).replace("=", " = ", 1))


def command_lines() -> Iterator[str]:
    """List the commands of the command line, with their options."""
    root = importlib.import_module("typer").main.get_command(importlib.import_module("evidentia.app.cli").app)
    for command, found in getattr(root, "commands", {}).items():
        yield f"command {command}"
        yield from (f"option {command} {' '.join(sorted(one.opts))}" for one in found.params)
