import io
import tracemalloc
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.archive import _array, write_archive
from evidentia.partition import storage


@pytest.fixture
def partition():
    masses = np.random.default_rng(0).dirichlet([1, 2, 3], size=4)
    return CredalPartition(
        masses, FocalSets(60, [{0}, {59, 3}, {}]), object_names=["a", "β", "c c", ""], cluster_names=map_names()
    )


def map_names():
    return [f"cluster {k}" for k in range(60)]


def test_what_is_saved_is_loaded(partition, tmp_path):
    path = partition.save(tmp_path / "deep" / "partition.npz")
    again = CredalPartition.load(path)
    np.testing.assert_array_equal(again.masses, partition.masses)
    assert again.focal_sets == partition.focal_sets
    assert again.object_names == partition.object_names
    assert again.cluster_names == partition.cluster_names
    assert not list(path.parent.glob("*.part"))
    bare = CredalPartition([[1.0]], FocalSets(1, [{0}]))
    assert CredalPartition.load(bare.save(tmp_path / "bare.npz")).object_names is None


def test_any_program_can_read_the_file(partition, tmp_path):
    with np.load(partition.save(tmp_path / "p.npz"), allow_pickle=False) as archive:
        assert str(archive["format"]) == "evidentia-partition"
        assert int(archive["version"]) == 1
        assert archive["masks"].tolist() == [1, (1 << 59) | 8, 0]


def written(path, content):
    path.write_bytes(content)
    return path


def sealed(path, **content):
    """A file with a digest that fits and content that does not."""
    return write_archive(path, storage.FORMAT, content, {})


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda p: p / "none.npz", FileNotFoundError, "There is no file"),
        (lambda p: written(p / "x.npz", b"a,b\n1,2\n"), ValueError, "damaged or not an evidentia partition"),
        (lambda p: written(p / "x.npz", b""), ValueError, "damaged or not an evidentia partition"),
        (lambda p: written(p / "x.npz", b"PK\x03\x04 rubbish"), ValueError, "damaged or not an evidentia partition"),
        (lambda p: np.savez(p / "x.npz", a=1) or p / "x.npz", ValueError, "not one written by evidentia"),
        (lambda p: np.save(p / "x.npy", np.ones(3)) or p / "x.npy", ValueError, "an .npz file is a zip archive"),
        (
            lambda p: np.savez(p / "x.npz", format="evidentia-partition", version=9) or p / "x.npz",
            ValueError,
            "written by a newer evidentia",
        ),
        (
            lambda p: np.savez(p / "x.npz", format="evidentia-partition", version=1, masks=[1]) or p / "x.npz",
            ValueError,
            "its digest does not fit",
        ),
        (
            lambda p: np.savez(p / "x.npz", format="evidentia-partition", masses=[[1.0]]) or p / "x.npz",
            ValueError,
            "its digest does not fit",
        ),
        (
            lambda p: np.savez(p / "x.npz", format=["evidentia-partition"], version=1) or p / "x.npz",
            ValueError,
            "not one written by evidentia",
        ),
        (lambda p: sealed(p / "x.npz", masks=[1]), ValueError, "it lacks n_clusters"),
        (lambda p: sealed(p / "x.npz", masks=3, masses=[[1.0]], n_clusters=1), ValueError, "x.npz is damaged"),
        (lambda p: sealed(p / "x.npz", masks=[1], masses=[["a"]], n_clusters=1), ValueError, "x.npz is damaged"),
        (lambda p: sealed(p / "x.npz", masks=[1], masses=[[0.5]], n_clusters=1), ValueError, "x.npz is damaged"),
        (lambda p: sealed(p / "x.npz", masks=[1], masses=[[1.0]], n_clusters=[1, 2]), ValueError, "x.npz is damaged"),
        (
            lambda p: sealed(p / "x.npz", masks=[1], masses=[[1.0 + 0.5j]], n_clusters=1),
            ValueError,
            "x.npz is damaged .* 'masses' must be real numbers",
        ),
        (
            lambda p: sealed(p / "x.npz", masks=[1], masses=[[1.0]], n_clusters=1, object_names=[["a", "b"]]),
            ValueError,
            "x.npz is damaged .* its object_names have 2 dimensions",
        ),
        (
            lambda p: sealed(p / "x.npz", masks=[1], masses=[[1.0]], n_clusters=1, cluster_names="a"),
            ValueError,
            "x.npz is damaged .* its cluster_names have 0 dimensions",
        ),
        (
            lambda p: sealed(p / "x.npz", masks=[1], masses=[[1.0]], n_clusters=1, version=-1),
            ValueError,
            "x.npz is damaged .* its file version is -1, and versions begin with 1",
        ),
        (
            lambda p: np.savez(p / "x.npz", a=np.array([{}], dtype=object)) or p / "x.npz",
            ValueError,
            "not one written by evidentia",
        ),
        (
            lambda p: np.savez(p / "x.npz", format=np.array("evidentia-partition", dtype=object)) or p / "x.npz",
            ValueError,
            "holds Python objects",
        ),
    ],
)
def test_a_foreign_or_damaged_file_is_explained(make, error, message, tmp_path):
    with pytest.raises(error, match=message):
        CredalPartition.load(make(tmp_path))


def test_a_truncated_file_is_explained(partition, tmp_path):
    path = partition.save(tmp_path / "p.npz")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match="damaged"):
        CredalPartition.load(path)


def test_writers_do_not_meet_and_leave_nothing_behind(tmp_path):
    """Several save to one path while others read it: every reader finds a whole file."""
    path, partition = tmp_path / "shared.npz", CredalPartition([[0.25, 0.75]] * 40, FocalSets(2, [{0}, {1}]))
    partition.save(path)

    def save(_):
        partition.save(path)
        return CredalPartition.load(path).masses.sum()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(save, range(60))) == [40.0] * 60
    assert [file.name for file in tmp_path.iterdir()] == ["shared.npz"]


def test_a_failure_while_writing_keeps_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "kept.npz"
    CredalPartition([[1.0, 0.0]], FocalSets(2, [{0}, {1}])).save(path)
    before = path.read_bytes()

    def full(*arguments, **content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*kept.npz'"):
        CredalPartition([[0.0, 1.0]], FocalSets(2, [{0}, {1}])).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["kept.npz"]


def test_a_file_that_unpacks_to_more_than_itself_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, format="evidentia-partition", version=1, masses=np.zeros((2_000_000, 8)))
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"unpacks from .* to 128,000,.* not compressed"):
        CredalPartition.load(path)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_a_file_that_lies_about_its_size_is_refused(tmp_path):
    """Entries that lie over each other, a directory that says less than there is, and a header that says more."""
    path = CredalPartition([[1.0]] * 500, FocalSets(1, [{0}])).save(tmp_path / "p.npz")
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("masses.npy")
    for size in (entry.file_size // 2, 2 * entry.file_size):  # in the directory only
        at = whole.rindex(entry.file_size.to_bytes(4, "little"))
        path.write_bytes(whole[:at] + size.to_bytes(4, "little") + whole[at + 4 :])
        with pytest.raises(ValueError, match=r"p\.npz is damaged"):
            CredalPartition.load(path)
    promise = io.BytesIO()
    np.lib.format.write_array_header_1_0(promise, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with pytest.raises(ValueError, match=r"an array of \(1000000000000,\)"):
        _array(bytearray(promise.getvalue() + bytes(80)))


def test_the_same_partition_has_the_same_bytes(partition, tmp_path):
    a, b = (partition.save(tmp_path / name).read_bytes() for name in ("a.npz", "b.npz"))
    assert a == b
