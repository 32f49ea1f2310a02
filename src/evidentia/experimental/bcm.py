"""Belief c-means (Liu, Dezert, Mercier & Pan, 2012), as we recall it."""

from __future__ import annotations

import numpy as np

from evidentia._parameters import Number, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.prototypes._credal_means import FAMILIES, CredalMeans, SetWeights, mix_with_centers


class BCM(CredalMeans):
    r"""Belief c-means [1]_: ambiguous between clusters that are nearer to each other than to the object.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} m_i(A)^{\beta} D_{iA}^2
            + \rho^2 m_i(\varnothing)^{\beta} \Big], \qquad
        D_{iA}^2 = \frac{\sum_{k \in A} \|x_i - v_k\|^2 + \gamma \sum_{k < l \in A} \|v_k - v_l\|^2}
                        {|A| + \gamma |A| (|A| - 1) / 2} \quad (|A| > 1)

    with :math:`D_{i\{k\}} = \|x_i - v_k\|`. So a set of clusters is for objects far away from clusters which, seen from
    there, are hard to tell apart. An object in the middle between two centers has equal masses on both, where
    :class:`~evidentia.prototypes.ECM` and :class:`~evidentia.prototypes.CCM` have one mass on the pair.

    Notes
    -----
    *From a source* (the abstract; no program was found): the cost of a set mixes distances to its centers with
    distances between them, and has no barycenter; an object far from clusters that are near to each other is ambiguous,
    one in the middle is not.

    *Derived* from the criterion: masses and centers, each at their optimum for given others.

    *Our reading*, from memory: the divisor :math:`|A| + \gamma |A| (|A| - 1) / 2`, no penalty :math:`|A|^\alpha` (with
    alpha 1 far objects would be ambiguous for gamma above 2 only), and centers that feel the distances between them.

    References
    ----------
    .. [1] Z. Liu, J. Dezert, G. Mercier, Q. Pan. Belief c-means: an extension of fuzzy c-means algorithm in belief
       functions framework. Pattern Recognition Letters 33(3):291-300, 2012. hal-01058024.

    Examples
    --------
    Two groups side by side and an object far above both.

    >>> X = [[-2.0, 0], [-3, 0], [-2, 1], [2, 0], [3, 0], [2, 1], [0, 9]]
    >>> model = BCM(n_clusters=2, rho=20, random_state=0).fit(X)
    >>> model.partition_.sets()[-1], model.partition_.sets()[:-1].sum(axis=1)
    (array([ True,  True]), array([1, 1, 1, 1, 1, 1]))
    """

    method = Method(
        name="bcm", title="belief c-means: sets are for objects far from clusters that are near to each other",
        papers=("Liu et al., *Pattern Recognition Letters* 33, 2012",), guide="density",
        takes=("weights", "rows beyond memory"),
        families=FAMILIES, empty_set=True, grows="*n p f*", memory="*n f*", doubt="sets, outliers",
        limit="halfway between two is not ambiguous", sources="its abstract and memory",
    )  # fmt: skip

    gamma: float = param(
        Number(above=0),
        """Weight of the distances between centers. They are part of the criterion, so a large weight pulls the centers
        of overlapping clusters together until they coincide, which is said by a warning; take a smaller one then.""",
        default=0.3,
    )

    def _set_weights(self, focal_sets: FocalSets) -> SetWeights:
        card = focal_sets.card
        total = card + self.gamma * card * (card - 1) / 2
        spring = np.where(card > 1, self.gamma / np.maximum(total, 1), 0.0)
        return SetWeights(mix_with_centers(focal_sets, 0.0, total), spring)
