"""Write what is said of the methods in several places, from their records: ``python docs/make_tables.py``.

README's table, the tables of "which method", the API pages and the list of exported names. A test fails while one of
them is not what this script writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import fill, wrap
from typing import Any

from evidentia import methods

ROOT = Path(__file__).parents[1]
HOMES = {
    "ActiveSession": "constraints",
    "CredalPartition": "partition",
    "FocalSets": "belief",
    "MassFunctions": "belief",
    "PairwiseConstraints": "constraints",
    "profile_table": "app.advisor",
    "communities": "graphs",
    "ensemble": "selection",
    "explore": "app.explorer",
    "fuse": "partition",
    "load_model": "storage",
    "recommend": "app.advisor",
    "open_rows": "rows",
    "select": "selection",
}
MORE = {  # what a family has beside its methods
    "mixtures": """\
.. autoclass:: evidentia.mixtures.bootgmm.PairIntervals
   :members: of

Bootstrapping a mixture of your own
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

.. automodule:: evidentia.mixtures.bootstrap
   :members: bootstrap, Bootstrap, Refits

Averaging over models and numbers of clusters
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

.. automodule:: evidentia.mixtures.averaging
   :members: number_support, merge_share, split_share, shares, akaike, measure_optimism
"""
}
UNSEEN = f"; [{methods.NOT_COMPARED}](density.md#what-rests-on-what)"
HEADINGS = {
    "mixtures": "Mixtures",
    "prototypes": "Methods with centers",
    "relational": "Methods on dissimilarities",
    "neural": "Networks",
    "hierarchy": "Trees",
    "metric_learning": "Learned metrics",
    "experimental": "Experimental",
    "views": "Several views",
}


def family(cls: Any) -> str:
    return cls.__module__.split(".")[1]


def own() -> dict[str, Any]:
    """The methods of the package itself."""
    return {name: cls for name, cls in methods.all_methods().items() if cls.__module__.startswith("evidentia.")}


def shared_rows(rows: list[tuple[list[str], tuple[str, ...]]]) -> Iterator[str]:
    """Lines of a table, methods that say the same in one of them."""
    merged: dict[tuple[str, ...], list[str]] = {}
    for names, cells in rows:
        merged.setdefault(cells, []).extend(names)
    for cells, names in merged.items():
        yield f"| {', '.join(names)} | {' | '.join(cells)} |"


def readme_table() -> str:
    rows = [
        (
            [f"`{'experimental.' * (family(cls) == 'experimental')}{cls.__name__}`"],
            (cls.method.line, "; ".join(cls.method.papers)),
        )
        for cls in own().values()
    ]
    return "\n".join(["| name | what it is | paper |", "|---|---|---|", *shared_rows(rows)])


def ability_table() -> str:
    """What each clusterer reads, takes and can do."""
    found = [cls for cls in own().values() if not cls.method.learner]
    head = ["| method | `--method` | reads | takes | number of clusters | families of sets | outliers |"]
    lines = [
        f"| [{cls.__name__}]({cls.method.guide}.md) | `{name}` | {', '.join(cls.method.reads)} "
        f"| {', '.join(cls.method.takes) or '–'} | {', '.join(cls.method.number)} | {_families(cls)} "
        f"| {'yes' if cls.method.empty_set else '–'} |"
        for name, cls in own().items()
        if cls in found
    ]
    return "\n".join([*head, "|---|---|---|---|---|---|---|", *lines])


def _families(cls: Any) -> str:
    default = cls.parameters["focal_sets"].default if "focal_sets" in cls.parameters else None
    return ", ".join(f"**{name}**" if name == default else name for name in cls.method.families) or "–"


def cost_table() -> str:
    rows = [
        ([f"[{cls.__name__}]({m.guide}.md)"], (m.grows, m.memory, m.doubt, m.limit + UNSEEN * bool(m.sources)))
        for cls in own().values()
        if not (m := cls.method).learner
    ]
    head = ["| method | grows as | memory | doubt is | its limit |", "|---|---|---|---|---|"]
    return "\n".join([*head, *shared_rows(rows)])


def api_page(families: tuple[str, ...], title: str) -> str:
    """Every public name of some families: a page of its own for each method, the others below."""
    parts = [title, "=" * len(title), ""]
    for name in families:
        module = f"evidentia.{name}"
        package = __import__(module, fromlist=["__all__"])
        classes = sorted(cls.__name__ for cls in own().values() if family(cls) == name)
        parts += [HEADINGS[name], "-" * len(HEADINGS[name]), "", f".. automodule:: {module}", "   :no-members:", ""]
        parts += [f"- :class:`~{module}.{public}`: {_title(package, public)}" for public in classes] + [""]
        parts += [".. container:: generated-pages", "", "   .. autosummary::", "      :toctree: generated", ""]
        parts += [f"      {public}" for public in classes] + [""]
        for public in (other for other in package.__all__ if other not in classes):
            kind = "autoclass" if isinstance(getattr(package, public), type) else "autofunction"
            parts += [f".. {kind}:: {module}.{public}", *["   :members:"] * (kind == "autoclass"), ""]
        parts += [MORE[name]] if name in MORE else []
    return "\n".join(parts).rstrip() + "\n"


def _title(package: Any, name: str) -> str:
    """What a method is, in the words of its record; their single backquotes are double ones in these pages."""
    return re.sub("`+", "``", getattr(package, name).method.line)


def exports() -> str:
    """The names of the package by where they live."""
    homes = HOMES | {cls.__name__: family(cls) for cls in own().values() if family(cls) != "experimental"}
    by_home: dict[str, list[str]] = {}
    for name, home in homes.items():
        by_home.setdefault(home, []).append(name)
    typed = [_import(f"evidentia.{home}", names) for home, names in sorted(by_home.items())]
    listed = [
        line
        for home, names in sorted(by_home.items())
        for line in _wrapped(f'"{home}": [{_quoted(names)}],', "    ", "        ")
    ]
    names = _wrapped(f"{_quoted(list(homes))},", "    ", "    ")
    blocks = ["_NAMES = {", *listed, "}  # fmt: skip", "", "__all__ = [", *names, "]  # fmt: skip"]
    return "\n".join(["if TYPE_CHECKING:", *typed, "", *blocks])


def family_exports(name: str) -> str:
    """The ``__init__`` of a family: what it lists today, and every method that it does not list yet."""
    text = (ROOT / f"src/evidentia/{name}/__init__.py").read_text(encoding="utf-8")
    for cls in own().values():
        if family(cls) == name and not re.search(rf"\b{cls.__name__}\b", text):
            text = _entered(text, cls.__name__, cls.__module__)
    return text


def _entered(text: str, name: str, module: str) -> str:
    """The ``__init__`` with one more name: imported, in ``__all__``, and in ``_HOMES`` if it loads when asked for."""
    indent, first = re.search(r"^( *)(from evidentia\.\w+\.\w+ import)", text, re.MULTILINE).groups()
    text = text.replace(f"{indent}{first}", f"{indent}from {module} import {name}\n{indent}{first}", 1)
    text = text.replace("_HOMES = {\n", f'_HOMES = {{\n    "{name}": "{module.rpartition(".")[2]}",\n', 1)
    for line in (r"^ *from evidentia\.\w+\.\w+ import .*\n", r'^    "\w+": "\w+",\n'):  # sorted again
        block = "".join(re.findall(line, text, re.MULTILINE))
        text = text.replace(block, "".join(sorted(block.splitlines(keepends=True)))) if block else text
    listed = re.search(r"__all__ = \[(.*?)\](?:  # fmt: skip)?", text, re.DOTALL)
    names = _quoted([*re.findall(r'"(\w+)"', listed[1]), name])
    short = f"__all__ = [{names}]"
    lines = [short] if len(short) <= 120 else ["__all__ = [", *_wrapped(f"{names},", "    ", "    "), "]  # fmt: skip"]
    return text.replace(listed[0], "\n".join(lines))


def _wrapped(text: str, first: str, others: str) -> list[str]:
    return wrap(text, 120, initial_indent=first, subsequent_indent=others)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in sorted(names, key=_kind))


def _kind(name: str) -> tuple[int, str]:
    """Constants, classes, functions, as the linter sorts them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _import(module: str, names: list[str]) -> str:
    names = sorted(names, key=lambda name: (_kind(name)[0], name.lower()))  # other than in lists, case plays no part
    line = f"    from {module} import {', '.join(names)}"
    if len(line) <= 120:
        return line
    return "\n".join([f"    from {module} import (", *(f"        {name}," for name in names), "    )"])


