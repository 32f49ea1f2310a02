"""Clustering by mixtures of distributions."""

from evidentia.mixtures.egmm import EGMM

__all__ = ["EGMM"]
