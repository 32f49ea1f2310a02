"""The project around the code: figures, floors, what is promised about security, what a release says."""

import ast
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

import evidentia

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "evidentia").rglob("*.py"))
KINDS = {"Feature", "Fix", "Faster", "API"}


@pytest.fixture(scope="module")
def figures():
    spec = importlib.util.spec_from_file_location("figures", ROOT / "ci" / "figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_figures_count_lines_and_find_long_functions_and_repeats(figures):
    body = [f"    row_{k} = {k}" for k in range(8)]
    texts = {
        Path("belief/one.py"): "\n".join(["class Table:", "    pass", "def f():", *body]),
        Path("belief/two.py"): "\n".join(["class Table:", "    pass", "", "def longer():", *body, "    return row_0"]),
        Path("three.py"): "import os\n",
    }
    assert figures.sizes(texts) == {"belief": (2, 24), ".": (1, 1)}
    assert figures.longest_functions(texts, 1) == [(10, "belief/two.py: longer")]
    assert figures.repeated_class_names(texts) == {"Table": ["belief/one.py", "belief/two.py"]}
    assert figures.repeated_lines(texts) == [("belief/one.py:4", "belief/two.py:5")]


def test_a_walk_counts_files_classes_functions_and_frames_of_the_library(figures):
    focal_sets = evidentia.FocalSets(2, [1, 2])
    trace = figures.walk(focal_sets.names)
    assert {Path(name).name for name in trace.files} == {"focal.py"}
    assert {name for _, name in trace.classes} == {"FocalSets"}
    assert {"FocalSets.names", "format_mask"} <= {name for _, name in trace.functions}
    assert trace.deepest >= 2
    assert trace.depth == 0


def test_the_oldest_versions_in_ci_are_those_that_the_package_allows(project):
    extras = project["project"]["optional-dependencies"]
    required = [
        *project["project"]["dependencies"],
        *extras["fast"],
        *extras["plots"],
        *extras["parquet"],
        *extras["zarr"],
        *extras["dask"],
        *extras["anndata"],
        *extras["series"],
        *extras["test"],
    ]
    floors = dict(
        re.fullmatch(r"([\w-]+)>=([\d.]+)", one).groups() for one in required if not one.startswith("evidentia[")
    )
    text = (ROOT / "ci" / "oldest.txt").read_text(encoding="utf-8").split("# Of the same time", 1)[0]
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)$", text, re.MULTILINE))
    assert pinned.keys() == floors.keys() - {"pytest-cov"}  # not needed for `make test-oldest`

    def numbers(version):
        return re.sub(r"(\.0)+$", "", version)

    assert {name: numbers(pinned[name]) for name in pinned} == {name: numbers(floors[name]) for name in pinned}


def test_every_file_of_reference_numbers_has_its_program_and_data_in_the_table():
    folder = ROOT / "tests" / "reference"
    rows = re.findall(r"^\| `(.*?)` \| R 4.2, (?:evclust 2.0.3|mclust 6.0.0) \| .+ \| .+ \|$",
                      (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)  # fmt: skip
    assert sorted(rows) == sorted(path.name for path in folder.iterdir() if path.name != "README.md")


def test_a_release_says_its_version_and_date_everywhere(project):
    version = evidentia.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    date = re.search(r"^date-released: (\d{4}-\d\d-\d\d)$", citation, re.MULTILINE)
    assert f"\nversion: {version}\n" in citation
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = "Unreleased" if date is None else f"{version} ({date[1]})"
    assert re.findall(r"^## (.*)$", changelog, re.MULTILINE)[0] == heading
    assert set(re.findall(r"^### (.*)$", changelog, re.MULTILINE)) <= KINDS
    python = project["project"]["requires-python"]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    for minor in (11, 12, 13, 14):
        assert f"Programming Language :: Python :: 3.{minor}" in project["project"]["classifiers"]
        assert f'"3.{minor}"' in workflow
    assert python == ">=3.11,<3.15"


FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "torch.load", "joblib.load", "pd.read_pickle"}
NETWORK_MODULES = {"urllib", "http", "socket", "requests", "ftplib", "httpx", "aiohttp", "smtplib", "webbrowser"}


def modules_imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def unsafe(source):
    """What SECURITY.md promises not to do, found in a source text."""
    tree = ast.parse(source)
    for name in modules_imported(tree):
        if name.split(".")[0] in FORBIDDEN_MODULES | NETWORK_MODULES:
            yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            options = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if called in {
                "eval",
                "exec",
                "compile",
                "__import__",
                "os.system",
                "torch.load",
                "joblib.load",
                "pd.read_pickle",
            }:
                yield called
            if called in {"np.load", "numpy.load"} and options.get("allow_pickle") != "False":
                yield called


def test_no_code_from_files_no_pickle_no_network():
    found = {str(path): list(unsafe(path.read_text(encoding="utf-8"))) for path in SOURCES}
    assert SOURCES
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_the_only_way_to_the_network_is_the_download_of_a_data_set():
    fetching = [path.name for path in SOURCES if re.search(r"\bfetch_(?!request)\w+", path.read_text(encoding="utf-8"))]
    assert fetching == ["download.py"]


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from urllib.request import urlopen",
        "eval('1')",
        "np.load(path)",
        "numpy.load(path, allow_pickle=True)",
        "torch.load(path)",
        "def f():\n    import socket",
    ],
)
def test_the_search_for_unsafe_calls_finds_them(source):
    assert len(list(unsafe(source))) == 1
