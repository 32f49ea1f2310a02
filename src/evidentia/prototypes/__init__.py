"""Methods with centers: evidential c-means, its relatives, and those that listen to links between objects."""

from evidentia.prototypes.belief_peaks import BeliefPeaks, belief_peaks
from evidentia.prototypes.bpec import BPEC
from evidentia.prototypes.catecm import CatECM
from evidentia.prototypes.ccm import CCM
from evidentia.prototypes.cecm import CECM
from evidentia.prototypes.cfcm import CFCM
from evidentia.prototypes.cop_kmeans import COPKMeans, UnsatisfiedLinks
from evidentia.prototypes.ecm import ECM
from evidentia.prototypes.fcm import FCM
from evidentia.prototypes.gustafson_kessel import GustafsonKessel
from evidentia.prototypes.mecm import MECM
from evidentia.prototypes.noise import NoiseClustering
from evidentia.prototypes.secmdd import SECMdd
from evidentia.prototypes.softecm import SoftECM

__all__ = [
    "BPEC",
    "CCM",
    "CECM",
    "CFCM",
    "ECM",
    "FCM",
    "MECM",
    "BeliefPeaks",
    "COPKMeans",
    "CatECM",
    "GustafsonKessel",
    "NoiseClustering",
    "SECMdd", "SoftECM",
    "UnsatisfiedLinks",
    "belief_peaks",
]  # fmt: skip
