"""Calibrated model-based evidential clustering using bootstrapping (Denœux, Information Sciences 528, 2020)."""

from evidentia.experiments.bootgmm import calibration, gvhd, real, synthetic
from evidentia.experiments.exhibit import Exhibit

EXHIBITS: list[Exhibit] = [
    *synthetic.EXHIBITS,
    *calibration.EXHIBITS,
    *real.EXHIBITS,
    *gvhd.EXHIBITS,
]
