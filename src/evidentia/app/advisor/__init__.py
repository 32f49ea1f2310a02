"""What is in a table, and the rules that lead from there to a method.

:func:`profile_table` describes a table: kinds of columns, columns that only name or label the rows, scales, gaps.
:func:`recommend` returns a method, a scale and settings for it, with the reason for each, as ``evidentia fit`` does.

>>> from evidentia.datasets import load
>>> choice = recommend(load("wine", as_frame=True).data)
>>> choice.method, choice.scale
('egmm', 'standard')
"""

from evidentia.app.advisor.columns import Column
from evidentia.app.advisor.n_clusters import fit_number, numbers_to_try
from evidentia.app.advisor.numerals import read_numerals
from evidentia.app.advisor.rules import Recommendation, recommend
from evidentia.app.advisor.table import TableProfile, profile_table
from evidentia.app.advisor.table_model import TableModel

__all__ = [
    "Column", "Recommendation", "TableModel", "TableProfile", "fit_number", "numbers_to_try",
    "profile_table", "read_numerals", "recommend",
]  # fmt: skip
