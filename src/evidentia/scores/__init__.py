"""How good a partition is: against a truth, against another partition, and object by object.

Hard labels: :func:`hard_scores` and the measures scikit-learn lacks. Credal partitions: :func:`credal_rand_index`,
:func:`pair_nonspecificity` and :func:`credal_scores`. Single objects: :func:`object_uncertainty`.
The intervals of a bootstrapped mixture: :func:`calibrate`. Stated probabilities: :func:`reliability`.
"""

from evidentia.scores.calibration import KnownMixture, calibrate, calibration_summary, interval_coverage
from evidentia.scores.credal import credal_rand_index, credal_scores, object_uncertainty, pair_nonspecificity
from evidentia.scores.hard import hard_scores, pair_precision, pair_recall, purity
from evidentia.scores.reliability import Reliability, reliability

__all__ = [
    "KnownMixture", "Reliability", "calibrate", "calibration_summary", "credal_rand_index", "credal_scores",
    "hard_scores", "interval_coverage", "object_uncertainty", "pair_nonspecificity", "pair_precision", "pair_recall",
    "purity", "reliability",
]  # fmt: skip