def sources_table() -> str:
    """Methods that were not compared with their article, and what their formulas were taken from."""
    found = [cls for cls in own().values() if cls.method.sources]
    lines = [f"| {{class}}`~evidentia.{family(cls)}.{cls.__name__}` | {cls.method.sources} |" for cls in found]
    return "\n".join(["| method | its formulas were taken from |", "|---|---|", *lines])


def in_paper(method: methods.Method) -> str:
    """How to get the method of the paper."""
    return f"With `c` clusters:\n\n```python\n{method.as_in_paper}\n```\n\n{fill(method.differs, 120)}"


def resampling_table() -> str:
    """How often the fits of an ensemble agree and are right, by the share of rows that each sees."""
    record = json.loads((ROOT / "reproduction/defaults/resampling.json").read_text(encoding="utf-8"))
    shares = sorted({one["rows"] for one in record["measured"]})
    heads = [f"{100 * rows:.0f} % of the rows: {what}" for rows in shares for what in ("share of fits", "right")]
    lines = ["| groups | objects |" + "".join(f" {head} |" for head in heads), "|---|---|" + "---|" * len(heads)]
    found = {(one["groups"], one["objects"], one["rows"]): one for one in record["measured"]}
    for groups, n in dict.fromkeys((groups, n) for groups, n, _ in found):
        lines.append(_calibration_row(f"{groups} | {n:,}", [found[groups, n, rows] for rows in shares]))
    totals = [[one for one in record["measured"] if one["rows"] == rows] for rows in shares]
    sums = [{key: sum(one[key] for one in total) for key in ("pairs", "said", "right")} for total in totals]
    lines.append(_calibration_row("all | ", sums))
    words = f"Each line: {record['tables']} tables, {record['fits']} fits of `FCM(3)` to each."
    return "\n".join([*lines, "", words])


