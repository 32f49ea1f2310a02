import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from evidentia.solvers.threads import one_blas_thread


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@one_blas_thread
def threads_while(*, fails=False):
    """What is asked."""
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
    assert threads_while.__doc__ == "What is asked."
