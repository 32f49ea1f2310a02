"""EGMM: an evidential version of the Gaussian mixture model (Jiao, Denœux, Liu & Pan, Appl. Soft Comput. 129, 2022)."""

from reproduction.egmm import brain, clustering, simulated
from reproduction.egmm.claims import CLAIMS
from reproduction.exhibit import Exhibit

__all__ = ["CLAIMS", "EXHIBITS"]

EXHIBITS: list[Exhibit] = [
    Exhibit(
        "egmm.table1",
        "Example of an evidential membership",
        absent="An example of the notation, with nothing to compute.",
    ),
    *simulated.EXHIBITS,
    *clustering.EXHIBITS,
    *brain.EXHIBITS,
]
