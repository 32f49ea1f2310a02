"""Credal c-means (Liu, Pan, Dezert & Mercier, 2015)."""

from __future__ import annotations

from evidentia._parameters import Number, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.prototypes._credal_means import FAMILIES, CredalMeans, SetWeights, mix_with_centers


class CCM(CredalMeans):
    r"""Credal c-means [1]_: an object is ambiguous between clusters only when it is near to *all* of their centers.

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
    *From sources* (the abstract, and a public program by others whose centers solve the system below): the sum over the
    centers and the divisor :math:`|A| + \gamma`, :math:`\bar v_A` in the third term, no penalty
    :math:`|A|^\alpha`, the empty set for outliers, gamma 1, beta 2, a bound :math:`T_c` on the size of sets.

    *Derived* from the criterion: masses, and centers by :math:`H V = B`, where for sets of a > 1 clusters

    .. math::
        B_k = \sum_{A \ni k} \frac{1 + \gamma/a}{a + \gamma} \sum_i m_{iA}^\beta x_i, \quad
        H_{kk} = \sum_{A \ni k} \frac{1 + \gamma/a^2}{a + \gamma} \sum_i m_{iA}^\beta, \quad
        H_{kl} = \sum_{A \ni k, l} \frac{\gamma}{a^2 (a + \gamma)} \sum_i m_{iA}^\beta .

    *Our reading*: the barycenter for sets of three and more, for which the article is recalled to want a point as far
    from each of their centers (for pairs both are the same; on three groups masses differ by 0.005 at most), and the
    set of all clusters in the named families. Without it, and with :math:`T_c = 2`, the family is
    ``FocalSets(n_clusters, "pairs", omega=False)``.

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
        name="ccm", title="credal c-means: an object is ambiguous when it is near to all centers of a set",
        papers=("Liu et al., *Knowledge-Based Systems* 74, 2015",), guide="density",
        takes=("weights", "rows beyond memory"),
        families=FAMILIES, empty_set=True, grows="*n p f*", memory="*n f*", doubt="sets, outliers",
        limit="for three and more clusters their barycenter, not the article's point",
        sources="its abstract and a program by others",
    )  # fmt: skip

    gamma: float = param(Number(above=0), "Weight of the barycenter: the larger, the more are ambiguous.", default=1.0)

    def _set_weights(self, focal_sets: FocalSets) -> SetWeights:
        mixing = mix_with_centers(focal_sets, self.gamma, focal_sets.card + self.gamma)
        return SetWeights(mixing, 0.0 * focal_sets.card)
