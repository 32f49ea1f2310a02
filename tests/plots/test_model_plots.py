"""Ellipses, contours, traces and selection curves."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from evidentia import ECM, EGMM, FCM, CredalPartition, FocalSets, GustafsonKessel, select
from evidentia.plots import (
    contour_plot_data,
    ellipse_plot_data,
    plot_contours,
    plot_ellipses,
    plot_learning_curve,
    plot_selection,
    plot_trace,
    selection_plot_data,
    set_style,
)
from evidentia.selection import Selection

RNG = np.random.default_rng(8)
X = np.vstack([RNG.normal(at, [1, 2, 0.5], (40, 3)) for at in ([0, 0, 3], [6, 1, 3])])
FRAME = pd.DataFrame(X, columns=["length", "width", "depth"])


@pytest.fixture(scope="module")
def egmm():
    return EGMM(n_clusters=2, random_state=0).fit(X)


def mixture(weights):
    """A model by hand: two clusters, a shared covariance, {0}, {1}, {0,1}."""
    return SimpleNamespace(
        cluster_centers_=np.array([[0.0, 5.0, 1.0], [4.0, 9.0, 3.0]]),
        covariances_=np.array([[[4.0, 0.5, 1.0], [0.5, 3.0, 0.2], [1.0, 0.2, 1.0]]] * 2),
        weights_=np.array(weights),
        partition_=CredalPartition([[1, 0, 0]], FocalSets(2, [{0}, {1}, {0, 1}])),
    )


def test_ellipses_lie_at_the_distance_of_their_level():
    data = ellipse_plot_data(mixture([0.5, 0.3, 0.2]), columns=(2, 0), level=0.75)
    np.testing.assert_array_equal(data.masks, [1, 2, 3])
    np.testing.assert_allclose(data.centers, [[1, 0], [3, 4], [2, 2]])  # the pair halfway
    precision = np.linalg.inv([[1.0, 1.0], [1.0, 4.0]])
    steps = data.outlines - data.centers[:, None]
    squared = np.einsum("mni,ij,mnj->mn", steps, precision, steps)
    np.testing.assert_allclose(squared, -2 * np.log(1 - 0.75))  # chi-squared with two degrees of freedom
    assert data.axis_names == ("column 2", "column 0")


def test_sets_that_explain_next_to_nothing_have_no_ellipse():
    np.testing.assert_array_equal(ellipse_plot_data(mixture([0.998, 0.001, 0.001])).masks, [1, 2])


def test_a_set_has_the_mean_of_the_covariances_of_its_clusters():
    shapes = np.array([np.diag([1.0, 4.0]), [[9.0, 1.0], [1.0, 2.0]]])
    model = SimpleNamespace(
        cluster_centers_=np.array([[0.0, 0.0], [8.0, 2.0]]),
        covariances_=shapes,
        weights_=np.array([0.5, 0.3, 0.2]),
        partition_=CredalPartition(np.eye(3), FocalSets(2, [{0}, {1}, {0, 1}])),
    )
    data = ellipse_plot_data(model, level=0.5)
    assert data.masks.tolist() == [1, 2, 3]
    np.testing.assert_allclose(data.centers, [[0, 0], [8, 2], [4, 1]])
    for outline, center, shape in zip(data.outlines, data.centers, [*shapes, shapes.mean(axis=0)]):
        step = outline - center
        away = np.einsum("ci,ij,cj->c", step, np.linalg.inv(shape), step)
        np.testing.assert_allclose(away, 2 * np.log(2))  # the median of chi square with two degrees of freedom


def test_ellipses_of_a_flat_covariance_are_segments():
    model = mixture([0.5, 0.3, 0.2])
    model.covariances_ = np.array([np.outer([1, 2, 0], [1, 2, 0])] * 2)
    steps = ellipse_plot_data(model).outlines[0] - [0, 5]
    np.testing.assert_allclose(steps[:, 1], 2 * steps[:, 0], atol=1e-7)


def test_egmm_draws_clusters_filled_and_sets_dashed(egmm):
    ax = plot_ellipses(egmm, X)
    outlines = [patch for patch in ax.patches if not patch.get_fill()]
    drawn = ellipse_plot_data(egmm)
    assert [to_hex(patch.get_edgecolor()) for patch in outlines] == [set_style(m, 2).edge for m in drawn.masks.tolist()]
    assert [patch.get_linestyle() for patch in outlines][:2] == ["-", "-"]
    assert sum(patch.get_fill() for patch in ax.patches) == 2
    assert sum(len(points.get_offsets()) for points in ax.collections) == len(X)


@pytest.mark.parametrize(
    "model", [GustafsonKessel(n_clusters=2, random_state=0), ECM(n_clusters=2, adaptive=True, random_state=0)]
)
def test_a_covariance_for_each_cluster_gives_an_ellipse_for_each_cluster(model):
    model.fit(FRAME)
    data = ellipse_plot_data(model, columns=("depth", "length"))
    np.testing.assert_array_equal(data.masks, [1, 2])
    np.testing.assert_allclose(data.centers, model.cluster_centers_[:, [2, 0]])
    precision = np.linalg.inv(model.covariances_[1][np.ix_([2, 0], [2, 0])])
    steps = data.outlines[1] - data.centers[1]
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", steps, precision, steps), -2 * np.log(0.1))
    assert data.axis_names == ("depth", "length")
    assert data.weights.sum() <= 1


def test_methods_without_covariances_say_which_have_them():
    for model in (FCM(n_clusters=2, random_state=0).fit(X), ECM(n_clusters=2, random_state=0).fit(X)):
        words = f"{type(model).__name__} has no covariances to draw. Fitted models of EGMM, GustafsonKessel and ECM"
        with pytest.raises(ValueError, match=words):
            plot_ellipses(model)


def test_ellipses_without_data_have_a_legend_of_shares():
    words = [text.get_text() for text in plot_ellipses(mixture([0.5, 0.3, 0.2])).get_legend().get_texts()]
    assert words == ["{0}  50 %", "{1}  30 %", "{0,1}  20 %"]


def test_contours_are_the_predictions_on_the_grid(egmm):
    data = contour_plot_data(egmm, X, subset={0, 1}, columns=(1, 0), n_grid=7)
    assert data.masks == (3,)
    assert data.values.shape == (1, 7, 7)
    row = np.array(
        [[data.y[5], data.x[2], X[:, 2].mean()]]
    )  # column 1 along x, column 0 along y, the third at its mean
    partition = egmm.predict_partition(row)
    assert data.values[0, 5, 2] == pytest.approx(partition.masses[0, partition.focal_sets.index({0, 1})], abs=1e-12)
    assert data.x[0] < X[:, 1].min() < X[:, 1].max() < data.x[-1]


def test_plausibility_is_that_of_the_set_even_of_one_that_is_not_focal():
    model = EGMM(n_clusters=3, focal_sets="simple", random_state=0).fit(X)
    data = contour_plot_data(model, X, what="plausibility", subset={0, 2}, n_grid=5)
    each = contour_plot_data(model, X, what="mass", n_grid=5)
    whole = contour_plot_data(model, X, what="plausibility", subset={0, 1, 2}, n_grid=5)
    omega = whole.values[0] - each.values.sum(axis=0)  # mass of the frame, which every plausibility counts
    np.testing.assert_allclose(data.values[0], each.values[[0, 2]].sum(axis=0) + omega, atol=1e-12)
    with pytest.raises(ValueError, match=r"\{0,2\} is not one of the focal sets"):
        contour_plot_data(model, X, subset={0, 2}, n_grid=5)


def test_contours_of_a_model_fitted_to_a_frame_by_column_name():
    model = EGMM(n_clusters=2, random_state=0).fit(FRAME)
    ax = plot_contours(model, FRAME, columns=("depth", "length"), what="plausibility")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("depth", "length")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["{0}", "{1}"]


def test_a_map_of_one_set_has_a_scale(egmm):
    ax = plot_contours(egmm, X, subset={0, 1})
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == ["mass of {0,1}"]


def test_a_constant_column_still_gives_a_grid(egmm):
    data = contour_plot_data(egmm, np.column_stack([X[:, 0], np.full(len(X), 2.0), X[:, 2]]), n_grid=4)
    assert (data.y[0], data.y[-1]) == (1.5, 2.5)


def test_the_boundary_is_where_the_most_plausible_cluster_changes():
    """By hand: cluster 0 at x < 1, cluster 1 at 1 < x < 3, cluster 2 beyond; the plausibilities cross there."""

    def predict_partition(rows):
        near = np.exp(-np.square(rows[:, :1] - [0.0, 2.0, 4.0]))
        return CredalPartition(near / near.sum(axis=1, keepdims=True), FocalSets(3, [{0}, {1}, {2}]))

    rows = np.column_stack([np.linspace(-1, 5, 30), np.linspace(0, 1, 30)])
    model = SimpleNamespace(predict_partition=predict_partition, partition_=predict_partition(rows))
    data = contour_plot_data(model, rows, n_grid=5)
    at = predict_partition(np.array([[data.x[1], data.y[3]]]))
    np.testing.assert_allclose(data.contour[:, 3, 1], at.contour[0])
    ax = plot_contours(model, rows, boundary=True)
    red = [lines for lines in ax.collections if len(lines.get_linewidth()) == 1 and lines.get_linewidth()[0] == 2.2]
    x = np.concatenate([path.vertices[:, 0] for lines in red for path in lines.get_paths()])
    assert len(red) == 2
    assert set(x.round(2)) == {1.0, 3.0}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["{0}", "{1}", "{2}", "boundary"]
    assert len(plot_contours(model, rows).collections) == len(ax.collections) - 2
    assert len(plot_contours(model, rows, subset={1}, boundary=True).collections) == 1 + 2 + 1  # map, lines, dots


def test_contours_need_a_method_that_predicts():
    with pytest.raises(ValueError, match="SimpleNamespace cannot place new points"):
        plot_contours(mixture([0.5, 0.3, 0.2]), X)


def test_contours_know_two_quantities(egmm):
    with pytest.raises(ValueError, match=r"'what' must be 'mass' or 'plausibility'. Got 'belief'."):
        plot_contours(egmm, X, what="belief")


def test_trace_is_the_criterion_by_iteration(egmm):
    ax = plot_trace(egmm, color="red")
    x, y = ax.lines[0].get_data()
    np.testing.assert_array_equal(y, egmm.criterion_trace_)
    np.testing.assert_array_equal(x, np.arange(1, len(y) + 1))
    assert ax.lines[0].get_color() == "red"


def test_a_model_without_a_trace_is_refused():
    with pytest.raises(ValueError, match="EGMM has no criterion_trace_: fit it first"):
        plot_trace(EGMM())


def test_the_learning_curve_sets_both_losses_of_an_iteration_at_one_place():
    """The first curve begins before the first iteration; the second may go on after the network that was kept."""
    model = SimpleNamespace(
        criterion_trace_=np.array([0.5, 0.2, 0.1, 0.09]), validation_trace_=np.array([0.3, 0.2, 0.4, 0.5])
    )
    ax = plot_learning_curve(model, floor=SimpleNamespace(criterion_=0.0475), lw=3)
    training, validation, floor = ax.lines
    np.testing.assert_array_equal(training.get_xydata(), [[1, 0.5], [2, 0.2], [3, 0.1], [4, 0.09]])
    np.testing.assert_array_equal(validation.get_xydata(), [[2, 0.3], [3, 0.2], [4, 0.4], [5, 0.5]])
    assert set(floor.get_ydata()) == {0.0475}
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["training", "validation", "SimpleNamespace 0.0475"]
    assert ax.get_yscale() == "log"
    assert training.get_linewidth() == validation.get_linewidth() == 3


@pytest.mark.parametrize("held_back", [{}, {"validation_trace_": np.array([])}])
def test_without_pairs_held_back_there_is_one_curve(held_back):
    ax = plot_learning_curve(SimpleNamespace(criterion_trace_=[0.5, 0.2], **held_back))
    assert [line.get_label() for line in ax.lines] == ["training"]
    assert (
        plot_learning_curve(SimpleNamespace(criterion_trace_=[0.5, 0.2]), floor=0.1).lines[1].get_label() == "floor 0.1"
    )


TABLE = pd.DataFrame(
    {
        "method": ["egmm", "egmm", "egmm", "ecm", "ecm"],
        "n_clusters": [4, 2, 3, 2, 3],
        "ebic": [-70.0, -50.0, np.nan, np.nan, np.nan],
        "normalized_nonspecificity": [0.3, 0.2, 0.25, 0.4, 0.1],
        "seconds": 1.0,
        "note": "",
    }
)


def test_selection_curves_rise_in_clusters_and_leave_gaps_out():
    selection = Selection(TABLE, "ebic", ("egmm", 2), None)
    curves = selection_plot_data(selection)
    assert list(curves) == ["egmm"]
    np.testing.assert_array_equal(curves["egmm"], [[2, -50], [4, -70]])
    np.testing.assert_array_equal(
        selection_plot_data(selection, criterion="normalized_nonspecificity")["ecm"], [[2, 0.4], [3, 0.1]]
    )


def test_the_best_choice_is_ringed_on_the_curve_that_decided():
    selection = Selection(TABLE, "normalized_nonspecificity", ("ecm", 3), None)
    ax = plot_selection(selection)
    np.testing.assert_array_equal(ax.lines[-1].get_xydata(), [[3, 0.1]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["egmm", "ecm", "best: 3 clusters"]
    assert ax.get_ylabel() == "nonspecificity N* (smaller is better)"
    assert selection.plot(ax=ax, criterion="ebic") is ax
    assert ax.get_ylabel().startswith("EBIC") or "ebic" in ax.get_ylabel().lower()


def test_no_choice_is_ringed_on_another_criterion():
    ax = plot_selection(Selection(TABLE, "normalized_nonspecificity", ("ecm", 3), None), criterion="ebic")
    assert [line.get_label() for line in ax.lines] == ["egmm"]
    assert ax.get_ylabel() == "EBIC (larger is better)"


@pytest.mark.parametrize("criterion", ["note", "bic"])
def test_unknown_criteria_are_named(criterion):
    with pytest.raises(
        ValueError, match=f"There is no criterion '{criterion}' in the table. It has: ebic, normalized_nonsp"
    ):
        plot_selection(Selection(TABLE, "ebic", ("egmm", 2), None), criterion=criterion)


def test_a_criterion_without_any_value_is_said():
    with pytest.raises(ValueError, match="None of the fits has a value of 'ebic'"):
        plot_selection(
            Selection(TABLE.assign(ebic=np.nan), "normalized_nonspecificity", ("ecm", 3), None), criterion="ebic"
        )


def test_a_real_selection_can_be_drawn():
    selection = select(X, n_clusters=[2, 3], random_state=0)
    ax = plot_selection(selection)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), selection.table["bic"])


@pytest.mark.parametrize(
    "draw",
    [
        lambda model, ax: plot_ellipses(model, X, ax=ax),
        lambda model, ax: plot_contours(model, X, ax=ax),
        lambda model, ax: plot_trace(model, ax=ax),
        lambda model, ax: plot_learning_curve(SimpleNamespace(criterion_trace_=[2.0, 1.0]), ax=ax),
        lambda model, ax: plot_selection(Selection(TABLE, "ebic", ("egmm", 2), None), ax=ax),
    ],
    ids=["ellipses", "contours", "trace", "learning curve", "selection"],
)
def test_axes_are_reused(egmm, draw):
    _, ax = plt.subplots()
    assert draw(egmm, ax) is ax
    assert len(plt.get_fignums()) == 1
