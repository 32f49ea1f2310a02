"""Files after damage, several writers, sudden death, a full disk and a read-only folder: the short form."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import torture

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", torture.KINDS)
def test_a_damaged_file_is_told_or_is_read_as_it_was_written(name, tmp_path):
    """Every byte of the small files in turn; of the larger ones some, others in each bit."""
    kind = torture.KINDS[name]
    kind.write(tmp_path / name, 0)
    size = (tmp_path / name).stat().st_size
    stride = max(1, size // 1500)
    counts = torture.damage(kind, tmp_path, stride=stride, masks=(0xFF, 0x01))
    counts += torture.damage(kind, tmp_path, stride=7 * stride, masks=(0x02, 0x10, 0x20), start=stride // 2)
    assert counts["flipped, told"] > 100
    assert counts["cut, told"] > 50
    assert not counts["cut, whole"] or name.endswith((".csv", ".json"))  # but for the last end of a line


def test_writers_killed_together_or_without_room_leave_the_old_file_or_the_new_one():
    command = [sys.executable, "torture.py", "--kills", "60", "--writes", "30", "--no-damage"]
    paths = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command, cwd=HERE, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = {}
    for line in done.stdout.splitlines():
        found |= json.loads(line)
    assert found.keys() == torture.KINDS.keys()
    for counts in found.values():
        assert counts["killed, whole"] == 10
        assert counts["writes of several"] == 120
        assert counts["no room, told"] == 5
        assert counts["read-only, told"] == 1
