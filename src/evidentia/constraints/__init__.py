"""What somebody knows about pairs of objects: they belong together, or they do not."""

from evidentia.constraints.active import ActiveSession, Question, ask_oracle
from evidentia.constraints.chains import Contradiction
from evidentia.constraints.pairwise import ContradictoryLinks, Link, PairwiseConstraints, resolve_constraints

__all__ = [
    "ActiveSession", "Contradiction", "ContradictoryLinks", "Link", "PairwiseConstraints", "Question", "ask_oracle",
    "resolve_constraints",
]  # fmt: skip
