"""A digest of the code that a result depends on, so that what is kept of an earlier run is of this very code."""

from __future__ import annotations

import ast
import hashlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import evidentia

ROOTS = ("evidentia", "reproduction.defaults")


@cache
def digest(*modules: str) -> str:
    """Of these modules and of all of ours that they import, directly or through others."""
    return digest_alone(*sorted(closure(modules)))


@cache
def digest_alone(*modules: str) -> str:
    """Of these modules and no others; comments do not count."""
    text = "\n".join(f"{name} {ast.dump(ast.parse(source(name)))}" for name in modules)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def digest_of_all() -> str:
    """Of the whole package."""
    return digest_alone(*sorted(module.name for module in pkgutil.walk_packages(evidentia.__path__, "evidentia.")))


def closure(modules: tuple[str, ...]) -> set[str]:
    reached: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += imported(name)
    return reached


@cache
def imported(name: str) -> tuple[str, ...]:
    """Modules of ours that a module names in its imports, those inside functions included.

    The package itself only hands out names, each from a module that is named elsewhere.
    """
    if name == "evidentia":
        return ()
    return tuple(module for module in named(ast.parse(source(name))) if module.startswith(ROOTS))


def named(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(ROOTS):
            yield node.module
            for alias in node.names:
                if is_module(child := f"{node.module}.{alias.name}"):
                    yield child
                elif node.module != "evidentia":  # a package may load what it exports from any module of it
                    yield from modules_of(node.module)


@cache
def is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@cache
def modules_of(package: str) -> tuple[str, ...]:
    spec = find_spec(package)
    places = None if spec is None else spec.submodule_search_locations
    return tuple(f"{package}.{module.name}" for module in pkgutil.iter_modules(places)) if places else ()


@cache
def source(name: str) -> str:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")
