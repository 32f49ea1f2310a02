"""What the words promise: the verdict, "assigned", and sets with a stated coverage, where the groups are known."""

from collections.abc import Sequence

from reproduction.claims import Claim
from reproduction.truth import coverage, verdict

__all__ = ["CLAIMS", "EXHIBITS"]

EXHIBITS = [*verdict.EXHIBITS, *coverage.EXHIBITS]
CLAIMS: Sequence[Claim] = ()
