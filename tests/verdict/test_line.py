"""The evidence of shapes: densities sum to one, gradients, best fits, and shapes with one peak."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import betaln

from evidentia.verdict import line
from evidentia.verdict.line import Lines, condense


def lines_of(*samples, share=0.5, width=150):
    points, weights = np.zeros((len(samples), width)), np.zeros((len(samples), width))
    centers, spreads = np.zeros((len(samples), 2)), np.ones((len(samples), 2))
    for i, y in enumerate(samples):
        y, w = condense(np.sort(y), np.ones(len(y)), width)
        mean = np.average(y, weights=w)
        y = (y - mean) / np.sqrt(np.average((y - mean) ** 2, weights=w))
        points[i, : len(y)], weights[i, : len(y)] = y, w
        centers[i], spreads[i] = (-0.8, 0.8), (0.6, 0.6)
    return Lines(points, weights, np.full(len(samples), share), centers, spreads, np.full(len(samples), 1e-3))


rng = np.random.default_rng(3)
SAMPLES = [
    rng.normal(size=300),
    rng.exponential(size=200),
    rng.random(size=120),
    rng.standard_t(3, size=500),
    np.r_[rng.normal(size=150), rng.normal(size=100) + 4],
]
ALL = lines_of(*SAMPLES)
FAMILIES = [(name, fit, density) for name, fit, density, _ in line.ONE]


@pytest.mark.parametrize(("name", "fit", "density"), FAMILIES, ids=[name for name, *_ in FAMILIES])
def test_densities_integrate_to_one_and_give_the_log_likelihood(name, fit, density):
    found = fit(ALL)
    for i, parameters in enumerate(found.parameters):
        grid = np.linspace(-60, 60, 1_200_001)
        total = np.exp(density(grid, parameters)).sum() * (grid[1] - grid[0])
        assert total == pytest.approx(1, abs=2e-3)
        there = ALL.weights[i] > 0
        value = (ALL.weights[i, there] * density(ALL.points[i, there], parameters)).sum()
        penalty = 0.01 * (parameters[2] ** 2 + parameters[3] ** 2) if fit is line.fit_sinh_arcsinh else 0
        assert found.log_likelihood[i] == pytest.approx(value - penalty, abs=1e-6)


def test_a_line_is_fitted_as_if_it_were_alone():
    for _, fit, _ in FAMILIES:
        together = fit(ALL).log_likelihood
        alone = [fit(Lines(*(part[[i]] for part in ALL))).log_likelihood[0] for i in range(len(SAMPLES))]
        np.testing.assert_allclose(together, alone, atol=1e-9)


def test_slopes_of_the_sinh_arcsinh_density_are_those_of_differences():
    y, at, step = np.linspace(-2, 3, 7), np.array([[0.3, -0.2, 0.5, 0.2]]), 1e-6
    gradient, hessian = line.sinh_arcsinh_slopes(y[None], at)
    for k in range(4):
        ahead, behind = at.copy(), at.copy()
        ahead[0, k] += step
        behind[0, k] -= step
        rise = line.sinh_arcsinh_log_density(y[None], ahead) - line.sinh_arcsinh_log_density(y[None], behind)
        np.testing.assert_allclose(gradient[k], rise / (2 * step), atol=1e-6)
        bend = line.sinh_arcsinh_slopes(y[None], ahead)[0] - line.sinh_arcsinh_slopes(y[None], behind)[0]
        np.testing.assert_allclose(hessian[k], bend / (2 * step), atol=1e-5)


def test_sinh_arcsinh_fits_are_no_worse_than_those_of_a_general_optimizer():
    found = line.fit_sinh_arcsinh(ALL)
    for i in range(len(SAMPLES)):

        def cost(p, i=i):
            fit = (ALL.weights[i] * line.sinh_arcsinh_log_density(ALL.points[i], p)).sum()
            return -fit + 0.01 * (p[2] ** 2 + p[3] ** 2)

        bounds = [(None, None), (-5, 5), (None, None), (-2.5, 2.5)]
        best = min(minimize(cost, [0, 0, eps, 0], method="L-BFGS-B", bounds=bounds).fun for eps in (0, 0.8, -0.8))
        assert found.log_likelihood[i] >= -best - 0.05


def test_beta_exponents_solve_the_likelihood_equations_or_lie_at_one():
    logs = np.log(rng.beta([2.0, 1.0, 9.0, 1.0], [3.0, 4.0, 9.0, 1.0], (400, 4)))
    mirrored = np.log1p(-np.exp(logs))
    mean_u, mean_v = logs.mean(axis=0), mirrored.mean(axis=0)
    found = line.beta_exponents(mean_u, mean_v)
    assert (found >= 1).all()
    for exponents, u, v in zip(found, mean_u, mean_v):

        def cost(p, u=u, v=v):
            return -((p[0] - 1) * u + (p[1] - 1) * v - betaln(*p))

        best = minimize(cost, [1.5, 1.5], method="L-BFGS-B", bounds=[(1, 400)] * 2)
        assert cost(exponents) <= best.fun + 1e-8


def test_beta_densities_never_have_two_peaks():
    y = np.r_[rng.normal(size=200), rng.normal(size=200) + 9]  # two far groups: free exponents would fall below 1
    parameters = line.fit_beta(lines_of(y)).parameters[0]
    density = line.beta_log_density(np.linspace(parameters[0], parameters[1], 501)[1:-1], parameters)
    change = np.sign(np.diff(density))
    assert not any(a < 0 < b for a, b in itertools.pairwise(change))


def test_flat_tops_find_their_ends():
    y = np.r_[rng.uniform(-2, 2, 800), 2 + 0.3 * np.abs(rng.normal(size=75)), -2 - 0.3 * np.abs(rng.normal(size=75))]
    lines = lines_of(y)
    unit = np.std(y)
    left, right, spread = line.fit_flat_top(lines).parameters[0] * unit
    assert left == pytest.approx(-2, abs=0.25)
    assert right == pytest.approx(2, abs=0.25)
    assert spread == pytest.approx(0.3, abs=0.15)


def test_em_climbs_to_two_normals():
    lines = lines_of(SAMPLES[4])
    fit = line.fit_two_normals(lines, equal=False)
    share, a, b, s, t = fit.parameters[0]
    assert share == pytest.approx(0.6, abs=0.05)
    assert (b - a) / np.sqrt((s**2 + t**2) / 2) == pytest.approx(4, abs=0.5)

    def cost(p):
        p = np.array([1 / (1 + np.exp(-p[0])), p[1], p[2], np.exp(p[3]), np.exp(p[4])])
        return -(lines.weights[0] * line.two_normals_log_density(lines.points[0], p)).sum()

    start = [np.log(share / (1 - share)), a, b, np.log(s), np.log(t)]
    assert fit.log_likelihood[0] >= -minimize(cost, start).fun - 0.05
    equal = line.fit_two_normals(lines, equal=True)
    assert equal.parameters[0, 3] == equal.parameters[0, 4]
    assert equal.log_likelihood[0] <= fit.log_likelihood[0] + 1e-6


def test_shapes_are_found():
    names = line.compare(ALL).shape
    assert names[1] in ("lognormal", "flat or sharp-edged")
    assert names[2] == "flat or sharp-edged"
    assert names[3] == "skewed or heavy-tailed"
    found = line.compare(ALL)
    assert (found.gain[:3] < 0).all()
    assert found.distance[3] < 2  # two normals in one place describe heavy tails, and are no two groups
    assert found.gain[4] > 10
    assert found.distance[4] > 3


def test_condensing_keeps_weights_and_means():
    y, w = np.sort(rng.normal(size=1000)), rng.uniform(0.5, 2, 1000)
    few, together = condense(y, w)
    assert len(few) == 150
    assert together.sum() == pytest.approx(w.sum())
    assert (together * few).sum() == pytest.approx((w * y).sum())
    assert (np.diff(few) >= 0).all()
