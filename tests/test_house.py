"""Rules of the house that a machine can check: sizes, floors, what is promised about security, what a release says."""

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
def house():
    spec = importlib.util.spec_from_file_location("house", ROOT / "ci" / "house.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_measure_of_the_house_is_within_its_limit(house):
    assert house.complaints(house.measures()) == []


def test_a_measure_over_its_limit_and_one_excused_without_need_are_told(house):
    high, low = house.Measure("a", "apples", 3, 4, []), house.Measure("b", "berries", 3, 3, [])
    assert house.complaints([high, low], frozenset()) == ["apples: 4, at most 3"]
    assert house.complaints([high, low], frozenset({"a", "b"})) == ["berries: the limit holds, take 'b' out of NOT_YET"]


def test_long_functions_are_found_wherever_they_are(house, tmp_path):
    path = tmp_path / "module.py"
    path.write_text("class A:\n    def f(self):\n        a = 1\n\n        return a\n\n\ndef g():\n    return 2\n")
    assert list(house.long_functions([path], 4)) == []
    assert list(house.long_functions([path], 3)) == [(path, "f", 4)]
    assert house.count_lines([path]) == 9


def test_files_that_name_a_method_are_counted_outside_of_its_family(house, tmp_path):
    for name, text in {
        "src/evidentia/family/abc.py": "class ABC: ...",
        "src/evidentia/family2/one.py": "from family import ABC",
        "src/evidentia/two.py": 'METHODS = ["abc"]',
        "src/evidentia/three.py": "ABCD = abc_def = 1",
        "tests/family/test_abc.py": "ABC()",
        "benchmarks/four.py": "ABC()",
        "elsewhere/five.py": "ABC()",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = house.naming("ABC", ("src/evidentia/family", "tests/family"), root=tmp_path)
    assert sorted(path.stem for path in found) == ["four", "one", "two"]


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
