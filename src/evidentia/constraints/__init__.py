"""What somebody knows about pairs of objects: they belong together, or they do not."""

from evidentia.constraints.chains import Contradiction
from evidentia.constraints.pairwise import ContradictoryLinks, Link, PairwiseConstraints

__all__ = ["Contradiction", "ContradictoryLinks", "Link", "PairwiseConstraints"]
