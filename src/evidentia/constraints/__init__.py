"""What somebody knows about pairs of objects: they belong together, or they do not."""

from evidentia.constraints.active import ActiveSession, Question, ask_oracle
from evidentia.constraints.chains import Contradiction, ContradictoryLinks
from evidentia.constraints.pairwise import Link, PairwiseConstraints, resolve_constraints
from evidentia.constraints.statements import Statement

__all__ = [
    "ActiveSession", "Contradiction", "ContradictoryLinks", "Link", "PairwiseConstraints", "Question", "Statement",
    "ask_oracle", "resolve_constraints",
]  # fmt: skip
