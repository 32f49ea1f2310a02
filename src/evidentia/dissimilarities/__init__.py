r"""Dissimilarities, read in one place: a matrix, a table and a metric, objects and a function, a mixed table.

Every :class:`Source` answers one question, a block of dissimilarities between some objects and some others, so that a
method that wants k partners for each of n objects never holds n × n numbers. New objects are answered alike.

An estimator derives from ``RelationalClusterer``, which has the parameters ``metric`` and ``metric_params``, reads
objects and new ones, and keeps of the former what prediction needs; a matrix is not kept::

    def _fit(self, data):
        dissimilarity = full_matrix(data.rows, who="SECMdd", cure="Take a sample.")  # n × n, refused beyond memory
        ...

    def _masses(self, new):
        for rows, block in new_blocks(self._source, new):  # some rows at a time, each of shape (some, n_train)
            ...

A method that needs neighbors alone takes ``nearest_objects(source, k)`` and ``nearest_objects(source, k, new)``, which
use a tree where there is one. Where there is no estimator, or X is not what shall be compared (rows transformed by a
learned metric), ``make_source(rows, metric, params, who="NNEVCLUS")`` reads without noting columns, ``Matrix(
check_dissimilarities(D, "NNEVCLUS"))`` takes numbers, and ``Subset(source, objects)`` is a part of a source.
"""

from evidentia.dissimilarities.conflict import default_quantile, delta_star
from evidentia.dissimilarities.gower import MixedTable, gower_distances
from evidentia.dissimilarities.reading import (
    METRIC,
    METRIC_PARAMS,
    RelationalClusterer,
    make_source,
    read_matrix,
    read_new,
    read_source,
    read_table,
    refuse_rows_of_metric,
)
from evidentia.dissimilarities.sources import (
    Columns,
    Matrix,
    Objects,
    Source,
    Subset,
    Table,
    check_dissimilarities,
    full_matrix,
    nearest_objects,
    new_blocks,
)

__all__ = [
    "METRIC", "METRIC_PARAMS", "Columns", "Matrix", "MixedTable", "Objects", "RelationalClusterer", "Source",
    "Subset", "Table", "check_dissimilarities", "default_quantile", "delta_star", "full_matrix", "gower_distances",
    "make_source", "nearest_objects", "new_blocks", "read_matrix", "read_new", "read_source", "read_table",
    "refuse_rows_of_metric",
]  # fmt: skip
