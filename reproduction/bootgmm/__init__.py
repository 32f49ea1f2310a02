"""Calibrated model-based evidential clustering using bootstrapping (Denœux, Information Sciences 528, 2020)."""

from reproduction.bootgmm import calibration, fresh, gvhd, real, synthetic
from reproduction.bootgmm.claims import CLAIMS
from reproduction.exhibit import Exhibit

__all__ = ["CLAIMS", "EXHIBITS"]

EXHIBITS: list[Exhibit] = [
    *synthetic.EXHIBITS,
    *calibration.EXHIBITS,
    *fresh.EXHIBITS,
    *real.EXHIBITS,
    *gvhd.EXHIBITS,
]