def _calibration_row(head: str, measured: list[dict[str, float]]) -> str:
    cells = [f"{one[key] / one['pairs']:.2f}" for one in measured for key in ("said", "right")]
    return f"| {head} | {' | '.join(cells)} |"


def between(mark: str, comment: str = "<!-- {} -->") -> Callable[[str, str], str]:
    """Replace what stands between two marks."""
    begin, end = comment.format(f"{mark}: written by docs/make_tables.py"), comment.format(f"end of {mark}")

    def replace(text: str, block: str) -> str:
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"There are no marks {begin!r} … {end!r}.")
        return pattern.sub(lambda _: f"{begin}\n{block}\n{end}", text)

    return replace


def pages() -> dict[Path, str]:
    """Every written file and what it should hold."""
    readme, which, init = ROOT / "README.md", ROOT / "docs/guide/which-method.md", ROOT / "src/evidentia/__init__.py"
    text = which.read_text(encoding="utf-8")
    for mark, table in (("abilities", ability_table()), ("costs", cost_table())):
        text = between(mark)(text, table)
    density, fusion = ROOT / "docs/guide/density.md", ROOT / "docs/guide/fusion.md"
    guides = {ROOT / f"docs/guide/{m.guide}.md": in_paper(m) for cls in own().values() if (m := cls.method).as_in_paper}
    clusterers = tuple(name for name in methods.FAMILIES if name != "metric_learning")
    return {
        readme: between("methods")(readme.read_text(encoding="utf-8"), readme_table()),
        which: text,
        fusion: between("resampling")(fusion.read_text(encoding="utf-8"), resampling_table()),
        density: between("sources")(density.read_text(encoding="utf-8"), sources_table()),
        **{page: between("paper")(page.read_text(encoding="utf-8"), block) for page, block in guides.items()},
        ROOT / "docs/api/estimators.rst": api_page(clusterers, "Estimators"),
        ROOT / "docs/api/metric_learning.rst": api_page(("metric_learning",), "Metric learning"),
        init: between("exports", "# {}")(init.read_text(encoding="utf-8"), exports()),
        **{ROOT / f"src/evidentia/{name}/__init__.py": family_exports(name) for name in methods.FAMILIES},
    }


def main() -> None:
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
