"""What the drawing functions share: a place to draw, and the legend of focal sets."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from evidentia._docstrings import F, shared_docs
from evidentia.plots.palette import set_label, set_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["NEEDED", "can_draw", "legend_labels", "pyplot", "spell_missing_letters"]

NEEDED = "Pictures need matplotlib: pip install 'evidentia[plots]'."
LEGEND_ROWS = 18  # beside a picture of the usual height
LEGEND_SETS = 2 * LEGEND_ROWS - 4
SHORT_LABEL = 16  # letters of the longest set's name, above which sets go by numbers
LONGEST = 24  # letters of a cluster's name beside its number


def drawing(artist: str, *, numbers: str = "") -> Callable[[F], F]:
    """Say in a docstring what all drawing functions share: ``ax``, which artist gets the other keywords, the result.

    ``numbers`` names the function that gives what is drawn.
    """
    ax = """matplotlib.axes.Axes, optional
        Without it a new figure is made. In a figure of your own, ``layout="constrained"`` leaves room for a legend."""

    def complete(function: F) -> F:
        keywords = [name for name, one in inspect.signature(function).parameters.items() if one.kind == one.VAR_KEYWORD]
        parameters = {"ax": ax} | {f"**{name}": f"keywords\nPassed to {artist}." for name in keywords}
        also = {"See Also": f"{numbers} : the same in numbers."} if numbers else {}
        return shared_docs(parameters, Returns="matplotlib.axes.Axes", **also)(function)

    return complete


def spell_missing_letters(figure: Figure) -> None:
    """Spell out, in all words of a figure, the letters that its fonts lack, and what is no formula between two ``$``.

    A user's names may have either; the names stand in the tables as they are.
    """
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.mathtext import MathTextParser
    from matplotlib.text import Text

    def spell(text: Text) -> str:
        font = get_font(findfont(text.get_fontproperties()))
        words = "".join(
            c if c == "\n" or font.get_char_index(ord(c)) else c.encode("unicode_escape").decode()
            for c in text.get_text()
        )
        if words.count("$") > 1:  # elsewhere there is no formula, and the parser takes long to get ready
            try:
                MathTextParser("agg").parse(words)
            except ValueError:
                return words.replace("$", r"\$")
        return words

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            ticks = axis.get_majorticklabels()
            if any(spell(tick) != tick.get_text() for tick in ticks):
                axis.set_ticks(axis.get_majorticklocs(), labels=list(map(spell, ticks)))
    for text in figure.findobj(Text):
        text.set_text(spell(text))


def new_axes(ax: Axes | None, **size: Any) -> Axes:
    """The axes given, or those of a new figure that makes room for a legend outside."""
    return pyplot().subplots(layout="constrained", **size)[1] if ax is None else ax


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def pyplot() -> Any:
    """``matplotlib.pyplot``, which not everybody has."""
    if not can_draw():
        raise ImportError(NEEDED)
    import matplotlib.pyplot as plt

    return plt


def whole_steps(ax: Axes) -> None:
    """A plain frame, and ticks at whole numbers only along x."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)


def legend_columns(n_sets: int) -> int:
    return 1 if n_sets <= LEGEND_ROWS else 2


def count(number: float) -> str:
    return f"{number:,.0f}"


def percent(share: float) -> str:
    """A share in words short enough for a legend.

    Examples
    --------
    >>> percent(0.254), percent(0.0004)
    ('25 %', '<1 %')
    """
    return "<1 %" if share < 0.005 else f"{100 * share:.0f} %"


def legend_beside(ax: Axes, handles: Sequence[Any], words: Sequence[str], **look: Any) -> None:
    """A small legend to the right of the axes."""
    shared = {"fontsize": "small", "title_fontsize": "small", "alignment": "left", "frameon": False}
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    for text in ax.legend(handles, words, **{**place, **shared, **look}).get_texts():
        text.set_parse_math(False)  # a dollar in a name is a dollar


def name_axes(ax: Axes, names: Sequence[str]) -> None:
    """Write the names of two columns at the axes, to the letter."""
    ax.set_xlabel(names[0], parse_math=False)
    ax.set_ylabel(names[1], parse_math=False)


