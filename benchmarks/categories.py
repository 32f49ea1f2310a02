"""Categories and series: seconds of CatECM, evclust 0.2.1 beside it, and of SoftECM, which the peer has not.

``python -m benchmarks.categories`` compares the methods that read categories on tables with known groups.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.harness import Line, beside_evclust, duration, seconds_by_evclust, stopwatch

LETTERS = np.array(list("abcdefghijkl"))
NUMBERS = list("uvwx")
DRAWS = 4
PEER_ITERATIONS = 5
TOO_SLOW = ("mushroom-like, species", "EVCLUS, Gower")  # all pairs of 23 clusters: minutes for each table
Known = tuple[pd.DataFrame, np.ndarray]


def answers(group: np.ndarray, p: int, sure: float, rng: np.random.Generator) -> pd.DataFrame:
    """Columns of two to five categories, whose frequencies in each group are drawn: clearer if ``sure`` is small."""
    columns = {}
    for column in range(p):
        k = rng.integers(2, 6)
        bounds = rng.dirichlet(np.full(k, sure), size=group.max() + 1).cumsum(axis=1)[:, :-1]
        columns[f"c{column}"] = LETTERS[(rng.uniform(size=(len(group), 1)) > bounds[group]).sum(axis=1)]
    return pd.DataFrame(columns)


def table(kind: str, rng: np.random.Generator) -> Known:
    """A table of categories and its groups."""
    shares = [0.6, 0.3, 0.1] if kind == "uneven groups" else [1 / 6] * 6 if kind == "six groups" else [1 / 3] * 3
    group = rng.choice(len(shares), size=400, p=shares)
    found = answers(group, 10 if kind == "clear groups" else 16, 0.3 if kind == "clear groups" else 1.0, rng)
    if kind == "columns that repeat":
        found = pd.concat([found, *(found.iloc[:, :3].add_prefix(copy) for copy in "de")], axis=1)
    return found, group


def mushrooms(which: str, rng: np.random.Generator) -> Known:
    """Like the mushrooms of UCI: 23 species in two classes, 22 columns of two to twelve categories.

    A species has up to three of the categories of a column. In eight columns, such as those of smell and spores, most
    species of a class have theirs from the same half of all.
    """
    species, poisonous = rng.integers(23, size=400), np.arange(23) % 2
    columns = {}
    for column in range(22):
        k = rng.integers(2, 13)
        halves = np.split(np.arange(k), [k // 2])
        tells = rng.random(23) < 0.8 if column < 8 else np.zeros(23, dtype=bool)
        pools = [halves[poisonous[one]] if tells[one] else np.arange(k) for one in range(23)]
        own = [rng.choice(pool, size=min(len(pool), rng.integers(1, 4)), replace=False) for pool in pools]
        columns[f"c{column}"] = LETTERS[[rng.choice(own[one]) for one in species]]
    return pd.DataFrame(columns), poisonous[species] if which == "classes" else species


MIXED = {"both tell": (1.0, 2.0), "categories tell": (0.3, 0.7), "numbers tell": (5.0, 3.0), "noise beside": (1.0, 2.0)}


def mixed_table(kind: str, rng: np.random.Generator) -> Known:
    """A table of categories and numbers, in different units, and its groups."""
    group = rng.integers(3, size=300)
    sure, apart = MIXED[kind]
    centers = rng.normal(size=(3, 4)) * apart / np.sqrt(2)
    numbers = (centers[group] + rng.normal(size=(300, 4))) * rng.uniform(0.1, 30, size=4)
    found = pd.concat([answers(group, 5, sure, rng), pd.DataFrame(numbers, columns=NUMBERS)], axis=1)
    if kind == "noise beside":
        found = found.assign(**{f"noise{j}": rng.choice(LETTERS[:4], 300) for j in range(3)})
    return found, group


def votes() -> Known:
    from evidentia.datasets import load

    data = load("housevotes84", as_frame=True)
    return data.data, np.asarray(data.target)


def in_quarters(X: pd.DataFrame) -> pd.DataFrame:
    """Columns of numbers cut into four classes of as many rows."""
    return X.assign(
        **{name: pd.qcut(X[name], 4, labels=False).astype(str) for name in X.columns[X.columns.isin(NUMBERS)]}
    )


def fitters() -> dict[str, Callable[[pd.DataFrame, int], Any]]:
    from evidentia import EVCLUS, CatECM, LatentClassMixture, LatentProfileMixture

    return {
        "latent profiles": lambda X, c: LatentProfileMixture(c, random_state=0).fit(X),
        "CatECM": lambda X, c: CatECM(c, random_state=0).fit(X),
        "published": lambda X, c: CatECM(c, form="published", focal_sets="pairs", random_state=0).fit(X),
        "latent classes": lambda X, c: LatentClassMixture(c, random_state=0).fit(in_quarters(X)),
        "EVCLUS, Gower": lambda X, c: EVCLUS(c, metric="gower", random_state=0).fit(X),
    }


def searchers() -> dict[str, Callable[[pd.DataFrame, int], Any]]:
    """Methods that read both kinds of columns, the number of clusters left to them."""
    from evidentia import EVCLUS, CatECM, LatentProfileMixture, select

    return {
        "latent profiles": lambda X, c: LatentProfileMixture(random_state=0).fit(X),
        "CatECM": lambda X, c: select(X, CatECM(), random_state=0).estimator_,
        "EVCLUS, Gower": lambda X, c: select(X, EVCLUS(metric="gower"), random_state=0).estimator_,
    }


def mixed_tables() -> dict[str, list[Known]]:
    return {
        f"mixed: {kind}": [mixed_table(kind, np.random.default_rng([9, at, draw])) for draw in range(DRAWS)]
        for at, kind in enumerate(MIXED)
    }


def compare() -> None:
    """Print the adjusted Rand index of each method, the mean of some draws of each kind of table."""
    kinds: dict[str, list[Known]] = {"votes": [votes()]}
    for at, kind in enumerate(["clear groups", "vague groups", "uneven groups", "columns that repeat", "six groups"]):
        kinds[kind] = [table(kind, np.random.default_rng([at, draw])) for draw in range(DRAWS)]
    for which in ("classes", "species"):
        kinds[f"mushroom-like, {which}"] = [mushrooms(which, np.random.default_rng([8, draw])) for draw in range(DRAWS)]
    kinds |= mixed_tables()
    _print_scores(kinds, fitters())
    _print_scores(mixed_tables(), searchers())


def _print_scores(kinds: dict[str, list[Known]], methods: dict[str, Callable[[pd.DataFrame, int], Any]]) -> None:
    print("|", " | ".join(["table", *methods]), "|")
    for kind, tables in kinds.items():
        means = [
            "–" if (kind, name) == TOO_SLOW else f"{np.mean([score(fit, kind, *one) for one in tables]):.2f}"
            for name, fit in methods.items()
        ]
        print("|", " | ".join([kind, *means]), "|", flush=True)


def score(fit: Callable[[pd.DataFrame, int], Any], kind: str, X: pd.DataFrame, group: np.ndarray) -> float:
    if kind == "votes":  # pairs without a question that both answered have no dissimilarity
        kept = (X.notna().sum(axis=1) > 8).to_numpy()
        X, group = X[kept], group[kept]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(adjusted_rand_score(group, fit(X, len(set(group))).labels_))
        except ValueError:  # the published form reads no numbers
            return float("nan")


def small_table(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return answers(rng.integers(3, size=n), 10, 0.6, rng)


def peer_seconds(n: int) -> dict[str, float | str]:
    """Seconds of evclust's ``catecm`` for some iterations, or why it failed."""
    from evclust.catecm import catecm

    X = small_table(n).to_numpy(dtype=object)
    begin = time.process_time()
    try:
        catecm(X, 3, type="full", maxit=PEER_ITERATIONS, epsi=0, disp=False)
        return {"CatECM": time.process_time() - begin}
    except Exception as error:
        return {"CatECM": f"{type(error).__name__}: {error}"}


