"""Methods on dissimilarities: objects need no coordinates, only a number for how unlike two of them are."""

from evidentia.relational.cevclus import CEVCLUS
from evidentia.relational.eknnclus import EkNNclus
from evidentia.relational.evclus import EVCLUS, Shepard
from evidentia.relational.recm import RECM

__all__ = ["CEVCLUS", "EVCLUS", "RECM", "EkNNclus", "Shepard"]
