"""Simulated data sets of the papers, each reproducible from `random_state`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia._docstrings import F, shared_docs
from evidentia._parameters import random_numbers
from evidentia.datasets.dataset import Dataset

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

Seed = Any
"""An int, a ``RandomState`` or None, as everywhere in scikit-learn."""

LEFT_WING = [[-5.0, 0], [-3.34, 1.67], [-3.34, 0], [-3.34, -1.67], [-1.67, 0]]
BUTTERFLY = np.array([*LEFT_WING, [0, 0], *([-x, y] for x, y in reversed(LEFT_WING))])
OUTLIER = np.array([10.0, 10.0])
DIAMOND = np.array([[-6.0, 0], [-4, 2], [-4, 0], [-4, -2], [-2, 0], [0, 0], [2, 0], [4, 2], [4, 0], [4, -2], [6, 0]])


def document_generator(generator: F) -> F:
    """Say in the docstring of a generator what all of them share."""
    parameters = {
        "n_samples": "int\nNumber of points.",
        "random_state": "int, RandomState or None\nMakes the result reproducible.",
    }
    return shared_docs(parameters, Returns="dataset : Dataset")(generator)


@document_generator
def make_butterfly(*, outlier: bool = True) -> Dataset:
    """Butterfly: two wings, a point between them and, on request, one far away.

    Eleven points [1]_; with the outlier, the twelve of NN-EVCLUS (Fig. 1). There are no labels and nothing
    random.

    Parameters
    ----------
    outlier : bool
        Add the point (10, 10).

    References
    ----------
    .. [1] M. P. Windham. Numerical classification of proximity data with assignment measures. Journal of
       Classification 2:157-172, 1985.

    Examples
    --------
    >>> make_butterfly()
    Dataset('butterfly', 12 objects, 2 attributes, no labels)
    """
    points = np.vstack([BUTTERFLY, OUTLIER]) if outlier else BUTTERFLY
    return planar_dataset("butterfly", points, None, "Two wings, a point between them (number 5, counted from 0).")


@document_generator
def make_diamond() -> Dataset:
    """Diamond: two rhombs and a point between them, eleven points (EGMM, Sec. 4.1.1).

    The paper prints no coordinates. These give its EBIC of -55.9 and -63.1 for two and three clusters.

    Examples
    --------
    >>> make_diamond().data[5]
    array([0., 0.])
    """
    return planar_dataset("diamond", DIAMOND, None, "Two rhombs and a point between them (number 5, counted from 0).")


@document_generator
def make_egmm_two_class(n_samples: int = 800, *, random_state: Seed = None) -> Dataset:
    """Two long parallel Gaussian classes of equal size (EGMM, Sec. 4.1.2).

    Means (2, 4) and (2, 0), common covariance [[3, 2], [2, 3]]; 400 points a class in the paper. Euclidean
    methods cut this set the wrong way.

    Examples
    --------
    >>> make_egmm_two_class(random_state=0)
    Dataset('egmm_two_class', 800 objects, 2 attributes, 2 classes)
    """
    rng = random_numbers(random_state, "make_egmm_two_class")
    labels = balanced_labels(n_samples, 2)
    points = gaussian(rng, labels, [[2, 4], [2, 0]], [[[3, 2], [2, 3]]] * 2)
    return planar_dataset("egmm_two_class", points, labels, "Two long parallel Gaussian classes.")


@document_generator
def make_egmm_four_class(n_samples: int = 800, *, random_state: Seed = None) -> Dataset:
    """Four round Gaussian classes of equal size on a square (EGMM, Sec. 4.1.3).

    Means (0, 0), (0, 4), (4, 4), (4, 0), common covariance 2 I; 200 points a class in the paper.

    Examples
    --------
    >>> make_egmm_four_class(random_state=0)
    Dataset('egmm_four_class', 800 objects, 2 attributes, 4 classes)
    """
    rng = random_numbers(random_state, "make_egmm_four_class")
    labels = balanced_labels(n_samples, 4)
    points = gaussian(rng, labels, [[0, 0], [0, 4], [4, 4], [4, 0]], [2 * np.eye(2)] * 4)
    return planar_dataset("egmm_four_class", points, labels, "Four round Gaussian classes on a square.")


@document_generator
def make_cecm_two_class(n_samples: int = 400, *, random_state: Seed = None) -> Dataset:
    """Two classes that each are two distant Gaussians (CECM, Sec. 5.1.1).

    Means (0, 0) and (0, 7) in the first class, (7, 0) and (7, 7) in the second, covariance 2 I, equal
    shares. Without constraints nothing tells which pairs belong together. (The text's "200 points were
    drawn from each" is meant per class: the paper's Table 4 counts 400.)

    Examples
    --------
    >>> make_cecm_two_class(random_state=0)
    Dataset('cecm_two_class', 400 objects, 2 attributes, 2 classes)
    """
    rng = random_numbers(random_state, "make_cecm_two_class")
    component = balanced_labels(n_samples, 4)
    points = gaussian(rng, component, [[0, 0], [0, 7], [7, 0], [7, 7]], [2 * np.eye(2)] * 4)
    return planar_dataset("cecm_two_class", points, component // 2, "Two classes, each made of two distant Gaussians.")


BOOTGMM_MIXTURES: dict[int, tuple[list[Any], list[Any]]] = {
    1: ([[0, 0], [0, 3], [3, 0]], [np.eye(2)] * 3),
    2: ([[0, 0], [0, 2.5], [2.5, 0]], [np.array([[1, 0.5], [0.5, 1]])] * 3),
    3: ([[0, 0], [0, 3], [3, 0]], [np.array([[1, 0.5], [0.5, 1]]), 1.5 * np.array([[1, -0.5], [-0.5, 1]]), np.eye(2)]),
}


@document_generator
def make_bootgmm_mixture(mixture: int = 1, n_samples: int = 300, *, random_state: Seed = None) -> Dataset:
    """One of the three Gaussian mixtures of bootGMM, Sec. 4.1.

    Three components with probabilities 1/3: spherical and equal (1, covariance model EII), elliptical and
    equal (2, EEE), all different (3, VVV). The component of each object is drawn, so the classes differ in
    size.

    Parameters
    ----------
    mixture : {1, 2, 3}
        Number of the mixture in the paper.

    Examples
    --------
    >>> make_bootgmm_mixture(3, random_state=0)
    Dataset('bootgmm_mixture_3', 300 objects, 2 attributes, 3 classes)
    """
    if mixture not in BOOTGMM_MIXTURES:
        raise ValueError(f"The 'mixture' parameter must be 1, 2 or 3. Got {mixture!r} instead.")
    rng = random_numbers(random_state, "make_bootgmm_mixture")
    labels = rng.randint(3, size=check_size(n_samples))
    points = gaussian(rng, labels, *BOOTGMM_MIXTURES[mixture])
    return planar_dataset(
        f"bootgmm_mixture_{mixture}", points, labels, "Three overlapping Gaussian classes.", n_classes=3
    )


@document_generator
def make_circles(
    n_samples: int = 500,
    *,
    radius: float = 3.0,
    inner_std: float = 0.5,
    ring_std: float = 0.25,
    random_state: Seed = None,
) -> Dataset:
    """A round cluster (2/5 of the points) inside a ring (3/5), as in NN-EVCLUS, Example 5.

    The paper gives number and shares; radius and spreads are those of the set in circulation. No method
    that only compares distances finds the ring without constraints or labels.

    Parameters
    ----------
    radius : float
        Mean radius of the ring.
    inner_std : float
        Standard deviation of the inner cluster along each axis.
    ring_std : float
        Standard deviation of the ring's radius.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(make_circles(random_state=0).target)
    array([200, 300])
    """
    rng = random_numbers(random_state, "make_circles")
    labels = np.repeat([0, 1], split_number(check_size(n_samples), [2 / 5, 3 / 5]))
    n_ring = int(labels.sum())
    inner = inner_std * rng.standard_normal((len(labels) - n_ring, 2))
    ring = (radius + ring_std * rng.standard_normal((n_ring, 1))) * circle_points(rng.uniform(0, 2 * np.pi, n_ring))
    return planar_dataset("circles", np.vstack([inner, ring]), labels, "A round cluster inside a ring.")


@document_generator
def make_bananas(n_samples: int = 1000, *, radius: float = 5.0, std: float = 1.0, random_state: Seed = None) -> Dataset:
    """Two interlocked banana-shaped classes of equal size [1]_.

    Points lie evenly on two arcs of 225 degrees that open toward each other, with Gaussian noise; the
    second arc's center is 3/4 of the radius below and to the left of the first one's.

    Parameters
    ----------
    radius : float
        Radius of both arcs.
    std : float
        Standard deviation of the noise along each axis.

    References
    ----------
    .. [1] F. Li, S. Li, T. Denoeux. k-CEVCLUS: constrained evidential clustering of large dissimilarity data.
       Knowledge-Based Systems 142:29-44, 2018.

    Examples
    --------
    >>> make_bananas(200, random_state=0)
    Dataset('bananas', 200 objects, 2 attributes, 2 classes)
    """
    rng = random_numbers(random_state, "make_bananas")
    labels = balanced_labels(n_samples, 2)
    middle = np.deg2rad([-45, 135])[labels]
    angle = middle + np.deg2rad(225) * rng.uniform(-0.5, 0.5, len(labels))
    center = np.array([[0, 0], [-0.75, -0.75]])[labels]
    points = radius * (center + circle_points(angle)) + std * rng.standard_normal((len(labels), 2))
    return planar_dataset("bananas", points, labels, "Two interlocked banana-shaped classes.")


@document_generator
def make_student_four_class(n_samples: int = 400, *, df: float = 5.0, random_state: Seed = None) -> Dataset:
    """Four bivariate Student classes of equal size on a square (NN-EVCLUS, Example 3).

    Centers (0, 0), (0, 4), (4, 0), (4, 4), identity scale matrix, five degrees of freedom: the distribution
    behind the set ``fourclass``. The heavy tails make outliers.

    Parameters
    ----------
    df : float
        Degrees of freedom.

    Examples
    --------
    >>> make_student_four_class(random_state=0)
    Dataset('student_four_class', 400 objects, 2 attributes, 4 classes)
    """
    rng = random_numbers(random_state, "make_student_four_class")
    labels = balanced_labels(n_samples, 4)
    centered = gaussian(rng, labels, np.zeros((4, 2)), [np.eye(2)] * 4)
    stretch = np.sqrt(df / rng.chisquare(df, (len(labels), 1)))  # one factor a point: heavy tails in all directions
    points = np.array([[0, 0], [0, 4], [4, 0], [4, 4]])[labels] + stretch * centered
    return planar_dataset("student_four_class", points, labels, "Four Student classes on a square.")


def check_size(n_samples: int) -> int:
    if not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise ValueError(f"The 'n_samples' parameter must be an int >= 1. Got {n_samples!r} instead.")
    return int(n_samples)


def balanced_labels(n_samples: int, n_classes: int) -> np.ndarray:
    """Sorted class numbers, sizes as equal as can be."""
    return np.sort(np.arange(check_size(n_samples)) % n_classes)


def split_number(total: int, fractions: Sequence[float]) -> np.ndarray:
    """Split a number into whole parts; the parts always sum to it."""
    return np.diff(np.rint(np.cumsum([0, *fractions]) * total).astype(int))


def circle_points(angle: np.ndarray) -> np.ndarray:
    return np.column_stack([np.cos(angle), np.sin(angle)])


def gaussian(rng: "RandomState", labels: np.ndarray, means: "ArrayLike", covariances: Sequence[Any]) -> np.ndarray:
    """One Gaussian point for each label."""
    factors = np.linalg.cholesky(np.asarray(covariances, dtype=float))
    noise = rng.standard_normal((len(labels), factors.shape[-1]))
    return np.asarray(means, dtype=float)[labels] + np.einsum("nij,nj->ni", factors[labels], noise)


def planar_dataset(
    name: str, points: np.ndarray, labels: np.ndarray | None, description: str, n_classes: int | None = None
) -> Dataset:
    """A Dataset with attributes x1, x2 and classes named by their numbers."""
    if n_classes is None:
        n_classes = 0 if labels is None else int(labels.max()) + 1
    return Dataset(
        name=name,
        data=points,
        target=labels,
        feature_names=("x1", "x2"),
        target_names=tuple(str(k) for k in range(n_classes)),
        description=f"{description} Simulated.",
    )
