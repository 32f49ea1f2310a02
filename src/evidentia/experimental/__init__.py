"""Methods whose article could not be read: our reading of it, on its abstract and from memory.

They are tested like all others, but against the criterion in their docstrings, which may not be that of the article. So
names, parameters and results may change in any release, without notice; the changelog says so when they do. A method
leaves this folder when its formulas have been compared with the article or with a program of its authors.
"""

from evidentia.experimental.bcm import BCM
from evidentia.experimental.wecmdd import WECMdd

__all__ = ["BCM", "WECMdd"]
