"""What is refused before the work starts: the least of machine, container and address space counts."""

import subprocess
import sys

import pytest

from evidentia.solvers import memory


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    limit.write_text("1000000\n")
    monkeypatch.setattr(memory, "CONTAINER", (str(limit),))
    assert memory.machine_memory() == 1e6
    memory.refuse_beyond_memory(0.79e6, "It", "Shrink it.")
    with pytest.raises(MemoryError, match=r"^It needs about 0\.0 GiB; there are 0\.0 GiB here\. Shrink it\.$"):
        memory.refuse_beyond_memory(0.81e6, "It", "Shrink it.")


def test_a_container_without_a_limit_has_that_of_the_machine(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    limit.write_text("max\n")
    monkeypatch.setattr(memory, "CONTAINER", ())
    alone = memory.machine_memory()
    monkeypatch.setattr(memory, "CONTAINER", (str(limit), str(tmp_path / "not there")))
    assert memory.machine_memory() == alone


def test_the_limit_on_addresses_counts():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30));"
        "from evidentia.solvers.memory import machine_memory; print(machine_memory())"
    )
    assert float(subprocess.check_output([sys.executable, "-c", code], text=True)) == 3 << 30
