"""Everything the pages show is true: their Python examples and their commands are run and compared."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evidentia.app.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(path for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts)]
FENCE = re.compile(r"^ *```(\S*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """Fenced blocks that can be run, each with its kind and the number of its first line."""
    text = page.read_text(encoding="utf-8")
    return [(at[1], text.count("\n", 0, at.start(2)), at[2]) for at in FENCE.finditer(text) if at[1] in RUN]


def run_python(page, line, block, names):
    examples = doctest.DocTestParser().get_examples(block)
    assert examples, f"{page.name}, line {line}: no example in this block"
    for example in examples:
        example.lineno += line
    said: list[str] = []
    test = doctest.DocTest(examples, {}, page.name, str(page), 0, None)
    test.globs = names  # the same for all blocks of the page
    runner = doctest.DocTestRunner(optionflags=LOOSELY, verbose=False)
    failed, _ = runner.run(test, out=said.append, clear_globs=False)
    assert not failed, "".join(said)


def run_commands(page, line, block, names):
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, want = step.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "evidentia", command
        got = CliRunner().invoke(app, arguments).output
        assert doctest.OutputChecker().check_output(want, got, LOOSELY), f"$ {command}\n{got}"


RUN = {"pycon": run_python, "{doctest}": run_python, "console": run_commands}


@pytest.mark.filterwarnings("ignore::evidentia.rows.strange.StrangeRows")  # some pages place rows far out on purpose
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_examples_and_commands_give_what_the_page_shows(page, tmp_path, monkeypatch):
    """In the order of the page and in one directory, so that a command may read what an example wrote."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    try:
        for kind, line, block in blocks(page):
            RUN[kind](page, line, block, names)
    finally:
        names.clear()  # now, and not whenever the collector comes: some of them are open files
