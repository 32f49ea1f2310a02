"""A method is described once: its record and its declared parameters are true, and everything else reads them."""

import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator, parametrize_with_checks
from typer.testing import CliRunner

import evidentia
from evidentia import methods, select
from evidentia._base import EvidentialClusterer
from evidentia._parameters import Either, Integer, Number, param
from evidentia.app.cli import app
from evidentia.app.images import segment
from evidentia.belief import FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.methods import Method
from evidentia.metric_learning._base import MetricLearner

ROOT = Path(__file__).parents[1]
CLASSES = methods.all_methods()
CLUSTERERS = methods.clusterers()
every = pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES)
every_clusterer = pytest.mark.parametrize("cls", CLUSTERERS.values(), ids=CLUSTERERS)


@pytest.fixture
def toy():
    """A method in one place, known while a test runs."""

    class Halves(EvidentialClusterer):
        """Objects left and right of a share of the range of the first column."""

        method = Method(
            name="halves", title="two halves", papers=("nobody, never",), guide="ecm", takes=("weights",),
            exceptions={
                "check_estimators_pickle": "its class lives inside a function",
                "check_clustering": "it asks for three clusters",
            },
        )  # fmt: skip

        n_clusters: int = param(Integer(low=1, high=2), "Two; one is none.", default=2, kw_only=False)
        share: float = param(Number(above=0, high=1), "Where to cut.", default=0.5)

        def _fit(self, data):
            first = data.table[:, 0] if data.weight is None else data.table[data.weight > 0, 0]
            low, high = first.min(), first.max()
            self.cut_ = low + self.share * (high - low)
            self.focal_sets_ = FocalSets(2, "singletons", empty=False)

        def _masses(self, rows):
            return np.eye(2)[(rows[:, 0] > self.cut_).astype(int)]

    yield Halves
    del methods._REGISTERED["halves"]


def test_a_new_method_is_known_to_select(toy):
    found = select([[0.0], [1.0], [5.0], [6.0]], ["halves", "ecm"], n_clusters=2, criteria="mpc", random_state=0)
    assert set(found.table["method"]) == {"halves", "ecm"}
    assert found.best == ("halves", 2)
    assert isinstance(found.estimator_, toy)


