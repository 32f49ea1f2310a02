"""How uncertain each single object is."""

from __future__ import annotations

import pandas as pd

from evidentia.belief import uncertainty
from evidentia.partition import CredalPartition


def object_uncertainty(partition: CredalPartition) -> pd.DataFrame:
    """One row per object: where it goes, and how uncertain that is, and why.

    ==================  ===================================================================================
    ``cluster``         most plausible cluster
    ``set``             its set: one cluster if it is assigned, several if it is ambiguous
    ``belief``          belief in that cluster
    ``plausibility``    plausibility of that cluster
    ``outlier``         mass of the empty set: fits no cluster
    ``nonspecificity``  bits; large when the mass lies on sets of several clusters (cannot tell)
    ``dissonance``      bits; large when the mass lies on sets that exclude each other (contradiction)
    ``entropy``         bits; of the pignistic probability, large in both cases
    ==================  ===================================================================================

    Examples
    --------
    A certain object, one that nothing is known of, and one that is pulled both ways.

    >>> from evidentia import FocalSets
    >>> p = CredalPartition([[1, 0, 0], [0, 0, 1], [0.5, 0.5, 0]], FocalSets(2, empty=False))
    >>> print(object_uncertainty(p).to_string())
            cluster    set  belief  plausibility  outlier  nonspecificity  dissonance  entropy
    object
    0             0    {0}     1.0           1.0      0.0             0.0         0.0      0.0
    1             0  {0,1}     0.0           1.0      0.0             1.0         0.0      1.0
    2             0  {0,1}     0.5           0.5      0.0             0.0         1.0      1.0
    """
    table = partition.to_pandas()[["cluster", "set", "belief", "plausibility"]]
    return table.assign(
        outlier=partition.empty,
        nonspecificity=partition.nonspecificity,
        dissonance=uncertainty.dissonance(partition.masses, partition.focal_sets),
        entropy=uncertainty.pignistic_entropy(partition.masses, partition.focal_sets),
    )
