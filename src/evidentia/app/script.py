"""Python code that repeats what was done: lines, and the imports that they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import evidentia
from evidentia.app.advisor.n_clusters import Clusters, numbers_to_try
from evidentia.app.advisor.rules import SCALERS
from evidentia.safe_text import printable

WIDTH = 100
# Functions of evidentia that read data, and where they are.
READERS = {
    "as_table": "rows.tables",
    "read_fcs": "rows.fcs",
    "read_image": "app.images",
    "read_numerals": "app.advisor",
}
OTHERS = {"anndata.": "import anndata", "np.": "import numpy as np", "pd.": "import pandas as pd"}


class Script:
    """Lines of Python, which imports are put before.

    Examples
    --------
    >>> from evidentia import EGMM
    >>> script = Script()
    >>> script.read("X", "pd.read_csv('a.csv')")
    >>> script.prepare("X", columns=["u", "v"], left_out=[], scale="standard")
    >>> script.fit(EGMM(n_clusters=3, random_state=0), 3)
    >>> print(script)
    import pandas as pd
    from sklearn.preprocessing import StandardScaler
    <BLANKLINE>
    from evidentia import EGMM
    <BLANKLINE>
    X = pd.read_csv('a.csv').astype(float)
    X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    model = EGMM(n_clusters=3, random_state=0).fit(X)
    """

    def __init__(self, head: str = ""):
        self.head = head
        self.lines: list[str] = []
        self._others: set[str] = set()
        self._ours: dict[str, set[str]] = {}

    def add(self, *lines: str) -> None:
        """Add lines as they are."""
        self.lines += lines

    def use(self, *names: str, of: str = "") -> None:
        """Import public names of evidentia, or of a module of it."""
        self._ours.setdefault(f"evidentia.{of}".rstrip("."), set()).update(names)

    def use_other(self, line: str) -> None:
        """Import from another package by a line of code."""
        self._others.add(line)

    def expression(self, code: str) -> str:
        """Return an expression that reads data, after the imports it needs are noted."""
        self._others |= {line for sign, line in OTHERS.items() if sign in code}
        for name, module in READERS.items():
            if f"{name}(" in code:
                self.use(name, of=module)
        return code

    def read(self, name: str, code: str, *, id_column: str | None = None) -> None:
        """Read a table by an expression; its rows are named by a column."""
        self.add(f"{name} = {self.expression(code)}")
        if id_column is not None:
            self.add(f"{name} = {name}.set_index({id_column!r})")

    def prepare(
        self,
        table: str,
        *,
        columns: Sequence[str],
        left_out: Sequence[str],
        scale: str,
        categories: Sequence[str] = (),
        dropped: str | None = None,
    ) -> None:
        """Make X of the chosen columns of a table that was read; ``dropped`` is the ``how`` of dropna, if rows go."""
        if left_out:
            keep, lose = f"X = {table}[{list(columns)!r}]", f"X = {table}.drop(columns={list(left_out)!r})"
            self.add(keep if len(keep) <= max(len(lose), WIDTH) else lose)
        elif table != "X":
            self.add(f"X = {table}")
        if not categories:
            self.lines[-1] += ".astype(float)"
        elif len(categories) == len(columns):
            self.lines[-1] += '.astype("category")'
        else:
            kinds = ", ".join(f'{name!r}: "category"' for name in categories)
            self.add(f"X = X.astype({{{kinds}}})")
        if dropped is not None:
            self.add(f"X = X.dropna(how={dropped!r})")
        if scale != "none":
            self.use_other(f"from sklearn.preprocessing import {SCALERS[scale]}")
            self.add(f'X = {SCALERS[scale]}().set_output(transform="pandas").fit_transform(X)')

    def construct(self, estimator: Any, **code: str) -> str:
        """Return code for an unfitted estimator: what is not at its default, and parameters given as code."""
        name = type(estimator).__name__
        self.use(name, of="" if name in evidentia.__all__ else type(estimator).__module__.split(".")[1])
        given = {name: repr(value) for name, value in changed_parameters(estimator).items()} | code
        return f"{name}({', '.join(f'{name}={value}' for name, value in given.items())})"

    def fit(
        self, estimator: Any, clusters: Clusters = None, *, X: str = "X", linked: bool = False, **code: str
    ) -> None:
        """Fit an estimator to X, with ``links`` or with each number of clusters that needs a fit of its own."""
        made, counts = self.construct(estimator, **code), numbers_to_try(estimator, clusters)
        if linked:
            self.add(f"model = {made}.fit({X}, constraints=links)")
        elif counts:
            self.use("select")
            seed = estimator.get_params().get("random_state")
            self.add(f"model = select({X}, {made}, n_clusters={counts!r}, random_state={seed}).estimator_")
        else:
            self.add(f"model = {made}.fit({X})")

    def __str__(self) -> str:
        """Return the code; names in comments, as ``repr`` does in code, cannot end a line or reverse its order."""
        others = sorted(self._others, key=lambda line: (line.startswith("from"), line))
        ours = [
            f"from {module} import {', '.join(sorted(names, key=_kind))}"
            for module, names in sorted(self._ours.items())
        ]
        blocks = [[self.head], others, ours, self.lines]
        return "\n\n".join("\n".join(map(printable, block)) for block in blocks if any(block))


def _kind(name: str) -> tuple[bool, str]:
    """Classes before functions."""
    return not name[0].isupper(), name


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters that are not at their defaults, the number of clusters first."""
    known = sorted(estimator.parameters.items(), key=lambda item: item[1].kw_only)
    given = {name: getattr(estimator, name) for name, _ in known}
    return {name: given[name] for name, one in known if not np.array_equal(given[name], one.default)}
