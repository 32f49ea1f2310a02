from itertools import chain, combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from evidentia.solvers.irqp import minimize_on_simplex


def exact_minimum(Q, u):
    """Lowest value over all supports: on each, the stationary point of least norm, when it is feasible."""
    f = len(u)
    best = np.inf
    for support in chain.from_iterable(combinations(range(f), r) for r in range(1, f + 1)):
        s = list(support)
        system = np.block([[2 * Q[np.ix_(s, s)], -np.ones((len(s), 1))], [np.ones((1, len(s))), np.zeros((1, 1))]])
        x = np.linalg.lstsq(system, np.concatenate([-u[s], [1.0]]), rcond=None)[0][:-1]
        if abs(x.sum() - 1) < 1e-8 and x.min() > -1e-10:
            best = min(best, x @ Q[np.ix_(s, s)] @ x + u[s] @ x)
    return best


@pytest.mark.parametrize("seed", range(40))
def test_minimum_is_the_best_over_all_supports(seed):
    rng = np.random.default_rng(seed)
    f = rng.integers(1, 7)
    rank = rng.integers(0, f + 1)  # singular more often than not
    root = rng.normal(size=(f, rank)) * 10.0 ** rng.integers(-3, 4)
    Q, u = root @ root.T, rng.normal(size=f)
    x = rng.dirichlet(np.full(f, 0.3))
    minimize_on_simplex(Q, u, x)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1)
    scale = max(np.abs(Q).max(initial=0), np.abs(u).max())
    assert x @ Q @ x + u @ x <= exact_minimum(Q, u) + 1e-8 * scale


def test_it_agrees_with_a_general_solver_on_a_larger_problem():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(28, 10))
    Q, u = root @ root.T, rng.normal(size=28)
    x = np.full(28, 1 / 28)
    minimize_on_simplex(Q, u, x)
    other = minimize(
        lambda y: y @ Q @ y + u @ y,
        np.full(28, 1 / 28),
        jac=lambda y: 2 * Q @ y + u,
        bounds=[(0, 1)] * 28,
        constraints={"type": "eq", "fun": lambda y: y.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert x @ Q @ x + u @ x == pytest.approx(other.fun, abs=1e-7)


def test_a_vertex_by_hand_and_a_flat_problem():
    x = np.array([0.2, 0.3, 0.5])
    minimize_on_simplex(np.zeros((3, 3)), np.array([3.0, 1.0, 2.0]), x)
    np.testing.assert_allclose(x, [0, 1, 0], atol=1e-12)
    x = np.array([0.2, 0.3, 0.5])
    minimize_on_simplex(np.zeros((3, 3)), np.zeros(3), x)
    np.testing.assert_allclose(x, [0.2, 0.3, 0.5])
    x = np.array([1.0, 0.0])
    minimize_on_simplex(np.diag([1.0, 3.0]), np.zeros(2), x)  # x0 = 3/4
    np.testing.assert_allclose(x, [0.75, 0.25])
