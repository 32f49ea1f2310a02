"""Metrics learned from what is known about pairs of objects, as transformers of the table."""

from evidentia.metric_learning.lsi import LSI

__all__ = ["LSI"]
