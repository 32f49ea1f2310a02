"""Dempster-Shafer calculus on batches of mass functions."""

from evidentia.belief.combination import (
    cautious,
    coarsen,
    condition,
    conjunctive,
    dempster,
    discount,
    disjunctive,
    refine,
    yager,
)
from evidentia.belief.decision import ASSIGNED, believed_sets, decide, decide_sets, top_focal_set
from evidentia.belief.focal import FocalSets, format_mask, resolve_focal_sets
from evidentia.belief.mass import MassFunctions
from evidentia.belief.pooling import average, combine_many, hedge, mean_conflict
from evidentia.belief.transforms import (
    belief,
    commonality,
    contour,
    from_contour,
    from_pignistic,
    normalize,
    pignistic,
    plausibility,
    recast,
    singleton_belief,
)
from evidentia.belief.uncertainty import (
    belief_distance,
    conflict,
    confusion,
    dissonance,
    jirousek_shenoy_entropy,
    jousselme_distance,
    nonspecificity,
    normalized_nonspecificity,
    pairwise_conflict,
    pignistic_entropy,
)

__all__ = [
    "ASSIGNED", "FocalSets", "MassFunctions", "average", "belief", "belief_distance", "believed_sets",
    "cautious", "coarsen", "combine_many", "commonality", "condition",
    "conflict", "confusion", "conjunctive", "contour", "decide", "decide_sets", "dempster",
    "discount", "disjunctive", "dissonance", "format_mask", "from_contour", "from_pignistic", "hedge",
    "jirousek_shenoy_entropy", "jousselme_distance", "mean_conflict", "nonspecificity", "normalize",
    "normalized_nonspecificity", "pairwise_conflict", "pignistic", "pignistic_entropy", "plausibility", "recast",
    "refine", "resolve_focal_sets", "singleton_belief", "top_focal_set", "yager",
]  # fmt: skip
