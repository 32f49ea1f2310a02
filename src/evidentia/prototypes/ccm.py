"""Credal c-means (Liu, Pan, Dezert & Mercier, 2015)."""

from __future__ import annotations

from evidentia._parameters import Number, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.prototypes._credal_means import FAMILIES, CredalMeans, SetCosts, mixed_with_centers


class CCM(CredalMeans):
    r"""Credal c-means [1]_: an object is torn between clusters only when it is near to *all* of their centers.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} m_i(A)^{\beta} D_{iA}^2
            + \rho^2 m_i(\varnothing)^{\beta} \Big], \qquad
        D_{iA}^2 = \frac{\sum_{k \in A} \|x_i - v_k\|^2 + \gamma \|x_i - \bar v_A\|^2}{|A| + \gamma}
        \quad (|A| > 1)

    with :math:`D_{i\{k\}} = \|x_i - v_k\|` and :math:`\bar v_A` the barycenter of the centers of A. Evidential c-means
    (:class:`ECM`) looks at the barycenter alone, so that a third cluster which happens to lie between two others
    is mistaken for their overlap; here it is not.

    Notes
    -----
    The article was not at hand when this was written: the criterion above is what is minimized, and it may differ from
    the authors' program in details.

    The authors bound the size of sets by :math:`T_c`, two by default, which is ``focal_sets=FocalSets(n_clusters,
    "pairs", omega=False)``. To start at the belief peaks of X take ``init=X[belief_peaks(X).choose(n_clusters)]``.

    For sets of three and more the paper asks for a point as far from each of their centers; the barycenter, the same
    thing for pairs, keeps the centers a linear system and the criterion monotone.

    References
    ----------
    .. [1] Z. Liu, Q. Pan, J. Dezert, G. Mercier. Credal c-means clustering method based on belief functions.
       Knowledge-Based Systems 74:119-132, 2015.

    Examples
    --------
    Three groups in a row. The middle of the outer two is a group of its own, and no overlap.

    >>> X = [[-9.0], [-8], [-7], [-1], [0], [1], [7], [8], [9], [4]]
    >>> model = CCM(n_clusters=3, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.ravel().round(0).tolist())
    [-8.0, 0.0, 8.0]
    >>> model.partition_.sets().sum(axis=1)       # 4 lies between two of them
    array([1, 1, 1, 1, 1, 1, 1, 1, 1, 2])
    """

    method = Method(
        name="ccm",
        title="credal c-means: an object is torn when it is near to all centers of a set",
        papers=("Liu et al., *Knowledge-Based Systems* 74, 2015",),
        guide="density",
        takes=("weights",),
        families=FAMILIES,
        empty_set=True,
    )

    gamma: float = param(
        Number(above=0), "Weight of the barycenter: the larger, the more objects are torn.", default=1.0
    )

    def _set_costs(self, focal_sets: FocalSets) -> SetCosts:
        mixing = mixed_with_centers(focal_sets, self.gamma, focal_sets.card + self.gamma)
        return SetCosts(mixing, 0.0 * focal_sets.card)
