"""A first look at a table, and the rules that lead from it to a method.

:func:`look` says what it sees: kinds of columns, columns that only name or label the rows, scales, missing values.
:func:`choose` turns that into a method, a scale and settings, with the reason for each, as ``evidentia fit`` does.

>>> from evidentia.datasets import load
>>> choice = choose(load("wine", as_frame=True).data)
>>> choice.method, choice.scale
('egmm', 'standard')
"""

from evidentia.looking.columns import Column
from evidentia.looking.cost import Cost, expected_cost
from evidentia.looking.numbers import fit_number, numbers_to_try
from evidentia.looking.numerals import read_numerals
from evidentia.looking.placing import TableModel
from evidentia.looking.rules import Choice, choose
from evidentia.looking.table import Look, look

__all__ = [
    "Choice", "Column", "Cost", "Look", "TableModel", "choose", "expected_cost", "fit_number", "look",
    "numbers_to_try", "read_numerals",
]  # fmt: skip
