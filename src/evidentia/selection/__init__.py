"""How many clusters, and by which method: one call, one table."""

from evidentia.selection.criteria import CRITERIA, Criterion, modified_partition_coefficient
from evidentia.selection.search import Selection, select

__all__ = ["CRITERIA", "Criterion", "Selection", "modified_partition_coefficient", "select"]
