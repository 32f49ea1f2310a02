"""How many clusters, and by which method: one call, one table; and many fits that speak together."""

from evidentia.selection.criteria import CRITERIA, Criterion, modified_partition_coefficient
from evidentia.selection.many_fits import Ensemble, ensemble
from evidentia.selection.search import Selection, select

__all__ = ["CRITERIA", "Criterion", "Ensemble", "Selection", "ensemble", "modified_partition_coefficient", "select"]