def legend_entries(weights: Mapping[int, float], limit: int = LEGEND_SETS) -> tuple[list[int], list[int]]:
    """Masks to list and masks to sum up in one line; both in the order given.

    The empty set and single clusters are listed before the sets of several, the heavy before the light: a reader who
    knows the clusters can tell a mixed color.

    Examples
    --------
    >>> legend_entries({1: 40, 2: 1, 4: 30, 3: 2, 5: 9}, limit=5)
    ([1, 2, 4, 3, 5], [])
    >>> legend_entries({1: 40, 2: 1, 4: 30, 3: 2, 5: 9, 6: 8}, limit=5)
    ([1, 2, 4, 5], [3, 6])
    """
    masks = list(weights)
    if len(masks) <= limit:
        return masks, []
    listed = set(sorted(masks, key=lambda mask: (mask != 0, mask.bit_count() > 1, -weights[mask]))[: limit - 1])
    return [mask for mask in masks if mask in listed], [mask for mask in masks if mask not in listed]


def legend_labels(masks: Sequence[int], n_clusters: int, cluster_names: Sequence[str] | None) -> list[str]:
    """Words for sets in a legend: where names would be cut short or crowd the picture, sets go by numbers.

    Examples
    --------
    >>> legend_labels([1, 3], 3, ["low", "high", "none"])
    ['{low}', '{low,high}']
    >>> legend_labels([1, 3], 3, ["the northern quarter", "the old town", "the harbor"])
    ['0 the northern quarter', '{0,1}']
    """
    named = [set_label(mask, n_clusters, cluster_names) for mask in masks]
    if cluster_names is None or max(map(len, named), default=0) <= SHORT_LABEL:
        return named
    numbered = [set_label(mask, n_clusters) for mask in masks]
    for at, mask in enumerate(masks):
        if mask.bit_count() == 1:
            k = mask.bit_length() - 1
            name = cluster_names[k]
            numbered[at] = f"{k} {name if len(name) <= LONGEST else name[: LONGEST - 1] + '…'}"
    return numbered


def set_legend(
    ax: Axes,
    weights: Mapping[int, float],
    n_clusters: int,
    cluster_names: Sequence[str] | None,
    *,
    title: str,
    number: Callable[[float], str],
    patches: bool = False,
    lines: Mapping[str, Any] | None = None,
    shades: Mapping[str, str] | None = None,
) -> None:
    """A legend of focal sets with a number each, beside the axes where it hides nothing.

    A long one has two columns, single clusters in the first. ``lines`` explains line styles, ``{words: style}``,
    ``shades`` colors, ``{words: color}``.
    """
    from matplotlib.lines import Line2D

    def handle(mask: int) -> Line2D:
        style = set_style(mask, n_clusters)
        marker = "s" if patches else style.marker
        edge = style.color if patches else style.edge
        return Line2D([], [], ls="", marker=marker, ms=7 if patches else 6, mfc=style.color, mec=edge)

    listed, rest = legend_entries(weights)
    labels = legend_labels(listed, n_clusters, cluster_names)
    entries = [(handle(m), f"{label}  {number(weights[m])}") for m, label in zip(listed, labels)]
    blank = (Line2D([], [], ls=""), "")
    more = [(blank[0], f"{len(rest)} more  {number(sum(weights[m] for m in rest))}")] if rest else []
    more += [(Line2D([], [], color="#5f5f5f", lw=1.3, ls=dashes), meaning) for meaning, dashes in (lines or {}).items()]
    more += [
        (Line2D([], [], color=color, ls="", marker="s", ms=7), meaning) for meaning, color in (shades or {}).items()
    ]
    columns = legend_columns(len(entries) + len(more))
    single = [entry for mask, entry in zip(listed, entries) if mask.bit_count() <= 1]
    other = [entry for mask, entry in zip(listed, entries) if mask.bit_count() > 1] + more
    if columns == 2 and max(len(single), len(other)) <= LEGEND_ROWS:
        rows = max(len(single), len(other))
        entries = [*single, *[blank] * (rows - len(single)), *other, *[blank] * (rows - len(other))]
    else:
        entries += more
    handles, words = [entry[0] for entry in entries], [entry[1] for entry in entries]
    legend_beside(ax, handles, words, title=title, ncols=columns, handletextpad=0.4, columnspacing=1.0)