def profile_line(n: int) -> Line:
    """An iteration of latent profiles and of scikit-learn's diagonal mixture, which has a column for each category."""
    from sklearn.mixture import GaussianMixture

    from evidentia import LatentProfileMixture

    rng = np.random.default_rng(2)
    group = rng.integers(5, size=n)
    X = answers(group, 10, 0.6, rng).assign(**{f"x{j}": group + rng.normal(size=n) for j in range(10)})
    coded = pd.get_dummies(X).to_numpy(dtype=float)
    settings: dict[str, Any] = {"tol": 0, "n_init": 1, "random_state": 0}

    def an_iteration(make: Callable[[int], Any], table: Any) -> float:
        few, many = (stopwatch(lambda steps=steps: make(steps).fit(table), repeats=2) for steps in (2, 22))
        return (many - few) / 20

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of iterations is fixed on purpose
        mine = an_iteration(lambda steps: LatentProfileMixture(5, init="random", max_iter=steps, **settings), X)
        other = an_iteration(
            lambda steps: GaussianMixture(
                5, covariance_type="diag", init_params="random_from_data", max_iter=steps, **settings
            ),
            coded,
        )
    ratio = other / mine
    what = "latent profiles, an iteration (peer: scikit-learn's diagonal mixture, one-hot)"
    return Line(what, f"{n:,} x 20, c=5", duration(mine), duration(other), f"{ratio:.2f} x", "> 0.5 x", ratio > 0.5)


def lines(quick: bool, peer_python: str) -> Iterator[Line]:
    from evidentia import CatECM, SoftECM

    rng = np.random.default_rng(0)
    n = 5_000 if quick else 100_000
    X = answers(rng.integers(5, size=n), 20, 0.6, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        seconds = stopwatch(lambda: CatECM(5, n_init=1, random_state=0).fit(X), repeats=1)
    yield Line("CatECM, one start", f"{n:,} x 20, c=5", duration(seconds), "", "", "< 10 s", seconds < 10)
    yield profile_line(n)
    n = 100 if quick else 300
    peer = seconds_by_evclust("benchmarks.categories", "peer_seconds", n, python=peer_python)
    model, X = CatECM(3, focal_sets="full", n_init=1, max_iter=PEER_ITERATIONS, tol=0, random_state=0), small_table(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of iterations is fixed on purpose
        seconds = stopwatch(lambda: model.fit(X), repeats=10)
    what = f"CatECM, {PEER_ITERATIONS} iterations (peer: evclust)"
    yield beside_evclust(what, f"{n:,} x 10, c=3", seconds, peer.get("CatECM"), 10)
    n = 30 if quick else 200
    series = [np.sin(np.linspace(0, 6 + 3 * (i % 3), t)) for i, t in enumerate(rng.integers(40, 60, size=n))]
    seconds = stopwatch(lambda: SoftECM(3, metric="dtw", random_state=0).fit(series), repeats=1)
    yield Line("SoftECM on series, ten starts", f"{n} x 50, c=3", duration(seconds), "", "", "< 10 s", seconds < 10)


if __name__ == "__main__":
    compare()
