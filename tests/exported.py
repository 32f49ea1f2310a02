"""What evidentia offers, found by walking over its packages, so that a law holds of what is added tomorrow too."""

import inspect
import pkgutil
from importlib import import_module

import evidentia

HOMES = [
    "evidentia",
    "evidentia.methods",
    "evidentia.tl",
    *(
        module.name
        for module in pkgutil.walk_packages(evidentia.__path__, "evidentia.")
        if module.ispkg and "._" not in module.name
    ),
]


def exported():
    """Functions and classes that a package lists in ``__all__``: its name, the name there, and the thing itself."""
    for home in HOMES:
        module = import_module(home)
        for name in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
            thing = getattr(module, name)
            if getattr(thing, "__module__", "").startswith("evidentia"):
                yield home, name, thing


def public_methods(thing):
    """Public methods of a class that are written in evidentia, by their names; none of anything else."""
    for name in dir(thing) if inspect.isclass(thing) else ():
        found = inspect.getattr_static(thing, name)
        found = getattr(found, "__func__", found)
        if not name.startswith("_") and inspect.isfunction(found) and found.__module__.startswith("evidentia"):
            yield name, found
