"""Every script of examples/ runs, and draws its figure where it was told."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_example_draws_its_figure(script, tmp_path, monkeypatch):
    figure = tmp_path / "figure.png"
    monkeypatch.setattr(sys, "argv", [str(script), str(figure)])
    runpy.run_path(str(script), run_name="__main__")
    assert figure.read_bytes().startswith(b"\x89PNG")
