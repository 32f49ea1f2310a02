"""How an experiment shows its numbers: the paper's beside ours, on the screen and as CSV."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd


def beside(ours: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Each column of ours followed by the paper's, on the same index."""
    parts = []
    for name in ours.columns:
        parts.append(ours[name].rename(name))
        if name in paper:
            parts.append(paper[name].reindex(ours.index).rename(f"{name} (paper)"))
    return pd.concat(parts, axis=1)


def show(name: str, title: str, table: pd.DataFrame, *, out: Path | None = None, notes: Sequence[str] = ()) -> None:
    """Print a table with its notes, and write it to ``out/name.csv`` when a directory is given."""
    print(f"\n{title}\n{'-' * len(title)}")
    print(table.to_string(float_format=lambda value: f"{value:.3f}", na_rep=""))
    for note in notes:
        print(f"  * {note}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        table.to_csv(out / f"{name}.csv")


def arguments(description: str, parts: Sequence[str]) -> argparse.Namespace:
    """What every experiment understands: which parts, quick or full, where to write, and the seed."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help=f"which of: {', '.join(parts)} (all of them)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--out", type=Path, help="directory for CSV files and figures")
    parser.add_argument("--seed", type=int, default=0)
    found = parser.parse_args()
    found.parts = found.parts or list(parts)
    return found
