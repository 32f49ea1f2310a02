"""There is one public ``fit`` for all clusterers, and one for all metric learners; methods give ``_fit``."""

import inspect

import pytest

from evidentia import methods
from evidentia._base import EvidentialClusterer
from evidentia._data import NEEDED
from evidentia.metric_learning._base import MetricLearner

CLUSTERERS = methods.clusterers()
LEARNERS = {name: cls for name, cls in methods.all_methods().items() if cls.method.learner}
every_clusterer = pytest.mark.parametrize("cls", CLUSTERERS.values(), ids=CLUSTERERS)


def owners(cls, name):
    """Classes of evidentia that define a method, from an estimator down to its bases."""
    return [base for base in cls.__mro__ if base.__module__.startswith("evidentia") and name in vars(base)]


@every_clusterer
def test_no_clusterer_has_a_fit_of_its_own(cls):
    assert owners(cls, "fit") == [EvidentialClusterer]
    assert owners(cls, "_fit")[-1] is EvidentialClusterer
    assert len(owners(cls, "_fit")) > 1


@pytest.mark.parametrize("cls", LEARNERS.values(), ids=LEARNERS)
def test_no_learner_has_a_fit_of_its_own(cls):
    assert owners(cls, "fit") == [MetricLearner]


def test_the_signature_of_fit():
    wanted = ["self", "X", "y", "sample_weight", "constraints", "partial_labels", "use_rep", "checkpoint"]
    found = inspect.signature(EvidentialClusterer.fit).parameters
    assert list(found) == wanted
    assert {found[name].kind for name in wanted[3:]} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("argument", NEEDED)
@every_clusterer
def test_what_the_record_does_not_list_is_refused_with_a_sentence(cls, argument):
    needed, _ = NEEDED[argument]
    if needed in cls.method.takes:
        return
    model = cls()
    with pytest.raises(TypeError, match=rf"^{cls.__name__} does not accept '{argument}' \(.+\)\. Methods that do: \w"):
        model.fit([[0.0], [1.0]], **{argument: [1, 2]})
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_pipeline_routes_to_a_method_only_what_it_accepts():
    for cls in methods.all_methods().values():
        accepted = {name for name, (needed, _) in NEEDED.items() if needed in cls.method.takes}
        routed = set(cls()._get_metadata_request().fit.requests) - {"use_rep"}
        assert routed == accepted & set(inspect.signature(cls.fit).parameters), cls.__name__
