"""A paper that is not one: quick units that can fail, warn, die or dawdle; worker processes import them from here."""

import os
import signal
import time
import warnings
from pathlib import Path

import numpy as np

from evidentia.datasets import load
from reproduction.claims import Claim, best
from reproduction.exhibit import Cell, Exhibit, Unit

METHODS = ("ECM", "EGMM")


def score(method, data, runs, seed):
    rng = np.random.default_rng([seed, METHODS.index(method), len(data)])
    values = rng.uniform(0.5, 0.7, runs)
    return {"mean": values.mean(), "values": values, "runs": np.int64(runs), "seconds": 0.0}


def touch(directory, name):
    """Leaves a file for each time it was called."""
    Path(directory, f"{name}-{time.time_ns()}").touch()
    return {"name": name}


def touch_and_dawdle(directory, name):
    Path(directory, f"{name}-{os.getpid()}").touch()
    time.sleep(60)
    return {}


def work(seconds):
    """Seconds of CPU."""
    begin = time.process_time()
    while time.process_time() < begin + seconds:
        pass
    return {"seconds": seconds}


def work_without_end(directory):
    touch(directory, "begun")
    work(60)


def complain():
    warnings.warn("it is late", UserWarning, stacklevel=1)
    warnings.warn("it is late", UserWarning, stacklevel=1)
    return {"threads": os.environ["OMP_NUM_THREADS"]}


def fail(why):
    raise ValueError(why)


def lack():
    raise FileNotFoundError("The data set 'magic' is not on this machine. To have it, set EVIDENTIA_DATA.")


def ask_the_library():
    return load("nowhere")


def die():
    os._exit(3)


def interrupt_itself():
    os.kill(os.getpid(), signal.SIGINT)
    return {"alive": True}


def unspeakable():
    return {"model": object()}


def units(quick, seed):
    scores = [
        Unit(f"{data}/{method}", score, {"method": method, "data": data, "runs": 2 if quick else 5, "seed": seed})
        for data in ("Iris", "Wine")
        for method in METHODS
    ]
    return [*scores, Unit("broken", fail, {"why": "the matrix is <singular>"})]


def cells(results):
    papers = {"Iris/ECM": 0.62, "Iris/EGMM": 0.25, "Wine/ECM": 0.99, "Wine/EGMM": None}
    table = [
        Cell(
            *key.split("/"),
            ours=results.get(key, {}).get("mean"),
            deviation=0.0123456789,
            paper=paper,
            reason="the start is another" * (key == "Wine/ECM"),
            runs=2,
            rival=key.endswith("/ECM"),
        )
        for key, paper in papers.items()
    ]
    lost = Cell("Wine", "broken", results.get("broken", {}).get("mean"), paper=0.5)
    return [*table, lost, Cell("Iris", "broken", 0.4, paper=0.9, incomparable="another draw")]


def draw(results):
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(2, 1))
    ax.plot([result["mean"] for result in results.values()])
    return figure


def no_table(results):
    raise KeyError("Iris/FCM")


def egmm_is_best(tables):
    table = tables["fake.table1"]
    return [best(data, {"EGMM": table[data]["EGMM"]}, {"ECM": table[data]["ECM"]}) for data in ("Iris", "Wine")]


CLAIMS = [
    Claim("Table 1", "EGMM is best on <one> set.", ("fake.table1",), egmm_is_best, needed=1),
    Claim("Table 10", "It is quick.", ("fake.table10",), egmm_is_best),
]
EXHIBITS = [
    Exhibit(
        "fake.table1",
        "Scores & more",
        units,
        cells,
        draw,
        notes=lambda results: [f"{len(results)} <units>."],
        minutes=(0.01, 0.02),
        words=("Two <methods>.",),
    ),
    Exhibit("fake.table2", "The same, without a table", lambda quick, seed: units(quick, seed)[:1], no_table),
    Exhibit("fake.table10", "Needs what nobody has", units, cells, data=["magic"]),
    Exhibit("fake.figure1", "A drawing", absent="a drawing, nothing to compute"),
]
