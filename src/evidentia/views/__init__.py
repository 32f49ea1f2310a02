"""Several views of the same objects: tables that describe them differently, or several matrices of dissimilarities."""

from evidentia.views.conflict import conflict_between_views
from evidentia.views.mecmdd import MECMdd
from evidentia.views.reading import Views, read_views
from evidentia.views.wmvec import WMVEC
from evidentia.views.wmvecfp import WMVECFP

__all__ = ["WMVEC", "WMVECFP", "MECMdd", "Views", "conflict_between_views", "read_views"]
