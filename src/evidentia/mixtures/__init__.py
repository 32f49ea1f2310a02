"""Clustering by mixtures of distributions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evidentia.mixtures.bootgmm import BootGMM
    from evidentia.mixtures.egmm import EGMM
    from evidentia.mixtures.latent_class import LatentClassMixture
    from evidentia.mixtures.latent_profile import LatentProfileMixture
    from evidentia.mixtures.parsimonious import ParsimoniousGaussianMixture

# Each in its own file, loaded when it is asked for.
_HOMES = {
    "BootGMM": "bootgmm",
    "EGMM": "egmm",
    "LatentClassMixture": "latent_class",
    "LatentProfileMixture": "latent_profile",
    "ParsimoniousGaussianMixture": "parsimonious",
}

__all__ = ["EGMM", "BootGMM", "LatentClassMixture", "LatentProfileMixture", "ParsimoniousGaussianMixture"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        globals()[name] = found = getattr(import_module(f"evidentia.mixtures.{_HOMES[name]}"), name)
        return found
    raise AttributeError(f"module 'evidentia.mixtures' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
