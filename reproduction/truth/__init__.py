"""What the words promise: "assigned", and sets with a stated coverage, on tables whose groups are known."""

from collections.abc import Sequence

from reproduction.claims import Claim
from reproduction.truth import coverage

EXHIBITS = [*coverage.EXHIBITS]
CLAIMS: Sequence[Claim] = ()
