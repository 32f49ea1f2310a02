"""The conversation of ``evidentia ask``: two objects side by side, a key, and every answer on disk before the next."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evidentia.app.advisor.rules import rescale
from evidentia.app.advisor.table_model import TableModel, scales_of
from evidentia.app.cli import terminal
from evidentia.app.cli.errors import UserError
from evidentia.app.cli.fitting import record_events
from evidentia.app.cli.inputs import Input
from evidentia.app.cli.terminal import print_summary
from evidentia.constraints import ActiveSession
from evidentia.files import check_writable
from evidentia.prototypes import CECM
from evidentia.safe_text import printable

KEYS = {"s": "same", "d": "different", "?": "unknown", "u": "undo", "q": "quit"}
WORDS = KEYS | {word: word for word in KEYS.values()} | {"don't know": "unknown", "leave": "quit"}
HINT = "s same, d different, ? don't know, u undo, q leave"
SPOKEN = {"same": "same", "different": "different", "unknown": "don't know"}
MOST_ROWS, MOST_WIDTH = 20, 30
TOL = 1e-7  # somebody waits: later digits change no question


class AskJob(NamedTuple):
    """What is asked about, and how the clusters are found between the questions."""

    file: Path
    given: Input
    answers: Path
    n_clusters: int
    rule: str
    adaptive: bool
    n_init: int
    seed: int
    out: Path | None
    command: str


def run(job: AskJob) -> bool:
    """Ask, answer after answer, and sum up; False when a fit was interrupted."""
    data, scale = job.given.data, job.given.scale
    scaled, scaler = rescale(data, scale)
    bars = int(sys.stderr.isatty())
    estimator = CECM(
        job.n_clusters, adaptive=job.adaptive, n_init=job.n_init, tol=TOL, random_state=job.seed, verbose=bars
    )
    session = ActiveSession(estimator, scaled, rule=job.rule, random_state=job.seed)
    notes = [*job.given.notes, *read_earlier_answers(session, job.answers)]
    job.given.print_heading()
    shape = "each with its own shape" if job.adaptive else "round"
    terminal.print_labeled(
        "method", f"CECM, {job.n_clusters} clusters, {shape}, columns on {scale} scale, seed {job.seed}"
    )
    terminal.print_labeled("answers", f"{job.answers}  ({count_answers(session)})")
    for text in notes:
        terminal.print_note(text)
    hidden = [name for name, why in (job.given.left_out or {}).items() if why == "--drop"]
    conversation = Conversation(session, columns_to_show(job.given.source.frame, data, hidden), job.answers)
    finished = conversation.run()
    terminal.echo()
    if finished:
        print_summary(session.partition.summary())
    terminal.print_labeled("answers", f"{job.answers}  ({count_answers(session)}; the same command goes on from there)")
    if finished and job.out is not None:
        from evidentia.app.report import write_results

        written = write_results(
            job.out,
            partition=session.partition,
            model=TableModel(session.model, tuple(data.columns), scales=scales_of(scaler)),
            X=data,
            object_column=job.given.id_column,
            notes=[*notes, *conversation.notes],
            settings={"file": job.file, "rows": len(data), "scale": scale, "answers": count_answers(session)},
            command=job.command,
            title=job.file.name,
        )
        terminal.print_labeled("written", f"{written[0]}  (open it in a browser)")
    return finished


def read_earlier_answers(session: ActiveSession, path: Path) -> list[str]:
    """Read the answers given so far and see that more can be written; gives what is worth saying about the file."""
    if path.is_dir():
        raise UserError(f"--answers {path} is a directory. Name a file.")
    with record_events() as noticed:
        if path.exists():
            try:
                session.resume(path)
            except ValueError as error:
                raise UserError(f"--answers: {error}") from error
    if path.exists():
        session.save(path)  # whole again, should it have been cut off
    else:
        check_writable(path.parent)
    return noticed.notes


class Conversation:
    """Questions and answers at the terminal.

    ``shown`` holds what a person may want to see of each object; answers are written to ``path`` as they are given.
    """

    def __init__(self, session: ActiveSession, shown: pd.DataFrame, path: Path):
        self.session, self.shown, self.path = session, shown, path
        self.notes: list[str] = []
        self._told = False

    def run(self) -> bool:
        """Ask until the person leaves or no question is left; False when a fit was interrupted."""
        while True:
            question, finished = self._wait_for(self.session.ask)
            if not finished:
                return False
            if question is None:
                terminal.echo("\nNo question is left: every pair is answered, or follows from what was answered.")
                return True
            self._say_when_it_is_enough()
            terminal.echo()
            terminal.print_heading(f"Question {len(self.session.answers) + 1}: do these two belong together?")
            terminal.echo("\n".join(side_by_side(self.shown, question.first, question.second)))
            wish = _read_wish()
            if wish == "quit":
                return True
            if not self._act(wish):
                return False

    def _act(self, wish: str) -> bool:
        """Take an answer or give one back, and say what it did; False when the fit was interrupted."""
        session = self.session
        if wish == "undo":
            if not session.answers:
                terminal.echo("  There is no answer to take back.")
                return True
            ((first, second, word),) = session.undo()
            session.save(self.path)
            terminal.echo(
                f"  Took back the answer {SPOKEN[word]!r} for {printable(session.names[first])} and "
                f"{printable(session.names[second])}."
            )
            return True
        session.answer(wish)
        session.save(self.path)
        partition, finished = self._wait_for(lambda: session.partition)
        if finished and wish != "unknown":
            moved = int(session.history.moved.iloc[-1])
            terminal.echo(
                f"  Saved. {moved or 'No'} object{'s' * (moved != 1)} changed cluster; "
                f"{partition.kind_counts['ambiguous']} of {len(partition)} are ambiguous between clusters."
            )
        elif finished:
            terminal.echo("  Saved.")
        return finished

    def _say_when_it_is_enough(self) -> None:
        enough = not self.session.worthwhile
        if enough and not self._told:
            terminal.echo(
                f"\nThe last {self.session.patience} answers taught nothing new: more of them will hardly pay. "
                "q leaves, or go on if you like."
            )
        self._told = enough

    def _wait_for(self, work: Callable[[], Any]) -> tuple[Any, bool]:
        """What some work gives that may take a while, and whether it was left to finish."""
        try:
            with record_events() as noticed:
                found = work()
        except KeyboardInterrupt:
            return None, False
        for text in noticed.notes:
            if text not in self.notes:
                self.notes.append(text)
                terminal.print_note(text)
        return found, not noticed.interrupted


def _read_wish() -> str:
    """One of the values of KEYS; an end of input, or an interrupt, is a wish to leave."""
    while True:
        try:
            typed = input(f"  {HINT} > ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            terminal.echo()
            return "quit"
        if typed in WORDS:
            return WORDS[typed]
        terminal.echo(f"  {typed!r} is none of these." if typed else "  Type one of these keys, then Enter.")


def side_by_side(shown: pd.DataFrame, first: int, second: int) -> list[str]:
    """Two rows of a table as columns, with the difference of numbers in standard deviations."""
    pair = shown.iloc[[first, second]]
    spread = shown.std(numeric_only=True).replace(0, np.nan)
    apart = pair[spread.index].astype(float).diff().iloc[1] / spread
    columns = list(shown.columns)
    if len(columns) > MOST_ROWS:
        ranked = apart.abs().reindex(columns).fillna(-1).sort_values(ascending=False, kind="stable")
        kept = set(ranked.index[:MOST_ROWS])
        columns = [name for name in columns if name in kept]
    rows = [["object", *(str(name) for name in pair.index), "difference"]]
    for name in columns:
        gap = apart.get(name, np.nan)
        rows.append([str(name), *map(_cell, pair[name]), "" if np.isnan(gap) else f"{gap:+.1f} sd"])
    rows = [[_cut(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        "  " + "  ".join([f"{row[0]:<{widths[0]}}", *(f"{cell:>{w}}" for cell, w in zip(row[1:], widths[1:]))])
        for row in rows
    ]
    lines[0] = terminal.style(lines[0], fg="cyan")
    if len(columns) < shown.shape[1]:
        lines.append(f"  (the {MOST_ROWS} of {shown.shape[1]} columns that differ most)")
    return lines


def _cell(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.6g}"
    return "" if pd.isna(value) else str(value)


def _cut(text: str) -> str:
    text = printable(" ".join(text.split()))
    return text if len(text) <= MOST_WIDTH else text[: MOST_WIDTH - 3] + "..."


def count_answers(session: ActiveSession) -> str:
    """``7 answers: 3 same, 4 different``."""
    counts = Counter(given.answer for given in session.answers)
    told = ", ".join(f"{counts[word]} {spoken}" for word, spoken in SPOKEN.items() if counts[word])
    number = len(session.answers)
    return f"{number} answer{'s' * (number != 1)}" + (f": {told}" if told else "")


def columns_to_show(frame: pd.DataFrame, data: pd.DataFrame, hidden: Collection[str]) -> pd.DataFrame:
    """The rows of ``data`` with the other columns of their file beside them, but for the hidden ones."""
    rows = frame.set_axis(frame.index if data.index.name is None else frame[data.index.name].astype(str), axis=0)
    others = [name for name in frame.columns if name not in data and name != data.index.name and name not in hidden]
    return pd.concat([data, rows.loc[data.index, others].set_axis(data.index)], axis=1)
