"""Kill an exploration at random moments, each in a process of its own, and take it up again: killed.py FOLDER TIMES.

After each step the process writes which step is the present one, as a page would show it; what was written must be
there afterwards. What is printed is how many steps had been told, and how often a step that was not told yet was kept.
"""

import json
import os
import random
import signal
import sys
import time
from types import MappingProxyType

import numpy as np
import pandas as pd

from evidentia.app.explorer import Exploration, Settings


def table():
    rng = np.random.default_rng(0)
    xy = np.repeat([[0, 0], [8, 8]], 15, axis=0) + rng.normal(size=(30, 2))
    return pd.DataFrame(xy, columns=["u", "v"])


SETTINGS = Settings("cecm", 2, ("u", "v"), parameters=MappingProxyType({"n_init": 1}))


def stand(exploration):
    return [exploration.at, exploration.step.words, exploration.partition_.masses.sum(axis=0).round(9).tolist()]


def work_for_ever(folder, seed, tell):
    """Say, undo and redo, and tell of each step."""
    exploration, chance = Exploration(table(), SETTINGS, folder=folder), random.Random(seed)
    exploration.begin()
    while True:
        os.write(tell, (json.dumps(stand(exploration)) + "\n").encode())
        may = ["join"] + ["undo"] * (exploration.at > 0) + ["redo"] * (exploration.at + 1 < len(exploration.steps))
        what = chance.choice(may)
        one = chance.choice([0, 15])
        pair = chance.sample(range(one, one + 15), 2)
        exploration.join(pair) if what == "join" else getattr(exploration, what)()


def kill_once(folder, seed):
    """What was told last, and what the folder holds."""
    heard, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            work_for_ever(folder, seed, tell)
        finally:
            os._exit(1)
    os.close(tell)
    with os.fdopen(heard) as lines:
        chance = random.Random(seed)
        told = [lines.readline() for _ in range(chance.randint(1, 8))]
        time.sleep(chance.uniform(0, 0.1))
        os.kill(child, signal.SIGKILL)
        told += lines
    os.waitpid(child, 0)
    whole = [json.loads(line) for line in told if line.endswith("\n")]
    return whole, stand(Exploration(table(), folder=folder))


if __name__ == "__main__":
    folder, times = sys.argv[1], int(sys.argv[2])
    steps = ahead = 0
    for seed in range(times):
        told, kept = kill_once(folder, seed)
        steps += len(told)
        if kept != told[-1]:
            assert abs(kept[0] - told[-1][0]) == 1 or kept[1] != told[-1][1], (told[-1], kept)
            assert abs(kept[0] - told[-1][0]) <= 1, (told[-1], kept)
            ahead += 1
    print(json.dumps({"told": steps, "ahead": ahead}))
