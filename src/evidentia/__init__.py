"""Evidential clustering: groups in data, and an honest account of what the data cannot tell.

>>> from evidentia import EGMM
>>> from evidentia.datasets import load
>>> model = EGMM(n_clusters=3, random_state=0).fit(load("iris").data)
>>> len(model.partition_)
150
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. Sub-modules load on first use, so that ``import evidentia`` is quick.
# exports: written by docs/make_tables.py
if TYPE_CHECKING:
    from evidentia.app.advisor import profile_table, recommend
    from evidentia.app.explorer import explore
    from evidentia.belief import FocalSets, MassFunctions
    from evidentia.constraints import ActiveSession, PairwiseConstraints
    from evidentia.graphs import communities
    from evidentia.hierarchy import BeliefHierarchical
    from evidentia.metric_learning import FDA, KFDA, KPCCA, LFDA, LSI, PCCA, DMLeig
    from evidentia.mixtures import EGMM, BootGMM, LatentClassMixture, LatentProfileMixture, ParsimoniousGaussianMixture
    from evidentia.neural import NNEVCLUS
    from evidentia.partition import CredalPartition, fuse
    from evidentia.prototypes import (
        BPEC,
        CCM,
        CECM,
        CFCM,
        ECM,
        FCM,
        MECM,
        CatECM,
        COPKMeans,
        GustafsonKessel,
        NoiseClustering,
        SECMdd,
        SoftECM,
    )
    from evidentia.relational import CEVCLUS, EVCLUS, RECM, EkNNclus
    from evidentia.rows import open_rows
    from evidentia.selection import ensemble, select
    from evidentia.storage import load_model
    from evidentia.views import WMVEC, WMVECFP, MECMdd

_NAMES = {
    "app.advisor": ["profile_table", "recommend"],
    "app.explorer": ["explore"],
    "belief": ["FocalSets", "MassFunctions"],
    "constraints": ["ActiveSession", "PairwiseConstraints"],
    "graphs": ["communities"],
    "hierarchy": ["BeliefHierarchical"],
    "metric_learning": ["FDA", "KFDA", "KPCCA", "LFDA", "LSI", "PCCA", "DMLeig"],
    "mixtures": ["EGMM", "BootGMM", "LatentClassMixture", "LatentProfileMixture", "ParsimoniousGaussianMixture"],
    "neural": ["NNEVCLUS"],
    "partition": ["CredalPartition", "fuse"],
    "prototypes": ["BPEC", "CCM", "CECM", "CFCM", "ECM", "FCM", "MECM", "COPKMeans", "CatECM", "GustafsonKessel",
        "NoiseClustering", "SECMdd", "SoftECM"],
    "relational": ["CEVCLUS", "EVCLUS", "RECM", "EkNNclus"],
    "rows": ["open_rows"],
    "selection": ["ensemble", "select"],
    "storage": ["load_model"],
    "views": ["WMVEC", "WMVECFP", "MECMdd"],
}  # fmt: skip

__all__ = [
    "BPEC", "CCM", "CECM", "CEVCLUS", "CFCM", "ECM", "EGMM", "EVCLUS", "FCM", "FDA", "KFDA", "KPCCA", "LFDA", "LSI",
    "MECM", "NNEVCLUS", "PCCA", "RECM", "WMVEC", "WMVECFP", "ActiveSession", "BeliefHierarchical", "BootGMM",
    "COPKMeans", "CatECM", "CredalPartition", "DMLeig", "EkNNclus", "FocalSets", "GustafsonKessel",
    "LatentClassMixture", "LatentProfileMixture", "MECMdd", "MassFunctions", "NoiseClustering", "PairwiseConstraints",
    "ParsimoniousGaussianMixture", "SECMdd", "SoftECM", "communities", "ensemble", "explore", "fuse", "load_model",
    "open_rows", "profile_table", "recommend", "select",
]  # fmt: skip
# end of exports
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
_SUBMODULES = (
    *(home for home in _NAMES if "." not in home),
    "app",
    "datasets",
    "dissimilarities",
    "experimental",
    "methods",
    "plots",
    "scores",
    "tl",
)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        globals()[name] = found = getattr(import_module(f"evidentia.{_HOMES[name]}"), name)
        return found
    if name in _SUBMODULES:
        return import_module(f"evidentia.{name}")
    raise AttributeError(f"module 'evidentia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES, "__version__"])
