"""Tables whose number of groups is known, and what the verdict says of them."""

from collections.abc import Sequence

from reproduction.claims import Claim
from reproduction.truth.verdict import EXHIBITS

__all__ = ["CLAIMS", "EXHIBITS"]

CLAIMS: Sequence[Claim] = ()
