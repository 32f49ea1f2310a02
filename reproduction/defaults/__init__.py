"""The yardstick: every method by its defaults, as a user meets it, beside what the user would have had otherwise.

Tables are as they are: nothing is scaled but where a name says so. The number of clusters is unknown, where a method
can be without it, and known. What was chosen on the *development* half of the tables is judged on the other half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sklearn

from reproduction.claims import Claim
from reproduction.defaults import code
from reproduction.defaults.measuring import COMMAND, KNOWN, METHODS, OWN, REFERENCE, UNKNOWN, measure
from reproduction.defaults.showing import (
    FAR_BELOW,
    answer_cells,
    answer_notes,
    ari_cells,
    late_notes,
    method_cells,
    over,
)
from reproduction.defaults.tables import DEVELOPMENT, DRAWS, FILES, JUDGING, LARGE, MOST, TEN, half_of, halves
from reproduction.exhibit import Exhibit, Unit

LIMIT = 120  # seconds of CPU, after which there is no answer
EGMM = "egmm"


# -- units ------------------------------------------------------------------------------------------------------------


def version_of(method: str) -> str:
    """What the result of a method depends on, beside the table: its code, or the version of scikit-learn."""
    if method == COMMAND:
        return code.digest_of_all()
    if METHODS[method].rival:
        return f"scikit-learn {sklearn.__version__}"
    return code.digest(OWN[method.removesuffix("-scaled")].__module__)


def units(tables: Sequence[str], ways: Sequence[tuple[str, str]], quick: bool, seed: int) -> list[Unit]:
    """Of these tables and methods; large tables and most draws are for full runs."""
    yardstick = [code.digest("reproduction.defaults.tables"), code.digest_alone("reproduction.defaults.measuring")]
    versions = {method: version_of(method) for method, _ in ways}
    return [
        Unit(
            f"{name}{f'#{draw + 1}' if name in DRAWS else ''}/{method}/{number}",
            measure,
            {
                "name": name,
                "draw": draw,
                "method": method,
                "number": number,
                "seed": seed,
                "half": half_of(name),
                "code": [*yardstick, versions[method]],
            },
            limit=LIMIT,
        )
        for name in tables
        if not (quick and name in LARGE)
        for draw in range(min(2, DRAWS.get(name, 1)) if quick else DRAWS.get(name, 1))
        for method, number in ways
    ]


# -- what is shown ----------------------------------------------------------------------------------------------------

EVERY = [(method, number) for method, way in METHODS.items() for number in way.numbers]
BESIDE = (REFERENCE, KNOWN)
HOW = (
    "Each method by its defaults (k-means: ten starts) on the table as it is; k-means, HDBSCAN and 'EGMM, z-scored' "
    "see z-scored columns. scikit-learn's mixture has one to nine components, by BIC, where the number is unknown. "
    "Methods that take no missing values, and the rivals, see the mean of the column in their place. Of files with "
    f"more than {MOST:,} objects {MOST:,} were drawn once.",
    f"An ARI of 0 stands for an error, or for no end within {LIMIT} s of CPU; the other means are over the answers "
    "that there are. Noise of HDBSCAN is a group of its own in the ARI, and never sure. The time of 'evidentia fit' "
    "includes its report.",
    "Rows and columns of a method are of the code that it had when they were computed: where a method changed, its own "
    "are computed again (`--renew`), and those of the others stay.",
)
COLUMNS = (
    "Sure: the largest mass is on one cluster. Set holds class: clusters are matched with classes so that most objects "
    "agree, and the set of largest mass holds the cluster of the object's class. Far below k-means: number of tables "
    f"on which the ARI is more than {FAR_BELOW:.2f} below that of k-means on scaled columns with the number given.",
)
SPLIT = {
    DEVELOPMENT: "Rules and constants may be chosen on these tables: what is good here may be good by choice.",
    JUDGING: "These tables had no part in the choice of rules and constants.",
}
BY_NAME = "The split looks at names and never at results; reproduction/defaults/halves.json keeps it, with its reason."


def exhibit(
    place: str,
    title: str,
    tables: Sequence[str],
    ways: Sequence[tuple[str, str]],
    cells: Sequence[Any],
    notes: Sequence[Any] = (),
    words: Sequence[str] = (),
) -> Exhibit:
    """Over some tables and methods; cells and notes are functions of answers, with what else they are given."""
    share = len(tables) * len(ways) / (70 * len(EVERY))
    return Exhibit(
        f"defaults.{place}",
        title,
        lambda quick, seed: units(tables, ways, quick, seed),
        over(tables, *cells),
        notes=over(tables, *notes) if notes else None,
        data=[name for name in tables if name in FILES],
        minutes=(60 * share, 400 * share),
        words=words,
    )


def of_half(half: str) -> list[Exhibit]:
    tables = halves()[half]
    words = (SPLIT[half], BY_NAME, *HOW, *COLUMNS)
    found = [
        exhibit(
            half,
            f"Means over the {half} half",
            tables,
            EVERY,
            [method_cells],
            words=words,
        )
    ]
    for method, title in ((COMMAND, "'evidentia fit'"), (EGMM, "EGMM")):
        ways = [(method, UNKNOWN), (method, KNOWN), BESIDE]
        title = f"{title}, table by table, {half} half"
        found.append(
            exhibit(f"{half}-{method}", title, tables, ways, [answer_cells, method], [answer_notes, method], words)
        )
    for number, said in ((UNKNOWN, "unknown"), (KNOWN, "given")):
        ways = [way for way in EVERY if way[1] == number or way == BESIDE]
        title = f"Adjusted Rand index, number of clusters {said}, {half} half"
        found.append(exhibit(f"{half}-{number}", title, tables, ways, [ari_cells, number], [late_notes, number], HOW))
    return found


CLAIMS: list[Claim] = []  # of no paper
EXHIBITS = [
    *of_half(DEVELOPMENT),
    *of_half(JUDGING),
    exhibit("ten", "Means over the ten tables of 'which method'", TEN, EVERY, [method_cells], words=(*HOW, *COLUMNS)),
]
