"""What the paper lists or draws without computing it. Tables 2 and 5, and Figure 22."""

from __future__ import annotations

from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit
from reproduction.nnevclus.attributes import NEEDS, NOT_GIVEN, attributes

TABLE_2 = {
    "Wine": (178, 13, 3),
    "Iris": (150, 4, 3),
    "Ecoli": (307, 5, 3),
    "Heart": (270, 13, 2),
    "Seeds": (210, 7, 3),
    "Letters4p1": (4634, 16, 6),
    "Glass": (214, 10, 6),
    "Segment": (2310, 16, 7),
    "S2": (5000, 2, 15),
    "S4": (5000, 2, 15),
    "D31": (3100, 2, 31),
    "Mice": (507, 22, 3),
    "DryBean": (1400, 16, 7),
    "Leaves5p1": (320, 64, 20),
}
COUNTS = ("objects", "attributes", "clusters")


def count(data: str, seed: int) -> Result:
    X, y = attributes(data, seed)
    return dict(zip(COUNTS, (*X.shape, len(set(y.tolist())))))


def units(quick: bool, seed: int) -> list[Unit]:
    return [Unit(f"{data}/counts", count, {"data": data, "seed": seed}) for data in TABLE_2]


def cells(results: Results) -> list[Cell]:
    return [
        Cell(
            data,
            column,
            results.get(f"{data}/counts", {}).get(column),
            paper=paper,
            better="equal",
            tolerance=0,
            incomparable=NOT_GIVEN.get(data, "a count of the data, not a result"),
        )
        for data, row in TABLE_2.items()
        for column, paper in zip(COUNTS, row)
    ]


EXHIBITS = [
    Exhibit(
        "nnevclus.table2", "Objects, attributes and clusters of the data", units, cells, data=NEEDS, minutes=(0.1, 0.1)
    ),
    Exhibit(
        "nnevclus.table5",
        "Settings of five methods on dissimilarities",
        absent="A list of settings; those of Protein are used in Table 6.",
    ),
    Exhibit(
        "nnevclus.figure22",
        "When a partition is better than another one",
        absent="A drawing: more consistent with the classes, and less nonspecific, is better.",
    ),
]
