"""Many fits of one table: what is drawn for each, what becomes of bad ones, and what they say together."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

import evidentia
from evidentia import ECM, FCM, SECMdd, ensemble
from evidentia._base import EvidentialClusterer
from evidentia._parameters import ANYTHING, SEED, Integer, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.solvers.descent import InterruptedFit

X = np.array([0.0, 1, 2, 3, 20, 21, 22, 23, 11.6])[:, None]


@pytest.fixture
def planned():
    """A method that cuts at a planned place, or does what the plan says; its results say which rows it saw."""
    seen = []

    class Planned(EvidentialClusterer):
        """Left and right of a cut."""

        method = Method(name="planned", title="a cut", papers=("nobody",), guide="ecm")
        n_clusters: int = param(Integer(low=2, high=2), default=2, kw_only=False)
        cut: object = param(ANYTHING, default=10.0)
        random_state: object = param(SEED, default=None)

        def fit(self, X):
            seen.append(np.asarray(X).ravel().tolist())
            if isinstance(self.cut, BaseException):
                raise self.cut
            if isinstance(self.cut, Warning | str):
                warnings.warn(InterruptedFit(str(self.cut)), stacklevel=2)
            self.collapsed_ = self.cut == -1
            self.focal_sets_ = FocalSets(2, "singletons", empty=False)
            self._publish(self._masses(self._check_table(X, reset=True)), None)
            return self

        def _masses(self, X):
            return np.eye(2)[(X[:, 0] > self.cut).astype(int)]

    yield Planned, seen
    del evidentia.methods._REGISTERED["planned"]


def test_objects_whose_cluster_depends_on_the_fit_are_torn(planned):
    found = ensemble(X, planned[0](), n_fits=8, rows=1.0, settings={"cut": [10.0, 13.0]}, random_state=0)
    assert sorted(found.fits["cut"]) == [10.0] * 4 + [13.0] * 4
    # Of two fits out of eight, one of each kind: 2 * 4 * 4 / (8 * 7)
    np.testing.assert_allclose(found.conflict, [0] * 8 + [4 / 7])
    last = dict(zip(found.partition.focal_sets.names(), found.partition.masses[8]))
    assert last == pytest.approx({"{0}": 0.5 - 2 / 7, "{1}": 0.5 - 2 / 7, "{0,1}": 4 / 7})
    assert found.partition.lower(0).tolist() == [0, 1, 2, 3]
    average = ensemble(
        X, planned[0](), n_fits=8, rows=1.0, settings={"cut": [10.0, 13.0]}, rule="average", random_state=0
    )
    np.testing.assert_allclose(average.partition.masses[8], [0.5, 0.5])


def test_each_fit_sees_its_share_of_the_rows_and_places_the_others(planned):
    found = ensemble(X, planned[0](), n_fits=6, rows=0.6, random_state=1)
    assert [len(rows) for rows in planned[1]] == [5] * 6
    assert len({tuple(rows) for rows in planned[1]}) > 3
    assert [X[rows].ravel().tolist() for rows in found.rows] == planned[1]
    assert len(found.partition) == 9
    assert found.fits["random_state"].nunique() == 6


def test_the_result_is_the_same_for_any_number_of_threads_and_can_be_repeated():
    one, two = (ensemble(X, FCM(2, n_init=1), n_fits=7, random_state=3, n_jobs=jobs) for jobs in (1, 3))
    assert one.partition == two.partition
    pd.testing.assert_frame_equal(one.fits, two.fits)
    other = ensemble(X, FCM(2, n_init=1), n_fits=7, random_state=4)
    assert not np.array_equal(one.partition.masses, other.partition.masses)


def test_fits_that_fail_or_collapse_are_left_out_with_a_note(planned):
    cuts = [10.0, ValueError("not today"), -1, 11.0]
    found = ensemble(X, planned[0](), n_fits=8, settings={"cut": cuts}, random_state=0)
    assert (len(found.models), found.fits["used"].sum()) == (4, 4)
    notes = found.fits.set_index("used").loc[False, "note"]
    assert sorted({note.split()[0] for note in notes}) == ["Planned", "ValueError:"]
    assert str(found).startswith("4 fits of 9 objects fused by averaging, with contradictions as doubt")
    assert str(found).endswith("4 of 8 fits left out.")
    with pytest.raises(ValueError, match=r"0 of 3 fits can be used, and it takes two. ValueError: not today"):
        ensemble(X, planned[0](cut=ValueError("not today")), n_fits=3)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), "stopped from the keyboard"])
def test_an_interrupt_keeps_the_fits_that_are_finished(planned, interrupt):
    cls, _ = planned
    seed = next(s for s in range(50) if np.random.RandomState(s).permutation(np.arange(6) % 6).tolist()[2:4].count(5))
    with pytest.warns(InterruptedFit, match=r"ensemble was interrupted after [23] of 6 fits, which are fused"):
        found = ensemble(X, cls(), n_fits=6, settings={"cut": [9.0, 9.1, 9.2, 9.3, 9.4, interrupt]}, random_state=seed)
    assert len(found.models) == len(found.fits) in (2, 3)
    with pytest.raises(KeyboardInterrupt):
        ensemble(X, cls(cut=interrupt), n_fits=6)


@pytest.mark.filterwarnings("ignore:Planned. . of . rows lie far outside")  # each fit saw a share of the rows
def test_new_rows_are_placed_by_all_models(planned):
    found = ensemble(X, planned[0](), n_fits=4, settings={"cut": [10.0, 12.0]}, random_state=0)
    new = found.predict_partition([[1.5], [11.0], [30.0]])
    np.testing.assert_allclose(new.contour, [[1, 0], [5 / 6, 5 / 6], [0, 1]])  # 1/2 - 1/3 + 2/3
    np.testing.assert_array_equal(found.predict([[1.5], [30.0]]), [0, 1])
    np.testing.assert_allclose(found.predict_partition(X).masses, found.partition.masses)


def test_dissimilarities_are_drawn_by_rows_and_columns():
    D = pd.DataFrame(cdist(X, X), index=list("abcdefghi"), columns=list("abcdefghi"))
    model = SECMdd(2, metric="precomputed", n_init=2)
    found = ensemble(D, model, n_fits=4, random_state=0)
    assert found.partition.object_names == tuple("abcdefghi")
    np.testing.assert_array_equal(found.partition.labels()[:8], np.repeat(found.partition.labels()[[0, 4]], 4))
    plain = ensemble(D.to_numpy(), model, n_fits=4, random_state=0)
    np.testing.assert_allclose(plain.partition.masses, found.partition.masses)
    np.testing.assert_allclose(plain.predict_partition(D.to_numpy()[:2]).masses, found.partition.masses[:2])


def test_other_kinds_of_tables():
    frame = ensemble(
        pd.DataFrame(X, index=list("abcdefghi"), columns=["x"]), FCM(2, n_init=1), n_fits=3, random_state=0
    )
    assert frame.partition.object_names == tuple("abcdefghi")
    sparse = ensemble(csr_matrix(X), FCM(2, n_init=1), n_fits=3, random_state=0)
    np.testing.assert_allclose(sparse.partition.masses, frame.partition.masses, atol=1e-6)
    words = ["a", "aa", "aaa", "aaaaaaaaa", "aaaaaaaa"]
    strings = SECMdd(2, metric=lambda a, b: abs(len(a) - len(b)), n_init=1)
    found = ensemble(words, strings, n_fits=3, rows=0.8, random_state=0)
    assert len(set(found.partition.labels()[:3])) == 1


def test_several_numbers_of_clusters_make_the_finest_frame():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [12, 0], [0, 12]], 20, axis=0)
    found = ensemble(table, ECM(n_init=2), n_fits=6, settings={"n_clusters": [2, 3]}, random_state=0)
    assert found.partition.n_clusters == 3
    assert sorted(found.fits["n_clusters"]) == [2, 2, 2, 3, 3, 3]
    for j, number in enumerate(found.fits["n_clusters"]):
        assert len(set(found.table[:, j])) == number


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_fits": 1}, r"needs n_fits >= 2 and 0 < rows <= 1. Got n_fits=1"),
        ({"rows": 1.5}, r"0 < rows <= 1. Got n_fits=50 and rows=1.5"),
        ({"settings": {"bta": [2]}}, r"FCM has no parameter 'bta'. Did you mean 'beta'"),
        ({"settings": {"init": "random"}}, r"'settings' must hold a list of values for 'init'. Got 'random'"),
        ({"settings": {"beta": []}}, r"'settings' must hold a list of values for 'beta'"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ensemble(X, FCM(2), **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, "fcm"), r"^'X' of ensemble must be a table, a row for each object\. Got None\.$"),
        (("table.csv", "fcm"), r"^'X' of ensemble must be a table, a row for each object\. Got 'table.csv'\.$"),
        ((X, None), r"^'method' of ensemble must be the short name of a method, .* Got None\.$"),
        ((X, FCM), r"Got the class FCM\. Give an estimator of it: FCM\(\)\.$"),
    ],
)
def test_what_is_no_table_and_no_method_is_refused_by_the_name_of_the_argument(arguments, message):
    with pytest.raises(TypeError, match=message):
        ensemble(*arguments)


def test_rows_that_are_not_in_memory_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(TypeError, match=r"ensemble needs all rows in memory"):
        ensemble(evidentia.open_rows(tmp_path / "x.npy"), FCM(2))
