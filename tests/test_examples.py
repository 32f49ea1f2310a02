"""What every script of the gallery has to have; ``make docs`` runs them all and shows what they drew."""

import ast
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.py"))


def test_the_gallery_has_at_least_25_examples_in_sections_with_a_heading():
    assert len(SCRIPTS) >= 25
    assert all((script.parent / "GALLERY_HEADER.rst").exists() for script in SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_question_and_a_picture_and_opens_no_file_or_network(script):
    tree = ast.parse(script.read_text(encoding="utf-8"))
    title, line, *rest = ast.get_docstring(tree).splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert any(rest)
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert "plt.show" in calls
    assert not calls & {"plt.savefig", "matplotlib.use", "urlopen"}
    assert not {name for name in calls if name.startswith("fetch_")}
