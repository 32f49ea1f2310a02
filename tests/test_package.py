"""The package as a whole: the direction of imports, the speed of importing, and scikit-learn's own checks."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import evidentia
from evidentia import BPEC, CCM, ECM, EGMM, FCM, BeliefHierarchical, BootGMM, GustafsonKessel, NoiseClustering, methods
from evidentia.experimental import BCM

SOURCE = Path(evidentia.__file__).parent

# Lower layers first; a module may import from its own layer and from those before it.
LAYERS = [
    {"_warnings", "_objects", "files", "safe_text"},
    {"archive"},
    {"belief", "solvers"},
    {"rows"},
    {"verdict"},
    {"partition"},
    {"storage"},
    {"constraints"},
    {"_checks"},
    {"_data"},
    {"coverage"},
    {"_base"},
    {"_streaming"},
    {"dissimilarities"},
    {"metric_learning"},
    {"prototypes", "mixtures", "relational", "hierarchy"},
    {"neural", "experimental", "views"},
    {"scores", "selection", "datasets", "graphs"},
    {"plots"},
    {"app"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
SIDEWAYS = {("solvers", "belief")}  # neighbors do not know each other, but for this


def test_contributing_shows_the_layers():
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = re.search(r"An import may only point to the left:\n\n((?:    .*\n)+)", text)[1]
    assert [set(re.findall(r"\w+", layer)) for layer in shown.split("<")] == LAYERS
    assert {("solvers", "belief")} == SIDEWAYS  # said below the lines


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "evidentia":
            rest = node.module.split(".")[1:]
            yield from [rest[0]] if rest else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("evidentia.")]


def family(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


@pytest.mark.parametrize(
    "path",
    [
        *sorted(SOURCE.glob("*/**/*.py")),
        *(SOURCE / f"{name}.py" for name in ("_base", "_checks", "_data", "_streaming", "_warnings", "storage")),
    ],
    ids=lambda p: str(p.relative_to(SOURCE)),
)
def test_imports_point_downward(path):
    here = family(path)
    assert here in RANK, f"{here} has no place in the layers"
    for other in imported(path):
        if other in RANK and other != here:
            assert RANK[other] <= RANK[here], f"{path.name} of {here} imports {other}, a layer above it"
            if RANK[other] == RANK[here]:
                assert (here, other) in SIDEWAYS, f"{path.name} of {here} imports its neighbor {other}"


def named(path):
    """Modules of the library that a file imports from, each with the names it takes."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "evidentia":
            yield node.module, [alias.name for alias in node.names]


def test_the_reproduction_of_the_papers_uses_only_public_names():
    paths = sorted(Path(__file__).parents[1].glob("reproduction/**/*.py"))
    used = {(module, name) for path in paths for module, names in named(path) for name in names}
    assert len(used) > 50
    assert {(module, name) for module, name in used if name not in import_module(module).__all__} == set()


def is_public(module, name):
    if any(part.startswith("_") for part in module.split(".")):
        return False
    return name in import_module(module).__all__ or (module == "evidentia" and name in evidentia._SUBMODULES)


@pytest.mark.parametrize("path", sorted(SOURCE.glob("app/**/*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_applications_use_only_public_names_of_the_library(path):
    """So everything that can be clicked or typed can also be called."""
    used = [(module, name) for module, names in named(path) for name in names if not module.startswith("evidentia.app")]
    assert [pair for pair in used if not is_public(*pair)] == []


def test_applications_read_records_and_name_no_method():
    names = {*methods.clusterers(), *(f"--method {name}" for name in methods.clusterers())}
    for path in SOURCE.glob("app/**/*.py"):
        words = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        assert words & names == set(), f"{path} names a method: say what it is needed for by its record"


def test_each_use_of_the_applications_has_one_method():
    chosen = [use for cls in methods.clusterers().values() for use in cls.method.chosen_for]
    assert sorted(chosen) == sorted(methods.USES)


def test_the_library_does_not_know_its_applications():
    paths = [path for path in SOURCE.glob("**/*.py") if SOURCE / "app" not in path.parents]
    using = {path.relative_to(SOURCE).as_posix() for path in paths if "app" in set(imported(path))}
    assert using == {"__init__.py"}  # which loads them when they are asked for


def seconds_to_import(module):
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))


def test_importing_evidentia_is_quicker_than_importing_scikit_learn():
    assert seconds_to_import("evidentia") < seconds_to_import("sklearn")


def test_importing_evidentia_loads_nothing_heavy():
    code = "import sys, evidentia; print([m for m in ('numpy', 'sklearn', 'matplotlib', 'pandas') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_every_public_name_is_there():
    for name in evidentia.__all__:
        assert getattr(evidentia, name) is not None
    assert set(evidentia.__all__) <= set(dir(evidentia))
    with pytest.raises(AttributeError, match="no attribute 'EGGM'"):
        _ = evidentia.EGGM


def test_what_is_experimental_is_not_at_the_top():
    assert set(evidentia.experimental.__all__) == {"BCM", "WECMdd"}
    for name in evidentia.experimental.__all__:
        assert name not in evidentia.__all__
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(evidentia, name)


def failing(estimator):
    """What the record says."""
    known = estimator.method.failing_checks.items()
    given = not isinstance(getattr(estimator, "n_clusters", None), str)  # partial_fit needs it
    return {check: why for check, why in known if not (given and why.startswith("partial_fit needs"))}


@parametrize_with_checks(
    [
        EGMM(2, n_init=2),
        EGMM(cluster_range=(1, 3), n_init=2),
        FCM(),
        NoiseClustering(),
        ECM(),
        ECM(adaptive=True, n_init=3),
        BeliefHierarchical(),
        BootGMM(2, model="EII", n_boot=30),
        BPEC(2),
        BPEC(),
        CCM(),
        BCM(),
    ],
    expected_failed_checks=failing,
)
@pytest.mark.filterwarnings("ignore:.*the centers of clusters .* coincide")
@pytest.mark.filterwarnings("ignore:EGMM with")  # the checks fit a few rows in ten dimensions: EGMM says it collapsed
@pytest.mark.filterwarnings("ignore:EGMM. the best number of clusters")  # three groups are at the end of the range
def test_scikit_learn_contract(estimator, check):
    assert check(estimator) is None


def checks_whatever_the_machine():
    """Those of Gustafson and Kessel's method but for weights: whether its rounding shows there depends on the machine.

    (Weights in few columns: test_prototype_estimators.py.)
    """
    for estimator, check in estimator_checks_generator(GustafsonKessel()):
        if check.func.__name__ not in GustafsonKessel.method.failing_checks:
            yield pytest.param(estimator, check, id=check.func.__name__)


@pytest.mark.parametrize(("estimator", "check"), list(checks_whatever_the_machine()))
@pytest.mark.filterwarnings("ignore:.*the centers of clusters .* coincide")
def test_scikit_learn_contract_of_gustafson_and_kessel(estimator, check):
    assert check(estimator) is None


def test_a_warning_points_at_the_line_that_called_the_package():
    """However many functions of the package lie between."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    for model in (evidentia.CEVCLUS(2, max_iter=1), evidentia.ECM(2, max_iter=1), evidentia.EGMM(2, max_iter=1)):
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(X)
        assert {Path(one.filename) for one in caught} == {Path(__file__)}
