"""Small tables in files, and a way to run the command inside the test process."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from evidentia.app.cli import app


@pytest.fixture
def patients():
    """Two groups of twenty, an identifier with leading zeros, a text column, a constant one, and the truth."""
    rng = np.random.default_rng(3)
    centers = np.repeat([[30.0, 60.0], [60.0, 90.0]], 20, axis=0)
    frame = pd.DataFrame(centers + rng.normal(0, [5, 9], (40, 2)), columns=["age", "weight"]).round(2)
    frame.insert(0, "patient", [f"{i:03d}" for i in range(7, 47)])
    return frame.assign(sex=["f", "m"] * 20, site=3, diagnosis=np.repeat([0, 1], 20))


@pytest.fixture
def table(patients, tmp_path):
    path = tmp_path / "patients.csv"
    patients.to_csv(path, index=False)
    return path


@pytest.fixture
def run():
    """``run("fit", path, ...)`` gives the exit code and everything that was printed."""

    def invoke(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return result.exit_code, result.output

    return invoke
