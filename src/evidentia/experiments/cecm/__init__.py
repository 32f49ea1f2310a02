"""CECM: constrained evidential c-means (Antoine, Quost, Masson & Denœux, CSDA 56, 2012)."""

from evidentia.experiments.cecm import curves, small, tables
from evidentia.experiments.exhibit import Exhibit

EXHIBITS: list[Exhibit] = [*small.EXHIBITS, *tables.EXHIBITS, *curves.EXHIBITS]
