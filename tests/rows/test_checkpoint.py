"""A fit that goes on after its process was killed: the same bits, other data and settings refused."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from evidentia import EGMM
from evidentia.archive import write_archive
from evidentia.rows import checkpoint
from evidentia.rows.checkpoint import Checkpoint
from evidentia.rows.numbered import NumberedRows
from evidentia.rows.passes import reduce_rows
from evidentia.rows.source import TransformedRows
from evidentia.solvers.coordinates import moments_of
from odd_rows import OddRows

pytestmark = pytest.mark.filterwarnings("ignore:EGMM with 3 clusters reached max_iter")
HERE = Path(__file__).parents[1]
SETTINGS = {"model": "VVI", "focal_sets": "pairs", "random_state": 0, "tol": 1e-12, "max_iter": 40}


def table(n=60_000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) + 2.5 * rng.integers(3, size=n)[:, None]


def same(a, b):
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    np.testing.assert_array_equal(a.weights_, b.weights_)
    np.testing.assert_array_equal(a.criterion_trace_, b.criterion_trace_)


def test_a_fit_that_was_stopped_goes_on_and_ends_at_the_same_bits(tmp_path, monkeypatch):
    X, path = table(), tmp_path / "run.npz"
    whole = EGMM(3, **SETTINGS).fit(OddRows(X))
    passes, made = [], []

    class Stopped(Exception):
        pass

    def counted(self, digest, found, keep=Checkpoint.keep):
        passes.append(digest)
        keep(self, digest, found)
        if len(passes) == 6:
            raise Stopped

    monkeypatch.setattr(Checkpoint, "keep", counted)
    with pytest.raises(Stopped):
        EGMM(3, **SETTINGS).fit(OddRows(X), checkpoint=path)
    before = path.stat().st_size
    assert before < 50_000
    monkeypatch.setattr(Checkpoint, "keep", lambda self, digest, found: made.append(digest))
    resumed = EGMM(3, **SETTINGS).fit(OddRows(X), checkpoint=path)
    same(resumed, whole)
    assert not set(passes[1:]) & set(made)  # all but the first pass, which has the sample of the rows


def test_a_fit_without_a_seed_goes_on_with_the_one_it_drew(tmp_path):
    X, path = table(), tmp_path / "run.npz"
    settings = {**SETTINGS, "random_state": None, "init": "random", "max_iter": 3}
    a = EGMM(3, **settings).fit(OddRows(X), checkpoint=path)
    b = EGMM(3, **settings).fit(OddRows(X), checkpoint=path)
    same(a, b)


def test_another_fit_is_refused(tmp_path):
    X, path = table(), tmp_path / "run.npz"
    EGMM(3, **SETTINGS).fit(OddRows(X), checkpoint=path)
    with pytest.raises(ValueError, match=r"run.npz is the checkpoint of a fit with other settings: 'n_clusters=3'"):
        EGMM(4, **SETTINGS).fit(OddRows(X), checkpoint=path)
    with pytest.raises(ValueError, match=r"with other rows.* delete this one to begin anew"):
        EGMM(3, **SETTINGS).fit(OddRows(X + 1), checkpoint=path)
    same(
        EGMM(3, **SETTINGS, n_jobs=2, verbose=0).fit(OddRows(X), checkpoint=path),
        EGMM(3, **SETTINGS).fit(OddRows(X)),
    )


def test_a_table_in_memory_has_no_checkpoint(tmp_path):
    with pytest.raises(TypeError, match="nothing to go on with"):
        EGMM(3).fit(table(), checkpoint=tmp_path / "run.npz")


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"run\.npz"):
        Checkpoint(path, "rows", "settings")
    kept = Checkpoint(tmp_path / "good.npz", "rows", "settings")
    kept.keep("a", moments_of(table(50)))
    kept.write()
    content = dict(np.load(tmp_path / "good.npz"))
    for name in ("format", "version", "digest"):
        del content[name]
    write_archive(path, checkpoint.FORMAT, {**content, "sums": np.array(["a os:system"])}, {})
    with pytest.raises(ValueError, match="'os:system' is no class of evidentia"):
        Checkpoint(path, "rows", "settings")


def test_it_is_written_when_a_minute_has_passed(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    kept = Checkpoint(tmp_path / "run.npz", "rows", "settings")
    kept.keep("a", moments_of(table(50)))
    assert not kept.path.exists()
    now[0] = 61.0
    kept.keep("b", moments_of(table(60)))
    assert len(Checkpoint(kept.path, "rows", "settings").sums) == 2
    kept.keep("large", moments_of(np.zeros((2, 400))))
    assert "large" not in kept.sums


def test_a_full_disk_is_told_once_and_the_fit_goes_on(tmp_path, monkeypatch):
    kept = Checkpoint(tmp_path / "run.npz", "rows", "settings")
    kept.write()
    before = kept.path.read_bytes()
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)

    def full(*arguments, **content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    rows = OddRows(table(500))
    with (
        pytest.warns(UserWarning, match=r"could not be written .*No space left.*run\.npz") as told,
        kept,
    ):
        found = [reduce_rows(some_moments, rows, mixing) for mixing in (True, False)]
    assert len(told) == 1
    assert len(found) == 2
    assert kept.path.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.npz"]


def some_moments(chunk, mixing):
    return moments_of(chunk.table, None, mixing)


def test_a_pass_is_kept_for_the_same_function_and_arguments_only(tmp_path):
    rows, kept = OddRows(table(500)), Checkpoint(tmp_path / "run.npz", "rows", "settings")
    with kept:
        a, b = reduce_rows(some_moments, rows, True), reduce_rows(some_moments, rows, True)
        assert kept.n_found == 1
        reduce_rows(some_moments, rows, False)
        assert kept.n_found == 1
    np.testing.assert_array_equal(a.squares, b.squares)
    assert len(kept.sums) == 2


class Doubled:
    def transform(self, X):
        return 2 * X


def test_a_pass_over_changed_rows_is_another_one(tmp_path):
    """Rows left out, as linked ones are, or in other columns have the fingerprint of their source."""
    plain = OddRows(table(500))
    counted = NumberedRows(plain)
    others = [
        counted,
        counted.without(np.array([3])),
        counted.without(np.array([4])),
        TransformedRows(plain, Doubled()),
    ]
    with Checkpoint(tmp_path / "run.npz", "rows", "settings"):
        found = [reduce_rows(some_moments, rows, True) for rows in [plain, *others]]
    for rows, kept in zip(others, found[1:], strict=True):
        np.testing.assert_array_equal(kept.mean, reduce_rows(some_moments, rows, True).mean)
    assert found[2].total == found[3].total == 499


SCRIPT = """
import sys, time, warnings
import numpy as np
from odd_rows import OddRows
from evidentia import EGMM
from evidentia.archive import write_archive
from evidentia.rows import checkpoint

checkpoint.EVERY = 0.0
warnings.simplefilter("ignore")  # it ends before it has converged

class Slow(OddRows):
    def read(self, handle):
        time.sleep(0.01)
        return super().read(handle)

rng = np.random.default_rng(0)
X = rng.normal(size=(60_000, 3)) + 2.5 * rng.integers(3, size=60_000)[:, None]
model = EGMM(3, model="VVI", focal_sets="pairs", random_state=0, tol=1e-12, max_iter=40)
model.fit(Slow(X), checkpoint=sys.argv[1])
print(model.cluster_centers_.tobytes().hex())
"""


def test_a_killed_process_loses_at_most_a_pass(tmp_path):
    script, path = tmp_path / "fit.py", tmp_path / "run.npz"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, str(script), str(path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not path.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    resumed = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip()
    whole = EGMM(3, **SETTINGS).fit(OddRows(table()))
    assert resumed == whole.cluster_centers_.tobytes().hex()
