"""Memory that a task holds on to, and gives back at its end."""

from types import SimpleNamespace

import pytest

from evidentia.rows import cluster
from evidentia.rows.cluster import MMAP_THRESHOLD, TRIM_THRESHOLD, memory_is_kept


@pytest.fixture
def calls(monkeypatch):
    seen = []
    library = SimpleNamespace(
        mallopt=lambda what, value: seen.append((what, value)), malloc_trim=lambda rest: seen.append(("trim", rest))
    )
    monkeypatch.setattr(cluster.ctypes, "CDLL", lambda name: library)
    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)
    return seen


def test_the_first_task_sets_and_the_last_restores(calls, monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with memory_is_kept():
        begun = list(calls)
        with pytest.raises(ZeroDivisionError), memory_is_kept():
            raise ZeroDivisionError
        assert calls == begun == [(TRIM_THRESHOLD, 128 << 20), (MMAP_THRESHOLD, 32 << 20)]
    assert calls[2:] == [(TRIM_THRESHOLD, 65536), (MMAP_THRESHOLD, 128 << 10), ("trim", 0)]


def test_what_the_user_has_set_comes_back(calls, monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "4096")
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "777")
    with memory_is_kept():
        pass
    assert calls[2:] == [(TRIM_THRESHOLD, 4096), (MMAP_THRESHOLD, 777), ("trim", 0)]


def test_an_allocator_that_was_told_nothing_is_left_alone(calls, monkeypatch):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    with memory_is_kept():
        pass
    assert calls == []


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.setattr(cluster.ctypes, "CDLL", lambda name: SimpleNamespace())
    with memory_is_kept():
        assert cluster._tasks == 0
