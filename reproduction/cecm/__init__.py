"""CECM: constrained evidential c-means (Antoine, Quost, Masson & Denœux, CSDA 56, 2012)."""

from reproduction.cecm import curves, small, tables
from reproduction.cecm.claims import CLAIMS
from reproduction.exhibit import Exhibit

__all__ = ["CLAIMS", "EXHIBITS"]

EXHIBITS: list[Exhibit] = [*small.EXHIBITS, *tables.EXHIBITS, *curves.EXHIBITS]
