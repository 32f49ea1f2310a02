"""Latent classes against numbers by hand, a plain-loop EM, and the properties a likelihood method must have."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator

from evidentia.datasets import load
from evidentia.mixtures.bootgmm import BootGMM
from evidentia.mixtures.bootstrap import bootstrap, draw_weights
from evidentia.mixtures.class_em import (
    ClassParameters,
    distinct_rows,
    e_step,
    evaluate,
    fit_batch,
    m_step,
)
from evidentia.mixtures.latent_class import LatentClassMixture
from evidentia.rows.categories import Columns
from evidentia.rows.strange import StrangeRows

TRUE_WEIGHTS = np.array([0.5, 0.3, 0.2])
TRUE_PROBABILITIES = [
    np.array([[0.8, 0.2], [0.1, 0.9], [0.2, 0.8]]),
    np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.05, 0.05, 0.9]]),
    np.array([[0.1, 0.9], [0.85, 0.15], [0.2, 0.8]]),
    np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6]]),
    np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]),
    np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1]]),
]


def simulated(n, seed=0, missing=0.0):
    """Three classes, six columns; NaN for a share of the entries."""
    rng = np.random.default_rng(seed)
    k = rng.choice(3, size=n, p=TRUE_WEIGHTS)
    X = np.array([[rng.choice(len(p[i]), p=p[i]) for p in TRUE_PROBABILITIES] for i in k], dtype=float)
    X[rng.random(X.shape) < missing] = np.nan
    return X, k


def random_start(columns, n_clusters, seed, m=1):
    rng = np.random.default_rng(seed)
    parts = [rng.dirichlet(np.full(size, 3.0), size=(m, n_clusters)) for size in columns.sizes]
    return ClassParameters(rng.dirichlet(np.full(n_clusters, 5.0), size=m), np.concatenate(parts, axis=2))


def plain_em(rows, weight, pi, theta, alpha, n_iter):
    """The sums of EM as loops; ``theta[k][j][v]``, None or NaN is missing. Trace of log-likelihood plus prior."""
    c, d = len(pi), len(theta[0])
    trace = []
    for _ in range(n_iter + 1):
        responsibilities, log_likelihood = [], 0.0
        for x, w in zip(rows, weight):
            joint = [pi[k] * math.prod(theta[k][j][x[j]] for j in range(d) if x[j] >= 0) for k in range(c)]
            log_likelihood += w * math.log(sum(joint))
            responsibilities.append([value / sum(joint) for value in joint])
        prior = alpha * sum(math.log(p) for of_class in theta for column in of_class for p in column)
        trace.append(log_likelihood + prior)
        kept = pi, theta
        pi = [sum(w * r[k] for w, r in zip(weight, responsibilities)) / sum(weight) for k in range(c)]
        counted = [[[alpha] * len(theta[k][j]) for j in range(d)] for k in range(c)]
        for x, w, r in zip(rows, weight, responsibilities):
            for k in range(c):
                for j in range(d):
                    if x[j] >= 0:
                        counted[k][j][x[j]] += w * r[k]
        theta = [[[v / sum(column) for v in column] for column in of_class] for of_class in counted]
    return np.array(trace), kept


def coded(X):
    return np.where(np.isnan(X), -1, X).astype(int)


def test_likelihood_and_posteriors_by_hand():
    columns = Columns(np.array([2, 3]), np.array([0, 2]))
    parameters = ClassParameters(
        np.array([[0.6, 0.4]]), np.array([[[0.9, 0.1, 0.2, 0.3, 0.5], [0.25, 0.75, 0.6, 0.3, 0.1]]])
    )
    codes = np.array([[0, 2], [1, 0], [1, -1], [-1, -1]])
    posterior, log_probability = evaluate(columns, codes, parameters)
    # 0.6*0.9*0.5 + 0.4*0.25*0.1 = 0.27 + 0.01; 0.6*0.1*0.2 + 0.4*0.75*0.6 = 0.012 + 0.18; 0.06 + 0.3; nothing seen: 1
    np.testing.assert_allclose(np.exp(log_probability[:, 0]), [0.28, 0.192, 0.36, 1.0])
    np.testing.assert_allclose(posterior[0, :, 0], [0.27 / 0.28, 0.012 / 0.192, 0.06 / 0.36, 0.6])
    np.testing.assert_allclose(posterior.sum(axis=0), 1)


def test_m_step_by_hand():
    columns = Columns(np.array([2, 3]), np.array([0, 2]))
    # six objects; the second column of the second class is missing but for one object
    size, counts = np.array([[4.0, 2.0]]), np.array([[[3.0, 1.0, 0.0, 1.0, 2.0], [2.0, 0.0, 1.0, 0.0, 0.0]]])
    found = m_step(columns, size, counts, alpha=0.5)
    np.testing.assert_allclose(found.weights, [[2 / 3, 1 / 3]])
    np.testing.assert_allclose(
        found.probabilities[0],
        [[3.5 / 5, 1.5 / 5, 0.5 / 4.5, 1.5 / 4.5, 2.5 / 4.5], [2.5 / 3, 0.5 / 3, 1.5 / 2.5, 0.5 / 2.5, 0.5 / 2.5]],
    )


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("alpha", [1e-200, 0.3])
def test_em_is_the_plain_loop(alpha, missing):
    X = coded(simulated(40, missing=missing)[0])
    weight = np.random.default_rng(1).integers(1, 4, size=40).astype(float)
    columns = Columns.of([np.arange(p.shape[1]) for p in TRUE_PROBABILITIES])
    start = random_start(columns, 3, seed=2)
    batch = fit_batch(columns, X, weight[None], start, alpha=alpha, tol=0, max_iter=6)
    theta = [[list(part) for part in columns.split(of_class)] for of_class in start.probabilities[0]]
    trace, (pi, theta) = plain_em(X.tolist(), weight, list(start.weights[0]), theta, alpha, 6)
    np.testing.assert_allclose(batch.objective[:, 0], trace, rtol=1e-10)
    np.testing.assert_allclose(batch.parameters.weights[0], pi, rtol=1e-8)
    np.testing.assert_allclose(batch.parameters.probabilities[0], [np.concatenate(t) for t in theta], atol=1e-10)
    assert batch.n_iter[0] == 6
    assert not batch.converged[0]


def test_blocks_of_rows_add_up(monkeypatch):
    X = coded(simulated(100, missing=0.1)[0])
    columns = Columns.of([np.arange(p.shape[1]) for p in TRUE_PROBABILITIES])
    start = random_start(columns, 2, seed=0, m=3)
    weight = np.random.default_rng(0).uniform(0, 2, size=(3, 100))
    whole, whole_posterior = e_step(columns, X, weight, start), evaluate(columns, X, start)
    monkeypatch.setattr("evidentia.solvers.memory.BLOCK_BYTES", 1)  # 16 rows, the least
    for one, other in zip(
        (*whole, *whole_posterior), (*e_step(columns, X, weight, start), *evaluate(columns, X, start))
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_distinct_rows_rebuild_the_table():
    X = coded(simulated(300, missing=0.3)[0])[:, :3]
    rows, number = distinct_rows(X)
    np.testing.assert_array_equal(rows[number], X)
    assert len(rows) == len({tuple(row) for row in X.tolist()}) < 300


@pytest.mark.parametrize("alpha", [0, 0.1, 2.0])
def test_objective_never_falls_and_is_likelihood_plus_prior(alpha):
    X, _ = simulated(150, missing=0.1)
    model = LatentClassMixture(3, alpha=alpha, random_state=0, tol=1e-8).fit(X)
    assert len(model.criterion_trace_) == model.n_iter_ + 1 > 5
    assert np.diff(model.criterion_trace_).min() > -1e-9
    prior = alpha * sum(np.log(p).sum() for p in model.probabilities_) if alpha else 0
    assert model.criterion_ == model.criterion_trace_[-1] == model.start_criteria_.max()
    assert model.criterion_ == pytest.approx(model.log_likelihood_ + prior)
    assert len(model.start_criteria_) == 10
    assert model.ebic_ == pytest.approx(model.bic(X) / 2)
    assert model.log_likelihood_ == pytest.approx(model.score_samples(X).sum())


def test_the_maximum_is_stationary():
    """At a maximum, moving probability between two categories or two classes cannot help."""
    X, _ = simulated(200, missing=0.1)
    model = LatentClassMixture(3, random_state=0, tol=1e-13, max_iter=50_000).fit(X)
    codes, columns, (weights, probabilities) = coded(X), model._columns, model._parameters

    def objective(weights, probabilities):
        log_probability = evaluate(columns, codes, ClassParameters(weights, probabilities))[1]
        return log_probability.sum() + 0.1 * np.log(probabilities).sum()

    best = objective(weights, probabilities)
    for k in range(3):
        for j, offset in enumerate(columns.offsets):
            for step in (1e-3, -1e-3):
                moved = probabilities.copy()
                factor = np.exp(step * (np.arange(columns.sizes[j]) == 0))
                part = moved[0, k, offset : offset + columns.sizes[j]] * factor
                moved[0, k, offset : offset + columns.sizes[j]] = part / part.sum()
                assert objective(weights, moved) < best
        shifted = weights * np.exp(1e-3 * (np.arange(3) == k))
        assert objective(shifted / shifted.sum(), probabilities) < best


def test_one_class_has_the_frequencies():
    X = pd.DataFrame({"a": list("xxyx"), "b": ["u", None, "v", "v"]})
    model = LatentClassMixture(1, alpha=0).fit(X)
    np.testing.assert_allclose(model.probabilities_[0], [[3 / 4, 1 / 4]])
    np.testing.assert_allclose(model.probabilities_[1], [[1 / 3, 2 / 3]])
    log_likelihood = 3 * np.log(3 / 4) + np.log(1 / 4) + np.log(1 / 3) + 2 * np.log(2 / 3)
    assert model.log_likelihood_ == pytest.approx(log_likelihood)
    assert model.n_parameters_ == 2
    assert model.bic(X) == pytest.approx(2 * log_likelihood - 2 * np.log(4))
    assert model.aic(X) == pytest.approx(2 * log_likelihood - 4)
    assert model.icl(X) == pytest.approx(model.bic(X))  # nothing is lost when there is one class


def test_criteria_count_parameters_and_doubt():
    X, _ = simulated(200)
    model = LatentClassMixture(2, random_state=0).fit(X)
    assert model.n_parameters_ == 1 + 2 * (1 + 2 + 1 + 3 + 1 + 2)
    assert model.bic(X) == pytest.approx(2 * model.log_likelihood_ - 21 * np.log(200))
    doubt = np.log(model.predict_proba(X).max(axis=1)).sum()
    assert doubt < -1
    assert model.icl(X) == pytest.approx(model.bic(X) + 2 * doubt)
    np.testing.assert_allclose(model.selection_[["bic", "icl", "aic"]], [[model.bic(X), model.icl(X), model.aic(X)]])


def same_model(one, other, **tolerance):
    np.testing.assert_allclose(one.weights_, other.weights_, **tolerance)
    for p, q in zip(one.probabilities_, other.probabilities_, strict=True):
        np.testing.assert_allclose(p, q, **tolerance)


def test_weights_are_copies():
    X, _ = simulated(120, missing=0.1)
    weight = np.random.default_rng(3).integers(0, 4, size=120)
    weighted = LatentClassMixture(3, random_state=0).fit(X, sample_weight=weight)
    copied = LatentClassMixture(3, random_state=0).fit(np.repeat(X, weight, axis=0))
    same_model(weighted, copied, rtol=1e-12)
    assert weighted.log_likelihood_ == pytest.approx(copied.log_likelihood_, rel=1e-12)
    plain = LatentClassMixture(3, random_state=0).fit(X)
    assert np.abs(plain.weights_ - weighted.weights_).max() > 1e-3


def test_order_of_rows_does_not_matter():
    X, _ = simulated(120, missing=0.1)
    order = np.random.default_rng(0).permutation(120)
    one, other = (LatentClassMixture(3, random_state=0).fit(table) for table in (X, X[order]))
    same_model(one, other, rtol=1e-12)
    np.testing.assert_array_equal(one.labels_[order], other.labels_)


def test_the_same_table_in_any_writing():
    X, _ = simulated(80, missing=0.1)
    words = np.array(["a", "b", "c", "d"], dtype=object)
    text = np.where(np.isnan(X), None, words[coded(X)])
    frame = pd.DataFrame(text, columns=list("pqrstu"))
    model = LatentClassMixture(2, random_state=0).fit(X)
    mixed = frame.assign(p=pd.array(np.where(np.isnan(X[:, 0]), None, X[:, 0]), dtype="Int64"))
    for table in (text, text.tolist(), frame, frame.astype("category"), X.astype(object), mixed):
        again = LatentClassMixture(2, random_state=0).fit(table)
        same_model(model, again, rtol=1e-12)
        np.testing.assert_allclose(again.predict_proba(table), model.predict_proba(X), rtol=1e-12)
    assert again.feature_names_in_.tolist() == list("pqrstu")
    assert [list(found) for found in again.categories_[:2]] == [[0, 1], ["a", "b", "c"]]


def test_text_beside_numbers_is_a_category_too():
    X = np.array([[1, "x"], ["one", "y"], [1, "x"], [2, None]], dtype=object)
    model = LatentClassMixture(1).fit(X)
    assert model.categories_[0].tolist() == [1, 2, "one"]
    assert model.probabilities_[0][0].argmax() == 0


def test_a_missing_entry_is_summed_over():
    X, _ = simulated(150)
    model = LatentClassMixture(3, random_state=0).fit(X)
    row = X[:1].copy()
    filled = np.repeat(row, 4, axis=0)
    filled[:, 3] = np.arange(4)
    row[0, 3] = np.nan
    assert np.exp(model.score_samples(row)[0]) == pytest.approx(np.exp(model.score_samples(filled)).sum())
    nothing = np.full((1, 6), np.nan)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.weights_)
    assert model.score(nothing) == pytest.approx(0, abs=1e-12)


def test_rows_without_any_entry_change_nothing():
    X, _ = simulated(100)
    longer = np.vstack([X, np.full((7, 6), np.nan)])
    one, other = (LatentClassMixture(2, random_state=0, tol=1e-11).fit(table) for table in (X, longer))
    same_model(one, other, atol=1e-4)
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, abs=1e-4)


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_recovers_the_classes_it_was_simulated_from(missing):
    X, k = simulated(3000, missing=missing)
    model = LatentClassMixture(random_state=0, cluster_range=(1, 5), n_init=4).fit(X)
    assert model.n_clusters_ == 3
    assert model.selection_.n_clusters.tolist() == [1, 2, 3, 4, 5]
    assert model.selection_.bic.argmax() == 2
    np.testing.assert_allclose(model.weights_, TRUE_WEIGHTS, atol=0.04)
    for found, true in zip(model.probabilities_, TRUE_PROBABILITIES):
        np.testing.assert_allclose(found, true, atol=0.08)
    assert adjusted_rand_score(k, model.labels_) > 0.6


@pytest.mark.parametrize(
    ("n", "seed", "expected"), [(60, 0, {"bic": 2, "icl": 2, "aic": 3}), (120, 1, {"bic": 3, "icl": 2, "aic": 3})]
)
def test_criterion_decides_between_numbers_of_classes(n, seed, expected):
    X, _ = simulated(n, seed)
    for criterion, count in expected.items():
        model = LatentClassMixture(random_state=0, select_by=criterion).fit(X)
        assert model.n_clusters_ == count == model.selection_.n_clusters[model.selection_[criterion].argmax()]


@pytest.mark.needs_data("housevotes84")
def test_house_votes_show_the_parties():
    data = load("housevotes84")
    model = LatentClassMixture(2, random_state=0).fit(data.data)
    found = adjusted_rand_score(data.target, model.labels_)
    print(f"House votes, two classes against two parties: ARI {found:.3f}")
    assert found > 0.5
    names = list(data.feature_names)
    republicans = int(np.bincount(model.labels_[data.target == 1]).argmax())
    yes = model.probabilities_[names.index("physician_fee_freeze")][:, 1]
    assert yes[republicans] > 0.8
    assert yes[1 - republicans] < 0.05


def test_sample_has_the_distribution_of_the_mixture():
    X, _ = simulated(500)
    model = LatentClassMixture(3, random_state=0).fit(X)
    drawn, component = model.sample(20_000, random_state=5)
    assert drawn.dtype.kind == "f"
    np.testing.assert_allclose(np.bincount(component) / 20_000, model.weights_, atol=0.015)
    for j, p in enumerate(model.probabilities_):
        for k in range(3):
            seen = np.bincount(drawn[component == k, j].astype(int), minlength=p.shape[1])
            np.testing.assert_allclose(seen / (component == k).sum(), p[k], atol=0.03)
    words = LatentClassMixture(1).fit([["a", 1], ["b", 2], ["b", 1]]).sample(50, random_state=0)[0]
    assert set(words[:, 0]) == {"a", "b"}
    assert set(words[:, 1]) == {1, 2}
    np.testing.assert_array_equal(model.sample(9, random_state=1)[0], model.sample(9, random_state=1)[0])


def test_predictions_agree_with_the_fit():
    X, _ = simulated(60, missing=0.1)
    frame = pd.DataFrame(X, index=[f"row {i}" for i in range(60)], columns=list("abcdef"))
    model = LatentClassMixture(3, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    np.testing.assert_allclose(model.partition_.masses, model.predict_proba(frame))
    assert model.predict_partition(frame[:2]).object_names == ("row 0", "row 1")
    assert (np.diff(model.weights_) <= 0).all()


def matched(posterior, reference):
    """Columns of two-class posteriors in the order of the reference."""
    turned = posterior[:, ::-1]
    return turned if np.abs(turned - reference).sum() < np.abs(posterior - reference).sum() else posterior


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_replicates_are_separate_fits(missing):
    X = np.array(simulated(150, seed=4, missing=missing)[0])
    model = LatentClassMixture(2, random_state=0, tol=1e-11, max_iter=20_000).fit(X)
    weights = draw_weights(150, range(12), seed=7)
    replicates = model.fit_replicates(X, weights)
    assert replicates.valid.all()
    posterior = replicates.posteriors(X)
    assert posterior.shape == (2, 150, 12)
    for b, weight in enumerate(weights):
        alone = LatentClassMixture(2, random_state=0, tol=1e-11, max_iter=20_000).fit(X, sample_weight=weight)
        expected = alone.predict_proba(X)
        np.testing.assert_allclose(matched(posterior[:, :, b].T, expected), expected, atol=2e-4)
    assert np.abs(posterior[:, :, 0] - posterior[:, :, 1]).max() > 0.05


def test_a_replicate_does_not_depend_on_its_neighbors():
    X, _ = simulated(90)
    model = LatentClassMixture(3, random_state=0).fit(X)
    weights = draw_weights(90, range(20), seed=1)
    together = model.fit_replicates(X, weights).posteriors(X)
    for b in (0, 7, 19):
        alone = model.fit_replicates(X, weights[b : b + 1]).posteriors(X)
        np.testing.assert_allclose(together[:, :, [b]], alone, atol=1e-9)


def test_a_replicate_without_a_class_is_not_valid():
    X = np.array([[0, 0, 0, 0]] * 20 + [[1, 1, 1, 1]] * 10)
    model = LatentClassMixture(2, random_state=0).fit(X)
    weights = np.ones((3, 30))
    weights[1] = np.repeat([1.5, 0.0], [20, 10])  # the second class was never drawn
    replicates = model.fit_replicates(X, weights)
    assert replicates.valid.tolist() == [True, False, True]
    posterior = replicates.posteriors(X)
    assert posterior.shape == (2, 30, 2)
    np.testing.assert_allclose(posterior[:, :, 0].T, model.predict_proba(X), atol=1e-6)


def test_bootgmm_takes_latent_classes():
    X, k = simulated(300)
    model = BootGMM(mixture=LatentClassMixture(3, random_state=0), n_boot=100, random_state=0).fit(X)
    assert model.bootstrap_.n_drawn == 100
    assert model.bootstrap_.n_degenerate == 0
    assert adjusted_rand_score(k, model.labels_) > 0.5
    probability = model.mixture_.predict_proba(X)
    pairs, lower, upper = model.intervals_
    shared = (probability[pairs[:, 0]] * probability[pairs[:, 1]]).sum(axis=1)
    assert ((lower - 1e-6 <= shared) & (shared <= upper + 1e-6)).mean() > 0.9
    assert model.approximation_["rmse_lower"] < 0.05
    assert model.predict_partition(X[:5]).n_clusters == 3


def test_parametric_bootstrap_needs_only_that_rare_categories_may_be_absent():
    X, _ = simulated(60)
    model = LatentClassMixture(2, random_state=0, n_init=2, handle_unknown="missing").fit(X)
    replicates = bootstrap(model, X, n_boot=5, seed=0, parametric=True)
    assert replicates.posteriors(X).shape == (2, 60, 5)


def test_an_unknown_category_is_an_error_or_missing():
    X = pd.DataFrame({"color": list("rrgb") * 5, "size": ["s", "l", "s", "l"] * 5, "odd": list("xxyy") * 5})
    model = LatentClassMixture(2, random_state=0).fit(X)
    new = pd.DataFrame({"color": ["r", "violet"], "size": ["s", "l"], "odd": [None, "x"]})
    message = r"1 entries .* not there in fit \(first: row 1, column 'color': 'violet'\).*handle_unknown='missing'"
    for method in (model.predict, model.predict_proba, model.score_samples, model.predict_partition, model.bic):
        with pytest.raises(ValueError, match=message):
            method(new)
    lenient = LatentClassMixture(2, random_state=0, handle_unknown="missing").fit(X)
    expected = model.predict_proba(new.replace("violet", None))
    with pytest.warns(StrangeRows, match="column 'color': 'violet'"):
        np.testing.assert_allclose(lenient.predict_proba(new), expected)


def test_alpha_keeps_probabilities_away_from_zero():
    X, _ = simulated(60)
    pulled = LatentClassMixture(3, random_state=0, alpha=0.5).fit(X)
    assert min(p.min() for p in pulled.probabilities_) > 0.5 / (60 + 4 * 0.5)
    free = LatentClassMixture(3, random_state=0, alpha=0).fit(X)
    assert min(p.min() for p in free.probabilities_) < 1e-10
    assert free.log_likelihood_ > pulled.log_likelihood_
    assert np.isfinite(free.predict_proba(X)).all()


def test_without_alpha_a_column_unseen_in_a_class_is_harmless():
    """One class answers a question that the other was never asked."""
    X = np.array([[0, 0, 0, 1.0], [0, 0, 0, 0.0]] * 10 + [[1, 1, 1, np.nan]] * 15)
    model = LatentClassMixture(2, random_state=0, alpha=0).fit(X)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], [20, 15]))
    np.testing.assert_allclose(model.probabilities_[3][0], 0.5)
    np.testing.assert_allclose(model.probabilities_[3][1].sum(), 1)
    columns = Columns(np.array([2, 3]), np.array([0, 2]))
    never = m_step(columns, np.array([[3.0]]), np.array([[[1.0, 2.0, 0.0, 0.0, 0.0]]]), alpha=1e-200)
    np.testing.assert_allclose(never.probabilities[0, 0], [1 / 3, 2 / 3, 1 / 3, 1 / 3, 1 / 3])


def test_constant_columns_and_equal_rows():
    X = np.column_stack([simulated(100)[0], np.full(100, 7)])
    model = LatentClassMixture(2, random_state=0).fit(X)
    same_model(model, _with_constant(LatentClassMixture(2, random_state=0).fit(X[:, :6])), atol=1e-4)
    equal = LatentClassMixture(random_state=0).fit(np.ones((5, 3)))
    assert equal.n_clusters_ == 1
    assert equal.selection_.n_clusters.tolist() == [1]


def _with_constant(model):
    model.probabilities_ = [*model.probabilities_, np.ones((2, 1))]
    return model


def test_numbers_of_classes_that_the_table_cannot_tell_are_said_or_left_out():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 0]])
    assert LatentClassMixture(random_state=0).fit(X).selection_.n_clusters.tolist() == [1]
    with pytest.warns(UserWarning, match=r"2 classes has 5 parameters, but columns of 2, 2 .* only 4 kinds of rows"):
        LatentClassMixture(2, random_state=0).fit(X)


def test_a_class_that_vanishes_is_said():
    X = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1]])
    with pytest.warns(UserWarning, match="with 3 clusters: a class vanished in every start.*Ask for fewer classes"):
        model = LatentClassMixture(3, random_state=0).fit(X, sample_weight=[0.1, 0.1, 0.1, 0.1])
    assert model.selection_.note.tolist() == ["a class vanished in every start"]
    assert np.isfinite(model.partition_.masses).all()


def test_max_iter_is_said():
    with pytest.warns(ConvergenceWarning, match="max_iter=2 before tol=1e-06"):
        model = LatentClassMixture(3, max_iter=2, random_state=0).fit(simulated(50)[0])
    assert model.n_iter_ == 2
    assert not model.converged_
    np.testing.assert_array_equal(model.predict(simulated(50)[0]), model.labels_)


def test_an_interrupt_keeps_the_finished_numbers_of_classes(monkeypatch):
    X, _ = simulated(80)
    whole = LatentClassMixture._fit_number

    def impatient(self, problem, rng, n_clusters):
        if n_clusters == 3:
            raise KeyboardInterrupt
        return whole(self, problem, rng, n_clusters)

    monkeypatch.setattr(LatentClassMixture, "_fit_number", impatient)
    with pytest.warns(ConvergenceWarning, match="interrupted; the best of 2 fits with up to 2 clusters"):
        model = LatentClassMixture(random_state=0).fit(X)
    assert model.selection_.n_clusters.tolist() == [1, 2]
    with pytest.raises(KeyboardInterrupt):
        LatentClassMixture(3, random_state=0).fit(X)


BAD_PARAMETERS = [
    ({"n_clusters": 0}, r"'n_clusters' parameter .* must be an integer >= 1"),
    ({"n_clusters": "many"}, "must be an integer >= 1 and <= 62 or 'auto'. Got 'many' instead"),
    ({"cluster_range": (3, 2)}, r"1 <= low <= high. Got \(3, 2\)"),
    ({"select_by": "dic"}, "must be one of 'bic', 'icl', 'aic'"),
    ({"handle_unknown": "ignore"}, "must be one of 'error', 'missing'"),
    ({"alpha": -0.1}, "'alpha' .* must be a number >= 0"),
    ({"n_init": 0}, "'n_init' .* >= 1"),
    ({"max_iter": 0}, "'max_iter' .* >= 1"),
    ({"tol": -1}, "'tol' .* >= 0"),
    ({"n_clusters": 40}, "asked for 40 classes but X has only .* different rows"),
]


@pytest.mark.parametrize(("given", "message"), BAD_PARAMETERS)
def test_bad_parameters(given, message):
    with pytest.raises(ValueError, match=message):
        LatentClassMixture(**given).fit(simulated(30)[0])


BAD_TABLES = [
    ([["a", 0.25], ["b", 1.5]], ValueError, "Column 1 of X holds numbers such as 0.25, which are not categories"),
    ([["a", np.inf], ["b", 1.0]], ValueError, "Column 1 of X holds numbers such as inf"),
    ([["a", None], ["b", np.nan]], ValueError, "Column 1 of X holds nothing but missing values. Drop it"),
    (pd.DataFrame({"x": list("ab"), "y": [None, None]}), ValueError, "Column 'y' of X holds nothing but missing"),
    ([["a", {}], ["b", {}]], TypeError, "Column 1 of X holds entries that cannot be categories"),
    (["a", "b"], ValueError, "Expected 2D array"),
    ([["a", "b"]], ValueError, "minimum of 2 is required"),
]


@pytest.mark.parametrize(("X", "error", "message"), BAD_TABLES)
def test_bad_tables(X, error, message):
    with pytest.raises(error, match=message):
        LatentClassMixture(1).fit(X)


def test_bad_weights_and_too_early_a_question():
    X, _ = simulated(30)
    with pytest.raises(NotFittedError):
        LatentClassMixture().predict(X)
    with pytest.raises(ValueError, match="must be finite, not negative"):
        LatentClassMixture(2).fit(X, sample_weight=-np.ones(30))
    model = LatentClassMixture(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"a column for each of 30 rows. Got an array of shape \(4, 29\)"):
        model.fit_replicates(X, np.ones((4, 29)))
    with pytest.raises(ValueError, match="expecting 6 features"):
        model.predict(X[:, :5])


@pytest.mark.parametrize(
    "estimator", [LatentClassMixture(2, n_init=2), LatentClassMixture(n_init=2)], ids=["2", "auto"]
)
@pytest.mark.filterwarnings("ignore:LatentClassMixture with")  # two columns cannot tell two classes apart
def test_scikit_learn_contract(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set(LatentClassMixture.method.exceptions)
    assert failed == {
        "check_clustering",
        "check_positive_only_tag_during_fit",
        "check_sample_weight_equivalence_on_dense_data",
    }
    assert len(results) > 40


def test_nothing_is_printed_or_warned_in_a_plain_fit(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LatentClassMixture(2, random_state=0).fit(simulated(400, missing=0.05)[0])
    assert capsys.readouterr().err == ""
