"""The credal partition: the one result every method gives."""

from evidentia.partition.credal import CredalPartition
from evidentia.partition.explanation import Explanation
from evidentia.partition.fusion import Fusion, fuse
from evidentia.partition.lazy import LazyPartition
from evidentia.partition.relational import RelationalMasses
from evidentia.partition.sparse import SparsePartition

__all__ = ["CredalPartition", "Explanation", "Fusion", "LazyPartition", "RelationalMasses", "SparsePartition", "fuse"]
