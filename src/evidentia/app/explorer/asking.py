"""Questions, one at a time, and three answers; those about a table show the two objects side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import panel as pn

from evidentia.app.explorer.page import Page
from evidentia.app.explorer.parts import Html, button, table_html, text, to_html
from evidentia.app.explorer.tabs import CELLS, Tab
from evidentia.constraints.active import RULES

ANSWERS = {"same": "Yes, together", "different": "No, apart", "don't know": "Don't know"}


class Asking:
    """The buttons of questions.

    Parameters
    ----------
    page : Page
    ask : callable
        Gives a question, or None when none is left.
    answer : callable
        Takes one of the words of ``ANSWERS`` and the question.
    show : callable
        Shows a question, or that there is none, and gives words for it.
    """

    def __init__(
        self, page: Page, ask: Callable[[], Any], answer: Callable[[str, Any], Any], show: Callable[[Any], str]
    ):
        self.page, self.ask, self.answer, self.show = page, ask, answer, show
        self.question: Any = None
        self.words = text("", sizing_mode="stretch_width", styles={"font-size": "15px"})
        self.next = button("Ask", self.ask_next, width=100, color="primary")
        self.answers = [button(name, partial(self._on_answer, word)) for word, name in ANSWERS.items()]

    def ask_next(self) -> None:
        self.page.act_later(self.ask, "Looking for a question", self._on_question)

    def _on_answer(self, word: str) -> None:
        question = self.question
        if question is None:
            self.page.show_message("There is no question to answer: ask for one.", wrong=True)
            return

        def work() -> Any:
            self.answer(word, question)
            return self.ask()

        self.page.act_later(work, "Taking the answer – fitting", self._on_question)

    def _on_question(self, question: Any) -> None:
        self.question = question
        self.words.object = to_html(self.show(question))


class Questions(Tab):
    """Questions about pairs of objects; the answers are those of ``evidentia ask``."""

    def __init__(self, page: Any):
        super().__init__(page)
        exploration = page.exploration
        self.rule = pn.widgets.Select(label="how the pair is chosen", options=list(RULES), width=200)
        self.table = Html("", sizing_mode="stretch_width", margin=(0, 10), stylesheets=[CELLS])
        self.asking = Asking(
            page,
            lambda: exploration.ask(self.rule.value),
            lambda word, question: exploration.answer(word, (question.first, question.second)),
            self._show,
        )

    def on_open(self) -> None:
        if self.asking.question is None:
            self.asking.ask_next()
        else:
            self.page.count()

    def _show(self, question: Any) -> str:
        if question is None:
            self.table.object = ""
            return "No question is left: every pair is answered, or follows from what was answered."
        exploration, pair = self.page.exploration, [question.first, question.second]
        first, second = names = [exploration.names[row] for row in pair]
        rows = exploration.table.iloc[pair]
        spread = exploration.table.std(numeric_only=True).replace(0, np.nan)
        apart = (rows[spread.index].astype(float).diff().iloc[1] / spread).reindex(rows.columns)
        gaps = ["" if np.isnan(gap) else f"{gap:+.1f} sd" for gap in apart.to_numpy(dtype=float)]
        cells = [list(map(str, rows.columns)), *([str(cell) for cell in row] for row in rows.to_numpy()), gaps]
        side_by_side = pd.DataFrame(dict(enumerate(cells)))
        side_by_side.columns = ["column", *names, "difference"]
        self.table.object = table_html(side_by_side)
        self.page.select(np.array(pair))
        return f"Do {first} and {second} belong together? So far, with probability {question.probability:.2f}."

    def view(self) -> pn.Column:
        asking = self.asking
        return pn.Column(
            pn.Row(self.rule, asking.next), asking.words, pn.Row(*asking.answers), self.table,
            sizing_mode="stretch_width",
        )  # fmt: skip
