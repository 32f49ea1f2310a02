"""The exhibits of NN-EVCLUS: the paper's numbers as printed, and some units for real."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from evidentia import NNEVCLUS, CredalPartition, FocalSets
from reproduction.exhibit import Cell
from reproduction.nnevclus import EXHIBITS, attributes, butterfly, circles, claims, fourclass, keeping, links
from reproduction.pages import DOCS
from reproduction.results import read


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.name)
def test_cells_without_results_have_no_number_of_ours(exhibit):
    assert all(cell.ours is None for cell in (exhibit.cells({}) if exhibit.cells else []))


def test_tables_come_before_figures_in_the_order_of_the_paper():
    names = [exhibit.name.partition(".")[2] for exhibit in EXHIBITS]
    assert names[:3] == ["table1", "table2", "table3"]
    assert names[7:9] == ["table8", "figure1"]
    assert names[-2:] == ["figure29", "prediction"]


def test_masses_of_table_1_sum_to_one_as_far_as_they_are_rounded():
    rows = np.array(butterfly.TABLE_1)
    assert rows.shape == (12, 4)
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=0.0105)
    assert rows.argmax(axis=1).tolist() == [2] * 5 + [3] + [1] * 5 + [0]  # the numbers the paper prints in bold


@pytest.mark.parametrize("seed", [0, 5])
def test_the_butterfly_gives_table_1_whatever_cluster_is_found_first(seed):
    found = butterfly.measure(quantile=0.855, n_init=3, seed=seed)
    cells = butterfly.cells({"butterfly/0.855": found})
    assert {cell.verdict for cell in cells} == {"within"}
    assert [cell.ours for cell in cells if cell.row == "object 12"] == pytest.approx([0.97, 0.03, 0, 0], abs=0.01)


def test_the_loss_of_new_objects_is_that_of_its_definition():
    X = np.array([[0.0, 0], [3, 0], [0, 4]])
    partition = CredalPartition([[0, 1, 0, 0], [0, 0.2, 0.5, 0.3], [0.4, 0, 0, 0.6]], FocalSets(2, "full"))
    conflict = [0.5, 0.4, 0.4]  # of pairs 01, 02, 12: m0 is sure of {0}, m2 meets all but for its empty set
    wanted = 1 - 0.05 ** np.array([9 / 16, 16 / 16, 25 / 16])  # delta_0 = 4
    expected = np.mean((np.array(conflict) - wanted) ** 2)
    assert fourclass.conflict_loss(partition, X, 4.0) == pytest.approx(expected)


def test_the_network_is_dominated_by_the_partition_that_is_better_in_both():
    def table(network, ecm, bootclus=(0.99, 0.01)):
        points = {"NN-EVCLUS": network, "ECM": ecm, "Bootclus": bootclus}
        return {
            f"Glass, {method}": {
                f"{name}{suffix}": Cell("", "", value)
                for suffix in ("", ", normalized")
                for name, value in zip(("consistency", "nonspecificity"), point)
            }
            for method, point in points.items()
        }

    def case(*points):
        (found,) = claims.not_dominated({claims.FIGURES: table(*points)})
        return found

    assert case((0.8, 0.1), (0.9, 0.2)).holds  # and Bootclus, which is better in both, is left out
    assert not case((0.8, 0.3), (0.9, 0.2)).holds
    assert case((0.8, 0.3), (0.9, 0.3)).holds  # more consistent, and not less doubtful
    assert case((0.8, 0.3), (0.9, 0.2)).words == "0.80 at 0.30, dominated by ECM"


@pytest.mark.parametrize(
    ("n_clusters", "hidden"),
    [(2, 6), (3, 12), (6, 12), (31, 49)],  # 4 and 8 sets with the pairs; 8 and 33 without
)
def test_networks_have_one_and_a_half_hidden_units_for_each_focal_set(n_clusters, hidden):
    X = np.random.default_rng(0).normal(size=(50, 2))
    for method in attributes.OWN:
        assert attributes.build(method, X, n_clusters, n_init=1, seed=0).hidden == hidden


def test_the_papers_text_on_heart_is_of_normalized_partitions():
    tables = {one.name: one.table for one in read(DOCS / "results")}
    held = {suffix: sum(case.holds for case in claims.on_heart(tables, suffix)) for suffix in (claims.SHOWN, "")}
    assert held[""] < 5 < held[claims.SHOWN]


def test_figure_14_is_decided_curve_by_curve():
    def found(train, new):
        rows = [f"{hidden} hidden units" for hidden in fourclass.UNITS[False]]
        rows += [f"l2 = {l2:g}" for l2 in fourclass.PENALTIES[False]]
        columns = ("training loss, thousandths", "of 1,000 new")
        table = {row: dict(zip(columns, (Cell("", "", a), Cell("", "", b)))) for row, a, b in zip(rows, train, new)}
        return [case.holds for case in claims.sizes({"nnevclus.figure14": table})]

    falling, rising = [6, 5.8, 5.6, 5.5, 5.4, 5.3, 5.2, 5.1, 5.0, 4.99], [4.9, 4.91, 5.0, 5.1, 5.4]
    plateau, lowest = [6.5, 6.4, 6.3, 6.2, 6.1, 6.0, 5.9, 5.8, 5.5, 5.51], [5.5, 5.4, 5.5, 5.6, 5.7]
    assert found(falling + rising, plateau + lowest) == [True] * 4
    assert found(falling[::-1] + rising[::-1], plateau[::-1] + lowest[::-1]) == [False] * 4


def test_a_fitted_network_survives_as_text():
    X = np.random.default_rng(0).normal(size=(40, 2)) + 5 * (np.arange(40) % 2)[:, None]
    model = NNEVCLUS(2, hidden=4, outliers=True, n_init=1, tol=1e-2, random_state=0).fit(X)
    again = keeping.from_text(keeping.to_text(model))
    new = X[:7] + 0.3
    np.testing.assert_allclose(again.predict_partition(new).masses, model.predict_partition(new).masses, atol=1e-12)


@pytest.mark.parametrize("known", ["links", "labels"])
def test_a_draw_of_circles_finds_both_clusters_and_can_be_drawn(known):
    found = circles.measure(known, draw=0, n_init=1, seed=0)
    assert found["ari"] >= circles.GOOD
    results = {f"circles/{known}/0": found}
    cells = circles.ari_cells(known, results)
    assert (cells[0].ours, cells[1].ours, cells[2].ours) == (found["ari"], found["ari"], None)
    assert "in 1 of 1 draws" in circles.ari_notes(known, results)[0]
    assert len(circles.draw_plausible(known, results).axes) == 4  # two maps with a scale each


def test_what_is_known_of_the_circles_comes_from_their_classes():
    X, y = circles.circles(3, seed=2)
    links, feature = circles.linked(3, seed=2)
    assert len(links) == 50
    np.testing.assert_array_equal(y[links.pairs[:, 0]] == y[links.pairs[:, 1]], links.must)
    labels, _ = circles.labeled(3, seed=2)
    assert (labels >= 0).sum() == 50
    np.testing.assert_array_equal(labels[labels >= 0], y[labels >= 0])
    assert feature.shape == (len(X), 1)
    assert cdist(feature[y == 0], feature[y == 1]).min() > 0


def test_methods_with_links_are_compared_draw_by_draw():
    aris = {"NN-EVCLUS + PCCA": [0.9, 0.7], "CEVCLUS + PCCA": [0.8, 0.7], "CECM + PCCA": [0.9, 0.9]}
    results = {
        f"links/Iris/{method}/{draw}": {"ari": {"50": ari}}
        for method, both in aris.items()
        for draw, ari in enumerate(both)
    }
    (said,) = links.notes(results)
    assert "against CEVCLUS + PCCA +0.050 (standard error 0.050)" in said
    assert "against CECM + PCCA -0.100 (standard error 0.100)" in said
