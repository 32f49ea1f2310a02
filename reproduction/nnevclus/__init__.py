"""NN-EVCLUS: neural network-based evidential clustering (Denœux, Information Sciences 572, 2021)."""

import re

from reproduction.exhibit import Exhibit
from reproduction.nnevclus import attributes, butterfly, circles, data, dissimilarities, fourclass, links
from reproduction.nnevclus.claims import CLAIMS

__all__ = ["CLAIMS", "EXHIBITS"]


def place(exhibit: Exhibit) -> tuple[bool, bool, int]:
    """Tables, then figures, then what has no number in the paper."""
    number = re.search(r"\d+", exhibit.name)
    return number is None, ".table" not in exhibit.name, int(number[0]) if number else 0


PARTS = (butterfly, data, fourclass, circles, attributes, dissimilarities, links)
EXHIBITS: list[Exhibit] = sorted((exhibit for part in PARTS for exhibit in part.EXHIBITS), key=place)
