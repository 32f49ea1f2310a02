"""Formulas are turned into MathML while the pages are built: no script, no address outside, text that can be copied.

Browsers draw MathML well only with a font made for it, so one is put beside the pages: STIX Two Math (SIL Open Font
License), which the package ziamath carries.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from docutils import nodes
from fontTools.ttLib import TTFont
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.writers.html5 import HTML5Translator

FONT = "STIXTwoMath-Regular"
CONVERTER = LatexToMathML()


def to_mathml(latex: str, *, block: bool) -> str:
    """MathML of a formula; several lines, or columns marked by &, are set as one aligned block."""
    if block and (r"\\" in latex or "&" in latex) and r"\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    try:
        return CONVERTER.convert_with_local_state(latex, displaystyle=block)
    except LatexError as error:
        raise SphinxError(f"This formula cannot be turned into MathML, {error}:\n{latex}") from error


def visit_inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(to_mathml(node.astext(), block=False))
    raise nodes.SkipNode


def visit_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{to_mathml(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def write_font(app: Sphinx, error: Exception | None) -> None:
    """The font beside the pages, packed: half of its size."""
    target = Path(app.outdir) / "_static" / f"{FONT}.woff"
    if error or app.builder.format != "html" or target.exists():
        return
    with as_file(files("ziamath") / "fonts" / f"{FONT}.ttf") as path, TTFont(path) as font:
        font.flavor = "woff"
        font.save(target)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("build-finished", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
