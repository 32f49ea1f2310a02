"""Bootstrap of a mixture: how much its posterior probabilities would move with other data.

Any mixture can be bootstrapped that offers two methods::

    class MyMixture(BaseEstimator):
        def fit(self, X, y=None, sample_weight=None): ...    # weights are counts of copies
        def predict_proba(self, X): ...                      # (n_samples, n_classes), rows sum to one

and, for the parametric bootstrap, ``sample(n_samples, random_state=...) -> (X, component)``. It is then cloned and
fitted once for each replicate. A mixture that can do better offers ``fit_replicates(X, weights)`` with weights of shape
(n_replicates, n_samples), which gives an object like :class:`Refits`: ``valid``, ``posteriors(X)`` and, when numbers of
clusters are averaged over, ``n_clusters``. Classes need no matching between replicates, and replicates may differ in
their number of classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from tqdm.auto import tqdm

from evidentia._warnings import warn_user
from evidentia.solvers.callbacks import subtask
from evidentia.solvers.descent import InterruptedFit

CHUNK = 100  # replicates fitted together: what an interrupt may lose


class ReplicateBatch(Protocol):
    """Some fitted replicates of a mixture."""

    @property
    def valid(self) -> np.ndarray:
        """Whether each could be fitted."""
        ...

    @property
    def n_clusters(self) -> np.ndarray:
        """Number of clusters of each valid replicate."""
        ...

    def posteriors(self, X: np.ndarray) -> np.ndarray:
        """Posterior probabilities under the valid replicates, shape (n_classes, n_samples, n_valid)."""
        ...


def side_by_side(parts: list[np.ndarray]) -> np.ndarray:
    r"""Posteriors (n_classes, n_samples, n_replicates) along the last axis; zeros where there are fewer classes.

    Classes of probability zero change nothing: two objects share a class with probability :math:`\sum_k p_{ik} p_{jk}`.
    """
    most = max(len(part) for part in parts)
    filled = [np.pad(part, ((0, most - len(part)), (0, 0), (0, 0))) if len(part) < most else part for part in parts]
    return np.concatenate(filled, axis=2)


class Refits:
    """Replicates of any mixture, each an estimator of its own; None stands for one that failed."""

    def __init__(self, models: list[Any]):
        self.models = [model for model in models if model is not None]
        self.valid = np.array([model is not None for model in models])

    def to_fields(self) -> dict[str, Any]:
        """What the file of a model holds of it, see :mod:`evidentia.storage`."""
        models = iter(self.models)
        return {"models": [next(models) if valid else None for valid in self.valid]}

    @classmethod
    def from_fields(cls, models: list[Any]) -> Refits:
        return cls(models)

    @property
    def n_clusters(self) -> np.ndarray:
        return np.array([model.n_clusters_ for model in self.models])

    def posteriors(self, X: np.ndarray) -> np.ndarray:
        return side_by_side([model.predict_proba(X).T[:, :, None] for model in self.models])


class Bootstrap(NamedTuple):
    """Replicates finished so far, in the order of their seeds."""

    chunks: tuple[ReplicateBatch, ...] = ()

    @property
    def n_drawn(self) -> int:
        return sum(len(chunk.valid) for chunk in self.chunks)

    @property
    def n_degenerate(self) -> int:
        """Replicates left out because a component collapsed or the fit failed."""
        return sum(int((~chunk.valid).sum()) for chunk in self.chunks)

    @property
    def n_clusters(self) -> np.ndarray:
        """Number of clusters of each valid replicate."""
        return np.concatenate([chunk.n_clusters for chunk in self.chunks if chunk.valid.any()])

    def posteriors(self, X: np.ndarray) -> np.ndarray:
        """Posterior probabilities, shape (n_classes, n_samples, n_valid), single precision."""
        parts = [chunk.posteriors(X).astype(np.float32) for chunk in self.chunks if chunk.valid.any()]
        return side_by_side(parts)


def draw_weights(n_samples: int, replicates: range, seed: int) -> np.ndarray:
    """How often each row is drawn in each replicate, shape (n_replicates, n_samples).

    A replicate's draw depends on its number and the seed only, so it is the same in any grouping.
    """
    weights = np.empty((len(replicates), n_samples))
    for row, b in enumerate(replicates):
        drawn = np.random.default_rng([seed, b]).integers(0, n_samples, n_samples)
        weights[row] = np.bincount(drawn, minlength=n_samples)
    return weights


def bootstrap(
    mixture: Any,
    X: np.ndarray,
    *,
    n_boot: int,
    seed: int,
    parametric: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
    done: Bootstrap | None = None,
) -> Bootstrap:
    """Fit a mixture to ``n_boot`` resampled tables.

    Parameters
    ----------
    mixture : fitted estimator
        See the head of this module for what it must offer.
    X : ndarray of shape (n_samples, n_features)
        Rows it was fitted to.
    n_boot : int
        Number of replicates.
    seed : int
        Replicate b depends on ``(seed, b)`` only: neither on ``n_jobs`` nor on an interruption.
    parametric : bool
        Draw tables from the mixture instead of rows from the table.
    n_jobs : int, optional
        For mixtures that are refitted one by one.
    verbose : int
        1 shows progress.
    done : Bootstrap, optional
        Replicates of an earlier call with the same arguments, to go on from.

    Returns
    -------
    Bootstrap
        An interrupt from the keyboard keeps the chunks that are finished, if any.
    """

    def fit(replicates: range) -> ReplicateBatch:
        return _fit_chunk(mixture, X, replicates, seed, parametric, n_jobs)

    return in_chunks(fit, n_boot=n_boot, verbose=verbose, done=done)


def in_chunks(
    fit: Callable[[range], ReplicateBatch], *, n_boot: int, verbose: int = 0, done: Bootstrap | None = None
) -> Bootstrap:
    """Replicates as ``fit(numbers)`` gives them, some at a time; an interrupt keeps those that are finished, if any."""
    chunks = list(done.chunks) if done is not None else []
    first = sum(len(chunk.valid) for chunk in chunks)
    with tqdm(total=n_boot, initial=first, desc="bootstrap", unit="replicate", disable=not verbose) as bar:
        try:
            for start in range(first, n_boot, CHUNK):
                replicates = range(start, min(start + CHUNK, n_boot))
                with subtask("replicates") as end:
                    chunks.append(fit(replicates))
                    bar.update(len(replicates))
                    stop = end()
                if stop and replicates.stop < n_boot:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            if not any(chunk.valid.any() for chunk in chunks):
                raise
            finished = sum(len(chunk.valid) for chunk in chunks)
            warn_user(
                f"The bootstrap was interrupted after {finished} of {n_boot} replicates; the intervals rest on those. "
                "Fit again with warm_start=True to go on from them.",
                InterruptedFit,
            )
    return Bootstrap(tuple(chunks))


def _fit_chunk(
    mixture: Any, X: np.ndarray, replicates: range, seed: int, parametric: bool, n_jobs: int | None
) -> ReplicateBatch:
    if not parametric and hasattr(mixture, "fit_replicates"):
        return mixture.fit_replicates(X, draw_weights(len(X), replicates, seed))
    jobs = (delayed(_refit)(mixture, X, *job) for job in _jobs(mixture, X, replicates, seed, parametric))
    return Refits(Parallel(n_jobs=n_jobs)(jobs))


def _jobs(
    mixture: Any, X: np.ndarray, replicates: range, seed: int, parametric: bool
) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    for b in replicates:
        if parametric:
            yield mixture.sample(len(X), random_state=np.random.RandomState([seed, b]))[0], None
        else:
            yield X, draw_weights(len(X), range(b, b + 1), seed)[0]


def _refit(mixture: Any, rows: np.ndarray, X: np.ndarray, weight: np.ndarray | None) -> Any | None:
    """A clone fitted to one resampled table, or None when that fails or cannot place the rows of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thousands of fits: what matters is whether the posteriors are usable
        try:
            model = clone(mixture).fit(X, **({} if weight is None else {"sample_weight": weight}))
            usable = np.isfinite(model.predict_proba(rows)).all()
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return None
    return model if usable else None
