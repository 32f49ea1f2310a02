"""Metrics learned from links or labels, as transformers of the table."""

from evidentia.metric_learning._learning import learn_metric
from evidentia.metric_learning.dmleig import DMLeig
from evidentia.metric_learning.fda import FDA, KFDA, LFDA
from evidentia.metric_learning.lsi import LSI
from evidentia.metric_learning.pcca import KPCCA, PCCA

__all__ = ["FDA", "KFDA", "KPCCA", "LFDA", "LSI", "PCCA", "DMLeig", "learn_metric"]
