"""Everything the pages show is true: their Python examples and their commands are run and compared."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evidentia.cli import app
from evidentia.datasets import load

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(path for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts)]
FENCE = re.compile(r"^ *```(\S*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page, *kinds):
    """Fenced blocks of some kinds, each with the number of its first line."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, at.start(2)), at[2]) for at in FENCE.finditer(text) if at[1] in kinds]


def pages_with(*kinds):
    found = [page for page in PAGES if blocks(page, *kinds)]
    return pytest.mark.parametrize("page", found, ids=lambda page: page.relative_to(ROOT).as_posix())


@pages_with("pycon", "{doctest}")
def test_python_examples_give_what_the_page_shows(page, tmp_path, monkeypatch):
    if 'load("housevotes84")' in page.read_text(encoding="utf-8"):
        try:
            load("housevotes84")
        except FileNotFoundError as error:
            pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    parser = doctest.DocTestParser()
    examples = []
    for line, block in blocks(page, "pycon", "{doctest}"):
        for example in parser.get_examples(block):
            example.lineno += line
            examples.append(example)
    said: list[str] = []
    test = doctest.DocTest(examples, {}, page.name, str(page), 0, None)
    failed, tried = doctest.DocTestRunner(optionflags=LOOSELY, verbose=False).run(test, out=said.append)
    assert tried > 0
    assert not failed, "".join(said)


@pages_with("console")
def test_commands_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checker = doctest.OutputChecker()
    for _, block in blocks(page, "console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, want = step.partition("\n")
            program, *arguments = shlex.split(command)
            assert program == "evidentia", command
            got = CliRunner().invoke(app, arguments).output
            assert checker.check_output(want, got, LOOSELY), f"$ {command}\n{got}"
