import numpy as np
import pytest
from scipy.stats import multivariate_normal

from evidentia import BootGMM
from evidentia.scores.calibration import KnownMixture, calibrate, calibration_summary, interval_coverage

TRUTH = KnownMixture(
    np.array([0.3, 0.7]), np.array([[0.0, 0.0], [4.0, 1.0]]), np.array([[[1.0, 0.4], [0.4, 1.0]], np.eye(2)])
)


def test_the_known_mixture_knows_its_posteriors():
    X, component = TRUTH.sample(20_000, random_state=0)
    joint = np.column_stack([w * multivariate_normal(m, c).pdf(X) for w, m, c in zip(*TRUTH)])
    np.testing.assert_allclose(TRUTH.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    assert component.mean() == pytest.approx(0.7, abs=0.01)
    np.testing.assert_allclose(np.cov(X[component == 0].T), TRUTH.covariances[0], atol=0.06)


def test_coverage_and_length_by_hand():
    X, _ = TRUTH.sample(25, random_state=1)
    model = BootGMM(2, model="EEE", n_boot=60, random_state=0).fit(X)
    posterior = TRUTH.predict_proba(X)
    found = interval_coverage(model, posterior)
    hits, lengths, sure, widths = [], [], [], []
    for (i, j), low, high in zip(*model.intervals_):
        truth = posterior[i] @ posterior[j]
        relation = model.partition_.relational([[i, j]])
        hits.append(low - 1e-6 <= truth <= high + 1e-6)
        sure.append(relation.same[0] - 1e-6 <= truth <= relation.plausibility_same[0] + 1e-6)
        lengths.append(high - low)
        widths.append(relation.unknown[0])
    assert found["ci_coverage"] == pytest.approx(np.mean(hits))
    assert found["coverage"] == pytest.approx(np.mean(sure))
    assert found["ci_length"] == pytest.approx(np.mean(lengths), abs=1e-6)
    assert found["length"] == pytest.approx(np.mean(widths))


def test_levels_share_a_bootstrap_and_jobs_change_nothing():
    estimator = BootGMM(2, model="EEE", n_boot=60)
    arguments = {"n_samples": 30, "n_datasets": 2, "confidence": [0.8, 0.9], "random_state": 3}
    table = calibrate(TRUTH, estimator, **arguments)
    assert table["confidence"].tolist() == [0.8, 0.9, 0.8, 0.9]
    assert (table["ci_length"].diff()[[1, 3]] > 0).all()
    again = calibrate(TRUTH, estimator, **arguments, n_jobs=2)
    assert table.equals(again)
    alone = calibrate(TRUTH, estimator, **{**arguments, "confidence": 0.9})
    np.testing.assert_allclose(alone["coverage"], table["coverage"][[1, 3]])
    assert calibration_summary(table).loc[0.9, ("coverage", "mean")] == pytest.approx(alone["coverage"].mean())
    assert estimator.confidence == 0.9