def test_a_new_method_is_known_to_the_command_line(toy, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n0,1\n1,0\n5,1\n6,0\n6,1\n")
    run = CliRunner().invoke
    said = run(app, ["fit", str(path), "--method", "halves", "--clusters", "2", "--share", "0.9"])
    assert said.exit_code == 0, said.output
    assert "5 objects in 2 clusters" in said.output
    assert "{0}: 3, {1}: 2" in said.output  # 0.9 of the way from 0 to 6 is 5.4
    assert "Halves, 2 clusters" in said.output
    helped = " ".join(run(app, ["fit", "--help"], terminal_width=200).output.split())
    assert "halves two halves" in helped
    assert "--share 0.5: halves" in helped
    assert "latent-class" in helped  # for tables of categories
    helped = " ".join(run(app, ["fit", "--method", "halves", "--help"], terminal_width=200).output.split())
    assert "Options of halves, two halves: --share Where to cut. (a number > 0 and <= 1; default 0.5)" in helped
    assert "--beta" not in helped
    wrong = run(app, ["fit", str(path), "--method", "halves", "--clusters", "2", "--share", "2"])
    assert (wrong.exit_code, "--share of halves must be a number > 0 and <= 1. Got '2'." in wrong.output) == (2, True)
    foreign = run(app, ["fit", str(path), "--method", "halves", "--clusters", "2", "--beta", "2"])
    assert "--beta means nothing to halves: it is an option of" in foreign.output


def test_a_new_method_is_known_to_segmentation(toy):
    image = np.array([[0.0, 1.0, 9.0], [0.5, 8.0, 9.0]])
    found = segment(image, "halves", 2, scale="none")
    np.testing.assert_array_equal(found.labels(), [[0, 0, 1], [0, 1, 1]])


@pytest.mark.filterwarnings("ignore")
def test_a_new_method_is_checked(toy):
    check_estimator(toy(), expected_failed_checks=toy.method.failing_checks)


def test_two_methods_of_one_name_are_refused(toy):
    with pytest.raises(ValueError, match=r"Other and .*Halves both call themselves 'halves'"):

        class Other(toy):
            method = toy.method


def test_an_unknown_method_is_named_with_the_nearest():
    with pytest.raises(ValueError, match=r"There is no method 'gmmm'; did you mean 'gmm'\? Methods: bootgmm, egmm, "):
        methods.find("gmmm")
    with pytest.raises(TypeError, match=r"^KMeans is no clustering method of evidentia: it has no record"):
        select([[0.0], [1.0]], KMeans(2))
    with pytest.raises(ValueError, match="There is no method 'lsi'"):
        methods.find("lsi")  # which learns a metric, and makes no partition


def test_a_record_with_a_slip_is_refused():
    with pytest.raises(ValueError, match=r"'takes' of method 'x' may hold .*Got \['weight'\]"):
        Method(name="x", title="", papers=(), guide="", takes=("weight",))


@parametrize_with_checks(
    [cls(**cls.method.quick) for cls in CLASSES.values() if not cls.method.reads_views],
    expected_failed_checks=lambda estimator: estimator.method.failing_checks,
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # the checks fit a few rows in ten dimensions, and methods say so
def test_scikit_learn_contract(estimator, check):
    assert check(estimator) is None


# scikit-learn's checks fit one table, which is nothing to a method on several views; these fit none.
WITHOUT_A_TABLE = (
    "check_estimator_cloneable", "check_estimator_repr",
    "check_estimator_tags_renamed", "check_get_params_invariance", "check_mixin_order",
    "check_no_attributes_set_in_init", "check_parameters_default_constructible", "check_set_params",
    "check_valid_tag_types",
)  # fmt: skip


@pytest.mark.parametrize("cls", [cls for cls in CLASSES.values() if cls.method.reads_views])
def test_scikit_learn_contract_of_methods_on_several_views(cls):
    checks = {check.func.__name__: (model, check) for model, check in estimator_checks_generator(cls(), legacy=True)}
    assert set(WITHOUT_A_TABLE) <= set(checks)
    for name in WITHOUT_A_TABLE:
        model, check = checks[name]
        check(model)


# -- records are true --------------------------------------------------------------------------------------------------


@every
def test_the_record_says_what_fit_takes(cls):
    takes, arguments = cls.method.takes, inspect.signature(cls.fit).parameters
    if cls.fit in (EvidentialClusterer.fit, MetricLearner.fit):  # tests/test_fit.py
        return
    assert ("weights" in takes) == ("sample_weight" in arguments)
    assert ("links" in takes) == ("constraints" in arguments)


@every
def test_the_record_says_what_the_parameters_allow(cls):
    method, declared = cls.method, cls.parameters
    if method.learner:
        assert method.number == ()
        return
    count = declared["n_clusters"].check if "n_clusters" in declared else None
    assert ("given" in method.number) <= (count is not None and count.accepts(2))
    assert ("searched" in method.number) == ("cluster_range" in declared)
    assert ("searched" in method.number or {"given", "found"} <= set(method.number)) <= count.accepts("auto")
    if "metric" in declared:
        assert ("dissimilarities" in method.reads) == declared["metric"].check.accepts("precomputed")
    sets = declared.get("focal_sets")
    assert bool(method.families) == (sets is not None)
    if sets is not None:
        assert all(sets.check.accepts(name) for name in method.families)
        assert not sets.check.accepts("triples")
        assert sets.default in method.families


@every
def test_the_guide_page_is_there_and_names_the_method(cls):
    page = ROOT / f"docs/guide/{cls.method.guide}.md"
    assert cls.__name__ in page.read_text(encoding="utf-8")
    assert cls.method.title
    assert cls.method.papers


@every_clusterer
def test_the_docstring_names_the_rule_of_the_labels(cls):
    words = {"plausibility": "plausib", "pignistic": "pignistic", "belief": "belief"}[cls.method.labels]
    described = inspect.getdoc(cls).partition("\nlabels_ : ")[2].partition("_ : ")[0]
    assert words in described
    assert "rule of its record" not in inspect.getdoc(cls)


@every_clusterer
def test_the_record_says_how_it_costs_and_what_its_limit_is(cls):
    for name in ("grows", "memory", "doubt", "limit"):
        assert getattr(cls.method, name), name


@every_clusterer
def test_the_words_for_the_cost_begin_with_the_power_that_the_record_gives(cls):
    power = {1: "n", 2: "n²"}[cls.method.power]
    for words in (cls.method.grows, cls.method.memory):
        assert "{" not in words
        first = re.search(r"\bn(²|\b)", words)  # "as ECM" and "six times EVCLUS" name another method
        assert first is None or first.group() == power


def test_a_power_is_written_out_in_the_words_of_a_record():
    one, two = (
        Method(name="x", title="", papers=(), guide="", power=power, grows="*{n} c*", memory="*{n}*")
        for power in (1, 2)
    )
    assert (one.grows, one.memory, two.grows, two.memory) == ("*n c*", "*n*", "*n² c*", "*n²*")
    assert CLASSES["cevclus"].method.power == CLASSES["evclus"].method.power == 2


def test_every_exported_estimator_has_a_record_and_is_in_the_list():
    exported = {getattr(evidentia, name) for name in evidentia.__all__ if inspect.isclass(getattr(evidentia, name))}
    recorded = {cls for cls in CLASSES.values() if ".experimental." not in cls.__module__}
    assert recorded <= exported
    assert {cls for cls in exported if hasattr(cls, "fit")} == recorded


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_tables", ROOT / "docs/make_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_new_method_is_entered_in_the_folder_of_its_family(script):
    plain = '"""A family."""\n\nfrom evidentia.family.zoo import Zoo, zoo\n\n__all__ = ["Zoo", "zoo"]\n'
    assert script._entered(plain, "Ant", "evidentia.family.ant") == (
        '"""A family."""\n\nfrom evidentia.family.ant import Ant\nfrom evidentia.family.zoo import Zoo, zoo\n\n'
        '__all__ = ["Ant", "Zoo", "zoo"]\n'
    )
    lazy = (
        "if TYPE_CHECKING:\n    from evidentia.family.bee import Bee\n\n"
        '_HOMES = {\n    "Bee": "bee",\n}\n\n__all__ = ["Bee"]\n'
    )
    assert script._entered(lazy, "Cat", "evidentia.family.cat") == (
        "if TYPE_CHECKING:\n    from evidentia.family.bee import Bee\n    from evidentia.family.cat import Cat\n\n"
        '_HOMES = {\n    "Bee": "bee",\n    "Cat": "cat",\n}\n\n__all__ = ["Bee", "Cat"]\n'
    )


def test_what_is_written_about_the_methods_is_up_to_date(script):
    for path, text in script.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run python docs/make_tables.py"


# -- articles ----------------------------------------------------------------------------------------------------------

PAPER_METHODS = {name: cls for name, cls in CLASSES.items() if cls.method.as_in_paper}


def in_paper(name, **names):
    """The call of the record, as a user would type it, with the names that it uses."""
    cls = CLASSES[name]
    model = eval(cls.method.as_in_paper, {cls.__name__: cls, **names})
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


@pytest.fixture(scope="module")
def three_groups():
    rng = np.random.default_rng(0)
    return rng.normal(size=(45, 2)) + 6 * np.repeat([[0, 0], [1, 0], [0, 1]], 15, axis=0)


def test_the_methods_of_the_papers_say_how_to_get_them():
    assert set(PAPER_METHODS) == {"bootgmm", "egmm", "ecm", "cecm", "nnevclus", "bhc"}
    for cls in PAPER_METHODS.values():
        assert cls.method.differs
        assert f"\n    {cls.method.as_in_paper}\n" in inspect.getdoc(cls)
        page = (ROOT / f"docs/guide/{cls.method.guide}.md").read_text(encoding="utf-8")
        assert f"\n{cls.method.as_in_paper}\n" in page
    for name in set(PAPER_METHODS) - {"ecm"}:  # others may follow, such as a seed
        examples = inspect.getdoc(CLASSES[name]).partition("\nExamples\n")[2]
        assert CLASSES[name].method.as_in_paper[:-1] in examples


def test_egmm_of_the_paper(three_groups):
    model = in_paper("egmm", c=3).fit(three_groups)
    assert len(model.focal_sets_) == 7  # all sets but the empty one
    assert (model.covariances_ == model.covariances_[0]).all()
    assert model.start_criteria_.shape == (1,)
    assert (np.diff(model.criterion_trace_) >= 0).all()
    assert model.criterion_ == model.log_likelihood_  # there is no prior
    assert adjusted_rand_score(np.repeat(range(3), 15), model.labels_) == 1


def test_bootgmm_of_the_paper(three_groups):
    model = in_paper("bootgmm", c=3)
    assert model.n_boot == 1000
    model.set_params(n_boot=30).fit(three_groups)
    best = model.selection_.sort_values("bic").iloc[-1]
    assert len(model.selection_) == 14
    assert (best["model"], best["n_clusters"]) == (model.mixture_.model_, 3)
    assert set(map(len, model.focal_sets_)) == {1, 2}


@pytest.mark.parametrize("adaptive", [False, True])
def test_cecm_of_the_paper(three_groups, adaptive):
    links = PairwiseConstraints.from_links([(0, 1), (16, 17)], [(0, 16), (1, 40)])
    model = in_paper("cecm", c=3).set_params(adaptive=adaptive).fit(three_groups, constraints=links)
    assert len(model.focal_sets_) == 8
    assert model.start_criteria_.shape == (1,)
    assert (np.diff(model.criterion_trace_) <= 1e-12).all()
    assert model.rho_ > pdist(three_groups).max()  # no outliers


def test_ecm_of_the_paper(three_groups):
    model = in_paper("ecm", c=3).fit(three_groups)
    assert (len(model.focal_sets_), model.rho_) == (8, 10)
    assert model.start_criteria_.shape == (1,)


def test_bhc_of_the_paper(three_groups):
    model = in_paper("bhc", c=3, gamma=0.05).fit(three_groups)
    squared = squareform(pdist(three_groups, "sqeuclidean"))
    belief = 0.95 * np.exp(-0.05 * squared) * (1 - np.eye(45))
    belief *= np.minimum(1, 0.95 / belief.sum(axis=1, keepdims=True))
    betp = belief + (1 - belief.sum(axis=1, keepdims=True)) / 44  # (8) and the pignistic probability
    product = np.triu(betp * betp.T, 1)
    assert set(model.linkage_[0, :2]) == set(np.unravel_index(product.argmax(), product.shape))  # (9)
    cut = fcluster(model.linkage_, model.linkage_[-3:-1, 2].mean(), "distance")  # at a BetP index
    assert adjusted_rand_score(cut, model.labels_) == 1 == adjusted_rand_score(np.repeat(range(3), 15), cut)


def test_nnevclus_of_the_paper(three_groups):
    family = FocalSets(3, "pairs")
    assert sorted(map(len, family)) == [0, 1, 1, 1, 2, 2, 2, 3]
    model = in_paper("nnevclus", c=3, f=len(family)).fit(three_groups)
    assert [tuple(layer.shape) for layer in model.network_.module.parameters()] == [(12, 2), (12,), (8, 12), (8,)]
    assert model.start_criteria_.shape == (5,)
    assert model.delta0_ == pytest.approx(np.quantile(pdist(three_groups), 0.9))
    assert model.criterion_ == pytest.approx(
        np.square(model.shepard_.conflict - model.shepard_.wanted).mean(), rel=1e-4
    )


def test_what_was_not_compared_with_its_article_is_marked_everywhere():
    marked = {cls for cls in CLASSES.values() if cls.method.sources}
    assert {cls for cls in CLASSES.values() if ".experimental." in cls.__module__} < marked
    helped = " ".join(CliRunner().invoke(app, ["fit", "--help"], terminal_width=200).output.split())
    table = (ROOT / "docs/guide/density.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    which = (ROOT / "docs/guide/which-method.md").read_text(encoding="utf-8").splitlines()
    for cls in CLASSES.values():
        found = cls in marked
        warning = inspect.getdoc(cls).partition("\nWarnings\n")[2]
        assert found == ("not compared with the article. They were taken from" in warning), cls
        row = next(line for line in readme if re.search(rf"^\| .*`(experimental\.)?{cls.__name__}`", line))
        assert found == ("not compared with its article" in row), cls
        if not cls.method.learner:
            row = next(line for line in which if re.match(rf"\| .*\[{cls.__name__}\]\(", line))
            assert found == ("not compared with its article" in row), cls
        if found:
            assert f"{cls.__name__}` | {cls.method.sources} |" in table
            assert f"{cls.method.title} (not compared with its article)" in helped


# -- parameters --------------------------------------------------------------------------------------------------------

DECLARED = [(cls, name) for cls in CLASSES.values() for name in cls.parameters]


def refused(check):
    """A value that the check does not accept, None when it accepts everything."""
    candidates = [-7.5, "no such word", object(), (), float("nan"), float("inf"), None]
    if isinstance(check, Either):
        candidates += [part.low - 1 for part in check.checks if isinstance(part, Number)]
    return next((value for value in candidates if not check.accepts(value)), None)


@pytest.mark.parametrize(("cls", "name"), DECLARED, ids=[f"{cls.__name__}-{name}" for cls, name in DECLARED])
def test_every_parameter_has_a_meaning_a_good_default_and_a_message(cls, name):
    declared = cls.parameters[name]
    assert declared.check.accepts(declared.default)
    assert declared.doc.strip()
    value = refused(declared.check)
    if value is None:
        assert name in ("random_state", "init", "metric_learner", "metric", "metric_params", "module", "device")
        return
    model = cls(**{name: value})
    table = [["a", "b"], ["b", "a"], ["a", "a"]] if "categories" in cls.method.reads else [[0.0, 1], [1, 0], [2, 2]]
    with pytest.raises(ValueError, match=rf"^The '{name}' parameter of {cls.__name__} must be .+\. Got .+ instead\.$"):
        model.fit(table, [0, 1, 1]) if "labels" in cls.method.takes else model.fit(table)


@every
def test_the_docstring_describes_every_parameter_and_the_constructor_only_stores(cls):
    text = inspect.getdoc(cls)
    for name in cls.parameters:
        assert f"\n{name} : " in text, name
    described = ", ".join(re.findall(r"^(\w[\w, ]*) :", text, re.MULTILINE)).split(", ")
    for name in cls.attributes:
        assert described.count(name) == 1, name
    assert clone(cls()).get_params() == {name: declared.default for name, declared in cls.parameters.items()}
    first = [name for name, declared in cls.parameters.items() if not declared.kw_only]
    assert first in (["n_clusters"], ["n_components"], [])


def test_what_a_number_may_be_is_said_in_words():
    assert Number(above=1, high=3).words == "a number > 1 and <= 3"
    for value, good in (
        (1, False),
        (1.01, True),
        (3, True),
        (3.1, False),
        (True, False),
        ("2", False),
        (np.nan, False),
    ):
        assert Number(above=1, high=3).accepts(value) == good
