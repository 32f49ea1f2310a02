import numpy as np
import pytest
from joblib import cpu_count
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from evidentia.solvers.threads import limit_threads, n_threads, one_blas_thread, one_openmp_thread, thread_pool, threads


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def threads_while(*, fails=False):
    with one_blas_thread():
        if fails:
            raise ArithmeticError
        return blas_threads()


def test_one_thread_inside_and_as_before_outside():
    assert np.ones((2, 2)).sum() == 4  # NumPy's library is loaded
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert set(threads_while()) == {1}
        with pytest.raises(ArithmeticError):
            threads_while(fails=True)
        assert blas_threads() == before == [2] * len(before)


def test_threads_are_counted_as_scikit_learn_counts_jobs(monkeypatch):
    monkeypatch.setattr("evidentia.solvers.threads.cpu_count", lambda: 8)
    assert n_threads() == 8
    for n_jobs, expected in [(None, 8), (0, 1), (1, 1), (5, 5), (20, 20), (-1, 8), (-2, 7), (-8, 1), (-99, 1)]:
        with threads(n_jobs):
            assert n_threads() == expected
    with threads(3):
        with pytest.raises(ArithmeticError), threads(2):
            raise ArithmeticError
        assert n_threads() == 3
    assert n_threads() == 8


def test_a_method_works_with_the_jobs_of_its_estimator():
    def used(n_jobs):
        with limit_threads(n_jobs):
            assert set(blas_threads()) == {1}
            return n_threads()

    assert used(None) == cpu_count()
    assert used(3) == 3
    with threads(5):  # of the fit that calls
        assert used(None) == 5
        assert used(2) == 2
        assert n_threads() == 5


@pytest.mark.parametrize(("workers", "inside"), [(1, 5), (2, 1)])
def test_who_works_in_a_crew_has_no_crew_of_its_own(workers, inside):
    with threads(5), thread_pool(workers) as each:
        assert each(lambda item: (item, n_threads()), [4, 7]) == [(4, inside), (7, inside)]
        assert set(blas_threads()) == {1}


def test_other_packages_use_one_core_where_they_are_called_and_as_many_as_before_after():
    def openmp():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "openmp"]

    KMeans(1, n_init=1).fit(np.zeros((2, 1)))  # its library is loaded
    with threadpool_limits(2, user_api="openmp"):
        with one_openmp_thread():
            assert set(openmp()) == {1}
        assert set(openmp()) == {2}
