"""Posteriors and their sums against plain NumPy, whatever the numbers of rows, components and features."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import logsumexp

from evidentia.solvers.posterior_sums import BLOCK, COLUMNS, add_posterior_sums, in_blocks, write_posteriors

NO_WEIGHT = np.empty(0)


def lifted(X, features):
    """Features written down: (x, 1), (x, x², 1) or (x, products, 1)."""
    low, high = np.triu_indices(X.shape[1])
    squares = {"linear": X[:, :0], "squares": X**2, "products": X[:, low] * X[:, high]}[features]
    return np.column_stack([X, squares, np.ones(len(X))])


def case(n, d, n_components, features, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    terms = lifted(rows, features)
    return rows, terms, rng.normal(size=(n_components, terms.shape[1])), rng.uniform(0, 3, size=n)


@pytest.mark.parametrize("features", ["linear", "squares", "products"])
@pytest.mark.parametrize(
    ("n", "d", "n_components"),
    [(1, 3, 2), (BLOCK - 1, 1, 1), (BLOCK, 2, 5), (BLOCK + 1, 4, 33), (150, 5, 66), (9, 0, 3)],
)
def test_sums_and_posteriors_are_those_of_plain_numpy(n, d, n_components, features):
    compare_with_numpy(*case(n, d, n_components, features))


@pytest.mark.parametrize("features", ["linear", "squares"])
@pytest.mark.parametrize(("n", "d"), [(40, COLUMNS + 1), (BLOCK, 2 * COLUMNS), (BLOCK + 3, 2 * COLUMNS + 5)])
def test_some_columns_at_a_time_come_to_the_same(n, d, features):
    rows, terms, theta, weight = case(n, d, 3, features)
    compare_with_numpy(rows, terms, theta / np.sqrt(terms.shape[1]), weight)  # scores near zero have their last digits


def compare_with_numpy(rows, terms, theta, weight):
    n = len(rows)
    scores = terms @ theta.T
    log_sum = logsumexp(scores, axis=1)
    expected = np.exp(scores - log_sum[:, None])

    posterior, found = np.empty_like(expected), np.empty(n)
    write_posteriors(in_blocks(rows), theta, posterior, found)
    np.testing.assert_allclose(posterior, expected, rtol=1e-12)
    np.testing.assert_allclose(found, log_sum, rtol=1e-13, atol=1e-13)
    for given, used in [(NO_WEIGHT, np.ones(n)), (weight, weight)]:
        sums = np.full_like(theta, 0.25)  # added to, not overwritten
        log_likelihood = add_posterior_sums(in_blocks(rows), len(rows), theta, given, sums)
        scale = np.abs(used[:, None] * expected).T @ np.abs(terms)
        assert np.all(np.abs(sums - 0.25 - (used[:, None] * expected).T @ terms) <= 1e-13 * (1 + scale))
        assert log_likelihood == pytest.approx(used @ log_sum, rel=1e-13, abs=1e-13 * np.abs(used * log_sum).sum())


def test_the_exponential_is_exact_to_the_last_bits_and_zero_far_down():
    below = np.r_[0, 1e-17, 1e-9, np.linspace(1e-3, 700, 997), 707.9, 708.1, 745, 1e5, 1e200]
    rows = -below[:, None]
    posterior, log_sum = np.empty((len(below), 2)), np.empty(len(below))
    write_posteriors(in_blocks(rows), np.array([[0.0, 0.0], [1.0, 0.0]]), posterior, log_sum)
    expected = np.exp(-below) / (1 + np.exp(-below))
    near = below < 708
    np.testing.assert_allclose(posterior[near, 1], expected[near], rtol=5e-16)
    assert not posterior[~near, 1].any()
    np.testing.assert_allclose(log_sum, np.log1p(np.exp(-below)), rtol=1e-14, atol=1e-15)


def test_products_of_many_totals_do_not_overflow():
    """Sums of exponentials are at most the number of components; here all are."""
    n_components = 3000
    blocks = in_blocks(np.empty((BLOCK, 0)))
    sums = np.zeros((n_components, 1))
    assert add_posterior_sums(blocks, BLOCK, np.full((n_components, 1), 2.5), NO_WEIGHT, sums) == pytest.approx(
        BLOCK * (2.5 + np.log(n_components)), rel=1e-14
    )
    np.testing.assert_allclose(sums, BLOCK / n_components, rtol=1e-13)


def test_threads_beside_each_other_find_the_same_bits():
    rows, _, theta, _ = case(400, 4, 7, "products")

    def work(_):
        sums = np.zeros_like(theta)
        return add_posterior_sums(in_blocks(rows), len(rows), theta, NO_WEIGHT, sums), sums.tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(work, range(16)))) == 1


FAULTS = """
import resource
import sys
import numpy as np
from evidentia.mixtures._em import Parameters, engine

n, d, *models = sys.argv[1:]
X = np.random.default_rng(0).normal(size=(int(n), int(d)))
for model in models:
    tool, average = engine(model), np.array([[1, 0], [0, 1], [0.5, 0.5]])
    (pattern,) = tool.observe(X)
    spread = np.ones(int(d)) if tool.diagonal else np.eye(int(d))
    start = Parameters(np.full(3, 1 / 3), X[:2], np.stack([spread] * (1 if model == "EEE" else 2)))
    tool.e_step(pattern, start, average)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        tool.e_step(pattern, start, average)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 10)
"""


@pytest.mark.parametrize(
    ("case", "most"),
    [
        (("100_000", "10", "EEE", "VVV"), 50),  # pages; the scores of the rows alone would be 586
        (("250", "2_000", "EEI", "VVI"), 300),  # most for coefficients; all features of a block would be 1,063
    ],
)
def test_a_pass_gives_no_memory_back_to_the_system(case, most):
    """Workers of Dask run with this setting: memory that is returned has to be asked for, and cleared, again."""
    setting = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536", "NUMBA_DISABLE_JIT": "0", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", FAULTS, *case], env=setting, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert max(map(float, done.stdout.split())) < most


def test_code_from_the_cache_gives_the_bits_of_code_just_compiled(tmp_path):
    """A first fit, later ones, and those of other processes must agree."""
    code = (
        "import numpy as np\n"
        "from evidentia.solvers.posterior_sums import in_blocks, posteriors, statistics\n"
        "rng = np.random.default_rng(0)\n"
        "X, theta = rng.normal(size=(1000, 10)), rng.normal(size=(7, 11))\n"
        "found = *statistics(in_blocks(X), len(X), theta), *posteriors(X, theta)\n"
        "print(*(np.asarray(part).tobytes().hex() for part in found))"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    first, second = (subprocess.check_output([sys.executable, "-c", code], env=env) for _ in range(2))
    assert first == second
