"""Calibrated model-based evidential clustering using bootstrapping (Denœux, Information Sciences 528, 2020)."""

from reproduction.bootgmm import calibration, gvhd, real, synthetic
from reproduction.exhibit import Exhibit

EXHIBITS: list[Exhibit] = [
    *synthetic.EXHIBITS,
    *calibration.EXHIBITS,
    *real.EXHIBITS,
    *gvhd.EXHIBITS,
]
