"""Pictures of a bootstrapped mixture: the numbers closely, the ink lightly."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from evidentia import BootGMM
from evidentia.datasets import make_bootgmm_mixture
from evidentia.plots import (
    coverage_plot_data,
    interval_fit_plot_data,
    pair_draws_plot_data,
    plot_coverage,
    plot_interval_fit,
    plot_pair_draws,
)
from evidentia.plots.intervals import thin_points

X = make_bootgmm_mixture(2, 60, random_state=1).data


@pytest.fixture(scope="module")
def model():
    return BootGMM(3, model="EEE", n_boot=100, confidence=0.8, random_state=0).fit(X)


def doubtful(model):
    return model.intervals_.pairs[np.argmax(model.intervals_.upper - model.intervals_.lower)].tolist()


def test_the_numbers_of_a_pair_are_those_of_the_model(model):
    i, j = doubtful(model)
    data = pair_draws_plot_data(model, j, i)
    np.testing.assert_allclose(np.sort(data.draws), np.sort(model.pair_draws(i, j)))
    assert (data.lower, data.upper) == pytest.approx(model.intervals_.of(i, j), abs=1e-6)
    same = (data.draws >= data.lower) & (data.draws <= data.upper)
    assert 0.78 <= same.mean() <= 0.82  # the level asked for
    one, other = model.partition_.masses[[i, j]]
    single = model.focal_sets_.card == 1
    assert data.belief == pytest.approx((one * other)[single].sum())
    assert data.plausibility == pytest.approx(1 - one @ model.focal_sets_.disjoint @ other)
    assert data.belief < data.plausibility


def test_a_pair_that_was_not_among_the_chosen_ones_has_draws_too():
    model = BootGMM(3, model="EEE", n_boot=40, n_pairs=2, random_state=0).fit(X)
    known = {tuple(pair) for pair in model.intervals_.pairs.tolist()}
    i, j = next((i, j) for i in range(60) for j in range(i + 1, 60) if (i, j) not in known)
    data = pair_draws_plot_data(model, i, j)
    assert (data.lower, data.upper) == pytest.approx(tuple(np.quantile(model.pair_draws(i, j), [0.05, 0.95])))


@pytest.mark.parametrize(("i", "j"), [(3, 3), (-1, 4), (4, 60)])
def test_a_pair_is_two_objects_of_the_table(model, i, j):
    with pytest.raises(ValueError, match=f"two different objects from 0 to 59. Got {i} and {j}."):
        pair_draws_plot_data(model, i, j)


def test_the_histogram_counts_every_replicate_and_marks_five_numbers(model):
    i, j = doubtful(model)
    data = pair_draws_plot_data(model, i, j)
    _, given = plt.subplots()
    ax = plot_pair_draws(model, i, j, truth=0.31, ax=given, color="red")
    assert ax is given
    assert sum(bar.get_height() for bar in ax.patches) == 100
    assert [line.get_xdata()[0] for line in ax.lines] == [*data[1:], 0.31]
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [
        "100 replicates",
        f"80 % bounds: {data.lower:.2f}, {data.upper:.2f}",
        f"belief {data.belief:.2f}, plausibility {data.plausibility:.2f}",
        "truth 0.31",
    ]
    assert ax.get_xlabel() == f"probability that objects {i} and {j} share a class"
    assert len(plot_pair_draws(model, i, j).lines) == 4


@pytest.mark.parametrize("value", [0.0, 0.4, 1.0])
def test_a_pair_that_never_changes_is_one_narrow_bar(value):
    both = np.array([value])

    class Two(SimpleNamespace):
        def __len__(self):
            return 2

    sure = SimpleNamespace(
        intervals_=(),
        confidence=0.9,
        pair_draws=lambda i, j: np.full(30, value),
        partition_=Two(relational=lambda pairs: SimpleNamespace(same=both, plausibility_same=both)),
    )
    bars = [bar for bar in plot_pair_draws(sure, 0, 1).patches if bar.get_height()]
    assert [bar.get_height() for bar in bars] == [30]
    assert bars[0].get_width() == pytest.approx(0.05 / 40)


def test_lower_bounds_go_with_belief_and_upper_ones_with_plausibility(model):
    relation = model.partition_.relational(model.intervals_.pairs)
    for bound, wanted, said in (
        ("lower", model.intervals_.lower, relation.same),
        ("upper", model.intervals_.upper, 1 - relation.different),
    ):
        found = interval_fit_plot_data(model, bound)
        np.testing.assert_array_equal(found[0], wanted)
        np.testing.assert_allclose(found[1], said, atol=1e-12)
        assert model.approximation_[f"rmse_{bound}"] == pytest.approx(np.sqrt(np.mean((found[1] - found[0]) ** 2)))


def test_bounds_have_two_names(model):
    with pytest.raises(ValueError, match=r"'bound' must be 'lower' or 'upper'. Got 'both'."):
        interval_fit_plot_data(model, "both")
    with pytest.raises(ValueError, match=r"'bound' must be 'both', 'lower' or 'upper'. Got 'middle'."):
        plot_interval_fit(model, bound="middle")


def test_thinning_keeps_all_rare_points_and_few_of_a_crowd():
    rng = np.random.default_rng(0)
    x, y = np.full(5000, 0.999), np.ones(5000)  # a corner, its edge included
    x[:7], y[:7] = np.arange(1, 8) / 10 + 0.05, rng.uniform(size=7)
    kept = thin_points(x, y, squares=10, most=3)
    np.testing.assert_array_equal(kept, np.arange(10))


def test_thinning_of_nothing_crowded_keeps_everything_in_order():
    x = np.linspace(0, 1, 40)
    np.testing.assert_array_equal(thin_points(x[::-1], x, squares=60, most=1), np.arange(40))


def test_the_fit_is_drawn_for_one_bound_or_both(model):
    _, given = plt.subplots()
    ax = plot_interval_fit(model, ax=given, s=3)
    assert ax is given
    belief, plausibility = ax.collections
    wanted, said = interval_fit_plot_data(model, "upper")
    np.testing.assert_allclose(plausibility.get_offsets(), np.column_stack([wanted, said])[thin_points(wanted, said)])
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    off = model.approximation_["rmse_lower"]
    assert words[:2] == ["exact", f"belief and lower bound\n(off by {off:.3f}, root mean square)"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("80 % confidence bound", "belief or plausibility")
    alone = plot_interval_fit(model, bound="lower")
    np.testing.assert_allclose(alone.collections[0].get_offsets(), belief.get_offsets())
    assert alone.get_ylabel() == "belief"


def test_models_without_intervals_are_refused():
    for draw in (lambda: plot_interval_fit(BootGMM()), lambda: plot_pair_draws(BootGMM(), 0, 1)):
        with pytest.raises(ValueError, match="BootGMM has no intervals_: fit it first"):
            draw()


TABLE = pd.DataFrame(
    {
        "dataset": [0, 0, 1, 1, 2, 2],
        "confidence": [0.9, 0.95] * 3,
        "ci_coverage": [0.80, 0.90, 0.90, 0.95, 0.94, 1.00],
        "coverage": [0.85, 0.91, 0.95, 0.97, 0.90, 0.94],
        "ci_length": [0.2, 0.3, 0.4, 0.5, 0.3, 0.4],
        "length": [0.1, 0.2, 0.2, 0.3, 0.3, 0.7],
    }
)


def test_coverage_is_a_mean_with_its_standard_error():
    """By hand: 0.80, 0.90, 0.94 have mean 0.88, deviation 0.0721 and error 0.0721 / sqrt(3) = 0.0416."""
    data = coverage_plot_data({"EII": TABLE, "VVV": TABLE[TABLE["dataset"] == 1]})
    assert data["name"].tolist() == ["EII"] * 4 + ["VVV"] * 4
    first = data.iloc[0]
    assert (first["confidence"], first["interval"], first["datasets"]) == (0.9, "confidence interval", 3)
    assert (first["coverage"], first["error"], first["length"]) == pytest.approx((0.88, 0.04163, 0.3), abs=1e-5)
    other = data.iloc[3]
    assert (other["confidence"], other["interval"]) == (0.95, "belief to plausibility")
    assert (other["coverage"], other["length"]) == pytest.approx((0.94, 0.4))
    assert data["error"].iloc[4:].isna().all()  # of one data set nothing is known


def test_coverage_is_drawn_beside_the_nominal_levels():
    _, given = plt.subplots()
    tables = {"EII": TABLE, "$V": TABLE[TABLE["dataset"] == 1]}
    ax = plot_coverage(tables, ax=given)
    assert ax is given
    data = coverage_plot_data(tables)
    drawn = [bar.lines[0] for bar in ax.containers]
    assert len(drawn) == 4
    for marks, (level, interval) in zip(
        drawn,
        [(level, kind) for level in (0.9, 0.95) for kind in ("confidence interval", "belief to plausibility")],
    ):
        rows = data[(data["confidence"] == level) & (data["interval"] == interval)]
        np.testing.assert_allclose(np.asarray(marks.get_ydata(), dtype=float), rows["coverage"])
        assert np.round(marks.get_xdata()).tolist() == [0, 1]
    assert {line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"} == {0.9, 0.95}
    assert [text.get_text() for text in ax.get_xticklabels()] == ["EII", "$V"]
    assert [text.get_text() for text in ax.texts][:2] == ["0.30", "0.40"]


def test_one_calibration_needs_no_name():
    ax = plot_coverage(TABLE)
    assert len(ax.containers) == 4
    assert [text.get_text() for text in ax.get_xticklabels()] == [""]
