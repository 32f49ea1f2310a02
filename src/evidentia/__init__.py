"""Evidential clustering: groups in data, and an honest account of what the data cannot tell.

>>> from evidentia import EGMM
>>> from evidentia.datasets import load
>>> model = EGMM(n_clusters=3, random_state=0).fit(load("iris").data)
>>> len(model.partition_)
150
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from evidentia.belief import FocalSets, MassFunctions
    from evidentia.constraints import PairwiseConstraints
    from evidentia.hierarchy import BeliefHierarchical
    from evidentia.metric_learning import LSI
    from evidentia.mixtures import EGMM, BootGMM, LatentClassMixture, ParsimoniousGaussianMixture
    from evidentia.partition import CredalPartition
    from evidentia.prototypes import CECM, CFCM, ECM, FCM, COPKMeans, GustafsonKessel, NoiseClustering
    from evidentia.selection import select

# Where each public name lives. Sub-modules load on first use, so that ``import evidentia`` is quick.
_HOMES = {
    "BeliefHierarchical": "hierarchy",
    "BootGMM": "mixtures",
    "CECM": "prototypes",
    "CFCM": "prototypes",
    "COPKMeans": "prototypes",
    "CredalPartition": "partition",
    "ECM": "prototypes",
    "EGMM": "mixtures",
    "FCM": "prototypes",
    "FocalSets": "belief",
    "GustafsonKessel": "prototypes",
    "LSI": "metric_learning",
    "LatentClassMixture": "mixtures",
    "MassFunctions": "belief",
    "NoiseClustering": "prototypes",
    "PairwiseConstraints": "constraints",
    "ParsimoniousGaussianMixture": "mixtures",
    "select": "selection",
}
_SUBMODULES = (
    "belief",
    "constraints",
    "datasets",
    "hierarchy",
    "metric_learning",
    "mixtures",
    "partition",
    "plots",
    "prototypes",
    "report",
    "scores",
    "selection",
)

__all__ = [
    "CECM",
    "CFCM",
    "ECM",
    "EGMM",
    "FCM",
    "LSI",
    "BeliefHierarchical",
    "BootGMM",
    "COPKMeans",
    "CredalPartition",
    "FocalSets",
    "GustafsonKessel",
    "LatentClassMixture",
    "MassFunctions",
    "NoiseClustering",
    "PairwiseConstraints",
    "ParsimoniousGaussianMixture",
    "select",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"evidentia.{_HOMES[name]}"), name)
    if name in _SUBMODULES:
        return import_module(f"evidentia.{name}")
    raise AttributeError(f"module 'evidentia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES, "__version__"])
