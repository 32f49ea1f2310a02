"""ECM against numbers of an independent program, from the same start."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from evidentia import ECM

RUNS = [
    ("ecm_butterfly", "a"),
    ("ecm_butterfly", "tight"),
    ("ecm_butterfly", "beta15"),
    ("ecm_iris", "pairs"),
    ("ecm_iris", "pairs_tight"),
    ("ecm_iris", "full_tight_delta100"),
]


def fit(run, **changed):
    params = run["params"]
    X = np.array(run["x"]) if "x" in run else load_iris().data
    model = ECM(
        run["c"],
        focal_sets=params["type"],
        alpha=params.get("alpha", 1),
        beta=params.get("beta", 2),
        rho=params["delta"],
        init=np.array(run["g0"], dtype=float),
        **changed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopping after their number of iterations is the point
        return model.fit(X)


@pytest.mark.parametrize(("file", "name"), RUNS)
def test_each_iteration_is_the_same(reference, file, name):
    """Their masses belong to the prototypes after one update less; their prototypes are those after the last."""
    run = reference(file)[name]
    before = fit(run, max_iter=run["iterations"] - 1, tol=0)
    after = fit(run, max_iter=run["iterations"], tol=0)
    columns = [before.focal_sets_.index(np.flatnonzero(row).tolist()) for row in run["F"]]
    np.testing.assert_allclose(before.partition_.masses[:, columns], run["mass"], atol=1e-9)
    assert before.criterion_ == pytest.approx(run["crit"], rel=1e-9)
    np.testing.assert_allclose(after.cluster_centers_, run["g"], atol=1e-9)


@pytest.mark.parametrize(("file", "name"), [run for run in RUNS if "tight" in run[1] or run[1] == "beta15"])
def test_the_solution_is_the_same(reference, file, name):
    run = reference(file)[name]
    model = fit(run, max_iter=2000, tol=1e-14)
    assert model.criterion_ == pytest.approx(run["crit"], abs=1e-9)
    columns = [model.focal_sets_.index(np.flatnonzero(row).tolist()) for row in run["F"]]
    np.testing.assert_allclose(model.partition_.masses[:, columns], run["mass"], atol=3e-6)
