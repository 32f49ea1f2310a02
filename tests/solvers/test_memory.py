"""What is refused before the work starts: the least of machine, container and address space counts."""

import subprocess
import sys

import numpy as np
import pytest

from evidentia import CECM, ECM, EGMM, PairwiseConstraints
from evidentia.prototypes import CFCM, CatECM, SoftECM
from evidentia.solvers import memory
from evidentia.views import WMVEC


def groups(monkeypatch, tmp_path, lines, **limits):
    """Control groups of a process: their lines, and the limits in their files."""
    for path, limit in limits.items():
        file = tmp_path / path.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        name = "memory.limit_in_bytes" if path.startswith("memory") else "memory.max"
        (file.parent / name).write_text(f"{limit}\n")
    (tmp_path / "lines").write_text(lines)
    monkeypatch.setattr(memory, "GROUPS", tmp_path)
    monkeypatch.setattr(memory, "GROUPS_OF_PROCESS", tmp_path / "lines")


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    groups(monkeypatch, tmp_path, "0::/\n", limit=1_000_000)
    assert memory.machine_memory() == 1e6
    memory.refuse_beyond_memory(0.79e6, "It", "Shrink it.")
    with pytest.raises(MemoryError, match=r"^It needs about 0\.0 GiB; there are 0\.0 GiB here, .* else\. Shrink it\.$"):
        memory.refuse_beyond_memory(0.81e6, "It", "Shrink it.")


def test_a_container_without_a_limit_has_that_of_the_machine(tmp_path, monkeypatch):
    groups(monkeypatch, tmp_path, "")
    alone = memory.machine_memory()
    groups(monkeypatch, tmp_path, "0::/user/job\n", limit="max", user__job__limit="max")
    assert memory.machine_memory() == alone


@pytest.mark.parametrize(
    ("lines", "limits"),
    [
        ("0::/slurm/job_7/step_0\n", {"slurm__job_7__limit": 3_000_000, "slurm__limit": 9_000_000}),
        ("4:memory:/slurm/job_7\n2:cpu:/\n", {"memory__slurm__job_7__limit": 3_000_000, "memory__limit": 9_000_000}),
    ],
    ids=["version 2", "version 1"],
)
def test_the_limit_of_a_job_counts_wherever_it_is_set(lines, limits, tmp_path, monkeypatch):
    groups(monkeypatch, tmp_path, lines, **limits)
    assert memory.machine_memory() == 3e6


LABELS = np.arange(1000) % 2
LINKS = PairwiseConstraints.sample(LABELS, 100_000, random_state=0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: PairwiseConstraints.from_labels(LABELS), "on 499,500 links .* Take links='spanning', or"),
        (lambda: PairwiseConstraints.from_knowledge(LABELS.tolist()), "on 499,500 links .* knowledge of fewer objects"),
        (lambda: PairwiseConstraints.sample(LABELS, 200_000), "on 200,000 links .* Draw fewer links"),
        (lambda: PairwiseConstraints.from_labels(LABELS, links="spanning").closure(), "on 499,500 links .* Close"),
        (lambda: PairwiseConstraints(np.zeros((200_000, 2), int), [True] * 200_000), "on 200,000 links .* Give fewer"),
        *(
            (lambda method=method: method(2).fit(np.c_[LABELS], constraints=LINKS), f"{method.__name__} with 100,000")
            for method in (CECM, CFCM)
        ),
    ],
)
def test_links_that_would_not_fit_are_refused_before_they_are_made(make, said, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: 15e6)
    with pytest.raises(MemoryError, match=said):
        make()


def test_what_is_refused_is_told_in_gib(monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: 10.0 * 2**30)
    memory.refuse_beyond_memory(8.0 * 2**30, "It", "Take less.")
    kept = r"^It needs about 8\.1 GiB; there are 10\.0 GiB here, of which a fifth is for all else\. Take less\.$"
    with pytest.raises(MemoryError, match=kept):
        memory.refuse_beyond_memory(8.1 * 2**30, "It", "Take less.")
    with pytest.raises(MemoryError, match=r"^It needs about 10\.2 GiB; there are 10\.0 GiB here\. Take less\.$"):
        memory.refuse_beyond_memory(10.2 * 2**30, "It", "Take less.")


def test_the_limit_on_addresses_counts():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 4 << 30));"
        "from evidentia.solvers.memory import machine_memory; print(machine_memory())"
    )
    assert float(subprocess.check_output([sys.executable, "-c", code], text=True)) == 3 << 30


@pytest.mark.parametrize(
    "model", [ECM(5, focal_sets="full"), EGMM(5, model="EEE", focal_sets="full")], ids=["ECM", "EGMM"]
)
def test_masses_that_would_not_fit_are_refused_before_the_fit(model, monkeypatch):
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    monkeypatch.setattr(memory, "machine_memory", lambda: 1.6e6)
    with pytest.raises(MemoryError, match=r"with 3[12] focal sets for each of 3,000 rows needs .*open_rows"):
        model.fit(X)
    assert not hasattr(model, "criterion_")
    model.set_params(focal_sets="singletons", n_init=1, tol=1e-3)
    assert len(model.fit(X).partition_) == 3_000  # fewer sets have room


@pytest.mark.parametrize("kind", [CatECM, SoftECM, WMVEC])
def test_so_are_those_of_methods_that_read_no_rows_beyond_memory(kind, monkeypatch):
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    monkeypatch.setattr(memory, "machine_memory", lambda: 1.6e6)
    refused = rf"^{kind.__name__} with 32 focal sets for each of 3,000 rows .*'pairs'\)\.$"
    with pytest.raises(MemoryError, match=refused):
        kind(5, focal_sets="full").fit([X, X] if kind is WMVEC else X)


# -- blocks of rows cover a table once, and are as large as their memory allows ---------------------------------------


@pytest.mark.parametrize(
    ("n_rows", "width", "n_bytes", "sizes"),
    [
        (300_000, 1, None, [131_072, 131_072, 37_856]),
        (140_000, 0, None, [131_072, 8_928]),
        (40, 10**9, None, [16, 16, 8]),
        (10, 2, 512, [10]),
        (70, 2, 512, [32, 32, 6]),
        (0, 3, None, []),
    ],
)
def test_blocks_by_hand(n_rows, width, n_bytes, sizes):
    blocks = list(memory.row_blocks(n_rows, width, n_bytes))
    assert [block.stop - block.start for block in blocks] == sizes
    assert [i for block in blocks for i in (block.start, block.stop)][1:-1:2] == [block.start for block in blocks][1:]
