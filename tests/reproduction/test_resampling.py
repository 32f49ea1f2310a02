"""Fits of an ensemble to half of the rows are about as often right as they agree."""

import inspect
import json

import pytest

from evidentia import ensemble
from reproduction.defaults.resampling import RECORD, SEEDS, SHAPES, SHARES, SIZES, Answers, measure, reduce_rows

TABLES = [("round, near", 100), ("elongated", 300)]


def test_half_of_the_rows_is_nearer_to_calibrated_than_eight_tenths():
    error = {
        rows: reduce_rows([measure(*table, rows, seed, n_fits=20) for table in TABLES for seed in range(4)]).error
        for rows in SHARES
    }
    assert abs(error[0.5]) < 0.06
    assert error[0.8] > abs(error[0.5]) + 0.06


def test_the_default_is_the_share_that_the_record_shows_calibrated():
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    measured = {(one["groups"], one["objects"], one["rows"]) for one in record["measured"]}
    assert measured == {(shape, n, rows) for shape in SHAPES for n in SIZES for rows in SHARES}
    assert record["tables"] == SEEDS
    total = {
        rows: reduce_rows([Answers(m["pairs"], m["said"], m["right"]) for m in record["measured"] if m["rows"] == rows])
        for rows in SHARES
    }
    default = inspect.signature(ensemble).parameters["rows"].default
    assert default == min(SHARES, key=lambda rows: abs(total[rows].error))


def test_the_record_is_what_the_measurement_gives():
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    kept = next(m for m in record["measured"] if (m["groups"], m["objects"], m["rows"]) == ("unequal spread", 100, 0.5))
    again = reduce_rows([measure("unequal spread", 100, 0.5, seed) for seed in range(SEEDS)])
    assert again.pairs == pytest.approx(kept["pairs"], rel=0.02)
    assert (again.said, again.right) == pytest.approx((kept["said"], kept["right"]), rel=0.02)
