"""Methods with centers: evidential c-means, its relatives, and those that listen to links between objects."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evidentia.prototypes.belief_peaks import BeliefPeaks, belief_peaks
    from evidentia.prototypes.bpec import BPEC
    from evidentia.prototypes.catecm import CatECM
    from evidentia.prototypes.ccm import CCM
    from evidentia.prototypes.cecm import CECM
    from evidentia.prototypes.cfcm import CFCM
    from evidentia.prototypes.cop_kmeans import COPKMeans, UnsatisfiedLinks
    from evidentia.prototypes.ecm import ECM
    from evidentia.prototypes.fcm import FCM
    from evidentia.prototypes.gustafson_kessel import GustafsonKessel
    from evidentia.prototypes.mecm import MECM
    from evidentia.prototypes.noise import NoiseClustering
    from evidentia.prototypes.secmdd import SECMdd
    from evidentia.prototypes.softecm import SoftECM

# Each in its own file, loaded when it is asked for.
_HOMES = {
    "BPEC": "bpec",
    "BeliefPeaks": "belief_peaks",
    "CCM": "ccm",
    "CECM": "cecm",
    "CFCM": "cfcm",
    "COPKMeans": "cop_kmeans",
    "CatECM": "catecm",
    "ECM": "ecm",
    "FCM": "fcm",
    "GustafsonKessel": "gustafson_kessel",
    "MECM": "mecm",
    "NoiseClustering": "noise",
    "SECMdd": "secmdd",
    "SoftECM": "softecm",
    "UnsatisfiedLinks": "cop_kmeans",
}

__all__ = [
    "BPEC",
    "CCM",
    "CECM",
    "CFCM",
    "ECM",
    "FCM",
    "MECM",
    "BeliefPeaks",
    "COPKMeans",
    "CatECM",
    "GustafsonKessel",
    "NoiseClustering",
    "SECMdd",
    "SoftECM",
    "UnsatisfiedLinks",
    "belief_peaks",
]


if not TYPE_CHECKING:  # its file has the same name, and would take its place
    belief_peaks = import_module("evidentia.prototypes.belief_peaks").belief_peaks


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        globals()[name] = found = getattr(import_module(f"evidentia.prototypes.{_HOMES[name]}"), name)
        return found
    raise AttributeError(f"module 'evidentia.prototypes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
