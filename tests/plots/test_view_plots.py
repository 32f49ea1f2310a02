"""Pictures of several views."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.views.made_views import three_views

from evidentia import ECM, WMVEC, WMVECFP
from evidentia.plots import plot_view_conflict, plot_view_weights, view_conflict_plot_data, view_weight_plot_data


@pytest.fixture(scope="module")
def models():
    _, views = three_views(40)
    views["a"][[0, 5]] = views["a"][[2, 7]]
    return [cls(4, random_state=0, n_init=2).fit(views) for cls in (WMVEC, WMVECFP)]


def test_weights_of_views_and_columns(models):
    plain, preferring = models
    data = view_weight_plot_data(plain)
    assert (data.names, data.view.tolist()) == (["a", "b", "c"], [0, 1, 2])
    ax = plot_view_weights(plain, color="red")
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], plain.view_weights_)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    data = view_weight_plot_data(preferring, columns=True)
    assert data.names[:4] == ["a: 0", "a: 1", "a: 2", "b: 0"]
    np.testing.assert_allclose(np.bincount(data.view, data.weights), 1)
    assert plot_view_weights(preferring, columns=True, ax=ax) is ax
    with pytest.raises(ValueError, match="WMVEC has no weights of columns; WMVECFP has"):
        plot_view_weights(plain, columns=True)


def test_objects_about_which_views_disagree(models):
    model = models[0]
    data = view_conflict_plot_data(model, n_objects=6)
    assert set(data.objects[:2]) == {0, 5}
    assert (np.diff(data.conflict) <= 0).all()
    assert data.names == ["a", "b", "c", "all"]
    plausible = model.view_partitions_["b"].contour[data.objects[3]]
    assert data.masks[3, 1] == sum(1 << k for k in range(4) if plausible[k] >= 0.5 * plausible.max())
    assert all(masks[0] & masks[1] & masks[2] == 0 for masks in data.masks[:2])  # no cluster for all views
    assert all(masks[0] & masks[1] & masks[2] == masks[3] for masks in view_conflict_plot_data(model).masks[10:])
    ax = plot_view_conflict(model, n_objects=6)
    assert sum(len(one.get_offsets()) for one in ax.collections) == 6 * 4
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(i) for i in data.objects]
    with pytest.raises(ValueError, match=r"ECM has no view_weights_: fit it first, or it reads one table only\."):
        plot_view_conflict(ECM(2).fit([[0.0], [1], [9]]))
    with pytest.raises(ValueError, match="no view_weights_"):
        plot_view_weights(SimpleNamespace())
