"""Build the wheel and the sdist, and use each as a user would: in an empty environment, away from the sources.

Any warning is an error. Standard library only; the environments are temporary.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUTER = {"DISPLAY", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "EVIDENTIA_DATA", "EVIDENTIA_REQUIRE_DATA"}
CLEAN = {name: value for name, value in os.environ.items() if name not in OUTER} | {"MPLBACKEND": "agg"}

SLOW = "Without numba"  # how the warning begins that tells of slow loops
LIGHT = ("tests/belief", "tests/test_every_estimator.py", "-k", "not NNEVCLUS")  # what needs no extra

FIRST_FIT = """
import sys
from pathlib import Path

import evidentia
from evidentia import EGMM
from evidentia.datasets import load

assert Path(evidentia.__file__).is_relative_to(sys.prefix), evidentia.__file__
model = EGMM(n_clusters=3, random_state=0).fit(load("iris").data)
assert sorted(set(model.labels_.tolist())) == [0, 1, 2]
assert abs(model.partition_.masses.sum(axis=1) - 1).max() < 1e-12
print(evidentia.__version__, model.partition_)
"""


def run(*command, strict=False, **options):
    """Run a command in a clean process, and stop everything if it fails."""
    words = [str(word) for word in command]
    print("$", " ".join(word if "\n" not in word else "..." for word in words), flush=True)
    env = CLEAN | ({"PYTHONWARNINGS": f"error,ignore:{SLOW}:UserWarning"} if strict else {})
    return subprocess.run(words, env=env, check=True, **options)


def environment(folder, *requirements):
    """Python of a new environment with `requirements` installed."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements)
    return python


def build(folder):
    """The sdist, and the wheel made of it."""
    builder = environment(folder / "builder", "build")
    run(builder, "-m", "build", "--outdir", folder / "dist", ROOT, stdout=subprocess.DEVNULL)
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    return sdist, wheel


def check_contents(sdist, wheel):
    """The wheel holds the library and nothing else; the sdist all that is needed to test and to document it."""
    version = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    assert {name.split("/")[0] for name in inside} == {"evidentia", f"evidentia-{version}.dist-info"}
    assert "evidentia/py.typed" in inside
    for name in ("template.html", "interactive.html", "interactive.js"):
        assert f"evidentia/app/report/{name}" in inside

    top = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as archive:
        inside = set(archive.getnames())
    tracked = run("git", "-C", ROOT, "ls-files", capture_output=True, text=True).stdout.split("\n")
    for folder in ("src", "tests", "docs", "examples", "benchmarks", "ci", ".ci", ".github"):
        files = {f"{top}/{name}" for name in tracked if name.startswith(f"{folder}/")}
        assert files, folder
        assert not files - inside, f"left out of the sdist: {sorted(files - inside)[:5]}"
    for name in (
        "Makefile",
        "conftest.py",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CITATION.cff",
        "LICENSE",
    ):
        assert f"{top}/{name}" in inside, f"{name} is not in the sdist"


def use(python, home, *pictures):
    """A first fit in Python, then the demo and its summary on the command line."""
    home.mkdir()
    run(python, "-m", "pip", "check")
    run(python, "-c", FIRST_FIT, cwd=home, strict=True)
    evidentia = python.with_name("evidentia")
    run(evidentia, "demo", "--out", "results", cwd=home, strict=True)
    for name in ("report.html", "masses.csv", "partition.npz", *pictures):
        assert (home / "results" / name).stat().st_size, name
    assert {path.name for path in (home / "results").glob("*.png")} >= set(pictures)
    run(evidentia, "show", "results", cwd=home, strict=True)


def test_light(python):
    """The core tests where there is neither numba nor matplotlib, and how much room such an environment takes."""
    size = sum(path.stat().st_size for path in python.parents[1].rglob("*") if path.is_file())
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pytest", "hypothesis")
    for name in ("numba", "matplotlib"):
        run(python, "-c", f"import importlib.util; assert importlib.util.find_spec('{name}') is None")
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", f"ignore:{SLOW}", *LIGHT, cwd=ROOT)
    print(f"An environment with evidentia and what it cannot do without takes {size / 1e6:.0f} MB.")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sdist, wheel = build(folder)
        check_contents(sdist, wheel)
        python = environment(folder / "from-wheel", wheel)
        use(python, folder / "wheel-user")
        test_light(python)
        python = environment(folder / "from-sdist", f"{sdist}[recommended]")
        use(python, folder / "sdist-user", "partition.png", "masses.png")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        example = folder / sdist.name.removesuffix(".tar.gz") / "examples" / "knowledge" / "ten_links.py"
        run(python, example, cwd=folder / "sdist-user", strict=True)
        print(f"{wheel.name} and {sdist.name}: installed, fitted, demonstrated, without a warning.")


if __name__ == "__main__":
    main()
