"""Methods whose formulas rest on the abstract of their article and on memory: no program of them was found.

They are tested like all others, but against the criterion in their docstrings, which may not be that of the article. So
names, parameters and results may change in any release, without notice; the changelog says so when they do. A method
leaves this folder when its formulas have been compared with the article or with a program that computes them. Methods
that were compared with a program but not with the article are elsewhere, with a warning in their docstrings.
"""

from evidentia.experimental.bcm import BCM
from evidentia.experimental.wecmdd import WECMdd

__all__ = ["BCM", "WECMdd"]
