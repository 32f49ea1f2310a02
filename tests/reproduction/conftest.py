"""The paper that is not one, as if it were the only one."""

import sys

import pytest

import fake_exhibits
from reproduction import catalog
from reproduction.running import Failure, Measurement


@pytest.fixture
def fake_paper(monkeypatch):
    monkeypatch.setitem(sys.modules, "reproduction.fake", fake_exhibits)
    monkeypatch.setattr(catalog, "PAPERS", (catalog.Paper("fake", "Not <a> paper", 10, 1),))
    return fake_exhibits


@pytest.fixture
def outcomes():
    """Of the units of the fake paper, without any process."""
    found = {}
    for at, unit in enumerate(fake_exhibits.units(True, 0)[:-1]):
        found[unit.fingerprint] = Measurement({"mean": [0.62, 0.25, 0.64, 0.5][at]}, 1.5, ("late",) * (at == 1))
    found[fake_exhibits.units(True, 0)[-1].fingerprint] = Failure("ValueError: the matrix is <singular>")
    return found
