"""A network that maps any object to a mass function. Needs PyTorch: ``pip install "evidentia[nn]"``."""

from evidentia.neural.nnevclus import NNEVCLUS

__all__ = ["NNEVCLUS"]
