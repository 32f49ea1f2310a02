"""Methods with centres: evidential c-means and the classical methods it contains."""

from evidentia.prototypes.ecm import ECM
from evidentia.prototypes.fcm import FCM
from evidentia.prototypes.gustafson_kessel import GustafsonKessel
from evidentia.prototypes.noise import NoiseClustering

__all__ = ["ECM", "FCM", "GustafsonKessel", "NoiseClustering"]
