"""Inputs of every kind × every estimator: a right result, or a sentence that names what is wrong and a cure.

Estimators are found by their records, and wrong parameters by their declared checks, so that a method that is added
tomorrow is in the table tomorrow. Right means: masses that are valid to 1e-12, and two groups found where the entry
says that they are there to be found.
"""

import re
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from evidentia import PairwiseConstraints, methods
from evidentia._parameters import BOOLEAN, SEED, Boolean, Choice, Either, Number, Predicate

ESTIMATORS = methods.all_methods()
ROWS = 16
GROUPS = np.repeat([0, 1], ROWS // 2)
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(ROWS, 3)) + 9 * GROUPS[:, None]
SHAPE, CELL = (ROWS, 3), (5, 1)
LINKS = PairwiseConstraints.from_links([(0, 1), (9, 10)], [(0, 9), (2, 12)])


@dataclass(frozen=True)
class Entry:
    """An input: X, what else ``fit`` is given, and whether a refusal or a result is expected (None: either)."""

    X: object
    more: dict = None
    refused: bool | None = None
    found: bool = False  # whether the two groups must be found when there is a result


def with_cell(value, dtype=float):
    table = TABLE.astype(dtype)
    table[CELL] = value
    return table


def frame(**columns):
    return pd.DataFrame(TABLE, columns=list("abc")).assign(**columns)


RIGHT = {
    "an array": TABLE,
    "a list of lists": TABLE.tolist(),
    "a tuple of rows": tuple(map(tuple, TABLE)),
    "a DataFrame": frame(),
    "a DataFrame with row names": frame().set_axis([f"r{i}" for i in range(ROWS)]),
    "a DataFrame with equal row names": frame().set_axis(["r"] * ROWS),
    "a DataFrame of float32": frame().astype(np.float32),
    "a DataFrame of nullable numbers": frame().astype("Float64"),
    "in Fortran's order": np.asfortranarray(TABLE),
    "every other row of a larger array": np.repeat(TABLE, 2, axis=0)[::2],
    "columns in reverse, a view": TABLE[:, ::-1],
    "read-only": (lambda a: (a.setflags(write=False), a)[1])(TABLE.copy()),
    "float32": TABLE.astype(np.float32),
    "float16": TABLE.astype(np.float16),
    "long doubles": TABLE.astype(np.longdouble),
    "big-endian": TABLE.astype(">f8"),
    "whole numbers": np.round(TABLE * 10).astype(int),
    "int8": np.round(TABLE * 9).astype(np.int8),
    "uint64": np.round(TABLE - TABLE.min()).astype(np.uint64),
    "objects that are numbers": TABLE.astype(object),
    "a masked array without a mask": np.ma.masked_array(TABLE),
    "a matrix with a constant column": np.c_[TABLE, np.full(ROWS, 7.0)],
    "a constant column far away": np.c_[TABLE, np.full(ROWS, 1e10)],
    "a column of zeros": np.c_[np.zeros(ROWS), TABLE],
    "a column twice": np.c_[TABLE, TABLE[:, 0]],
    "one column": TABLE[:, :1],
    "two columns": TABLE[:, :2],
    "a column that is a sum": np.c_[TABLE, TABLE.sum(axis=1)],
    "values in thousandths": TABLE / 1000,
    "units of 1e-30": TABLE * 1e-30,
    "units of 1e30": TABLE * 1e30,
    "units of 1e-100": TABLE * 1e-100,
    "units of 1e100": TABLE * 1e100,
    "offset 1e3": TABLE + 1e3,
    "offset -1e6": TABLE - 1e6,
    "offset 1e9": TABLE + 1e9,
    "offset 1e12": TABLE + 1e12,
    "negative": -TABLE,
    "a subnormal cell": with_cell(5e-324) - 4.5 * 0,
    "negative zeros": np.where(np.abs(TABLE) < 0.3, -0.0, TABLE),
}
REFUSED = {
    "NaN": with_cell(np.nan),
    "inf": with_cell(np.inf),
    "-inf": with_cell(-np.inf),
    "NaN and inf": np.where(np.eye(ROWS, 3) > 0, np.nan, with_cell(np.inf)),
    "a column of NaN": np.c_[TABLE, np.full(ROWS, np.nan)],
    "a row of NaN": np.vstack([TABLE, np.full(3, np.nan)]),
    "nothing but NaN": np.full(SHAPE, np.nan),
    "NaN in the first cell": np.where(np.arange(ROWS * 3).reshape(SHAPE) == 0, np.nan, TABLE),
    "None among objects": with_cell(None, object),
    "a cell of 1e300": with_cell(1e300),
    "a cell of -1e300": with_cell(-1e300),
    "a cell of 1e160": with_cell(1e160),
    "a cell of 1e20": with_cell(1e20),
    "NetCDF's code for missing": with_cell(9.969209968386869e36),
    "the largest double": with_cell(np.finfo(float).max),
    "float32's inf": with_cell(np.inf, np.float32),
    "units of 1e300": TABLE / 100 * 1e300,
    "units of 1e155": TABLE * 1e155,
    "units of 1e-150": TABLE * 1e-150,
    "units of 1e-200": TABLE * 1e-200,
    "units of 1e-300": TABLE * 1e-300,
    "subnormals": np.round(TABLE) * 5e-324,
    "offset 1e15": TABLE + 1e15,
    "offset -1e15": TABLE - 1e15,
    "offset 1e17": TABLE + 1e17,
    "one column lost in an offset": np.c_[TABLE, TABLE[:, 0] + 1e15],
    "a mask": np.ma.masked_array(TABLE, np.eye(ROWS, 3) > 0),
    "everything masked": np.ma.masked_array(TABLE, np.ones(SHAPE, bool)),
    "complex": TABLE.astype(complex),
    "complex with a part": TABLE + 1j,
    "text": TABLE.astype(str),
    "bytes": TABLE.astype("S8"),
    "words": np.full(SHAPE, "high"),
    "objects that are words": with_cell("high", object),
    "dates": np.round(TABLE * 100).astype("datetime64[D]"),
    "durations": np.round(TABLE * 100).astype("timedelta64[s]"),
    "records": np.zeros(ROWS, dtype=[("a", float), ("b", float)]),
    "a DataFrame with text": frame(d="x"),
    "a DataFrame with dates": frame(d=pd.Timestamp("2026-01-01")),
    "a DataFrame with categories": frame(d=pd.Categorical(["u", "v"] * (ROWS // 2))),
    "a DataFrame with a gap": frame().mask(np.eye(ROWS, 3) > 0),
    "a DataFrame with inf": frame(a=np.inf),
    "sparse": sparse.csr_array(TABLE),
    "a sparse matrix": sparse.csc_matrix(TABLE),
    "nothing": None,
    "a number": 3.0,
    "a word": "table.csv",
    "a dict": {"a": [1, 2]},
    "a set": {1.0, 2.0},
    "a function": len,
    "an empty list": [],
    "no rows": np.empty((0, 3)),
    "no columns": np.empty((ROWS, 0)),
    "one row": TABLE[:1],
    "one dimension": TABLE[:, 0],
    "three dimensions": TABLE[:, :, None],
    "no dimension": np.array(3.0),
    "rows of different length": [[1.0, 2.0], [3.0]],
}
EITHER = {  # what they mean depends on the method: duplicates and constants are one cluster for some, none for others
    "two rows": TABLE[[0, -1]],
    "three rows": TABLE[[0, 1, -1]],
    "all rows equal": np.ones(SHAPE),
    "all zero": np.zeros(SHAPE),
    "two distinct rows": np.repeat([[0.0, 0, 0], [1, 1, 1]], ROWS // 2, axis=0),
    "all but one equal": np.vstack([np.ones((ROWS - 1, 3)), [[2.0, 3, 4]]]),
    "every row twice": np.repeat(TABLE[::2], 2, axis=0),
    "bool": TABLE > 4.5,
    "three outliers": np.vstack([TABLE, np.eye(3) * 1e4]),
    "an outlier of 1e6": np.vstack([TABLE, [[1e6, 0, 0]]]),
    "more columns than rows": RNG.normal(size=(ROWS, 40)) + 9 * GROUPS[:, None],
    "integers on a line": np.arange(ROWS, dtype=float)[:, None],
    "ties": np.round(TABLE / 4),
    "rounding in a constant column": np.c_[TABLE, np.where(GROUPS, 0.3, 0.1 * 3)],
}
WEIGHTS = {
    "weights of a wrong length": np.ones(3),
    "weights of two dimensions": np.ones((ROWS, 1)),
    "negative weights": -np.ones(ROWS),
    "weights of NaN": np.full(ROWS, np.nan),
    "weights of inf": np.full(ROWS, np.inf),
    "weights of zero": np.zeros(ROWS),
    "masked weights": np.ma.masked_less(np.arange(ROWS), 3),
    "weights in words": ["much"] * ROWS,
}
CONSTRAINTS = {
    "links to rows that are not there": PairwiseConstraints.from_links([(0, 99)], []),
    "links that are a list": [(0, 1)],
    "links that are a word": "links.csv",
}
ENTRIES = (
    {name: Entry(X, refused=False, found=True) for name, X in RIGHT.items()}
    | {name: Entry(X, refused=True) for name, X in REFUSED.items()}
    | {name: Entry(X) for name, X in EITHER.items()}
    | {name: Entry(TABLE, {"sample_weight": given}, refused=True) for name, given in WEIGHTS.items()}
    | {name: Entry(TABLE, {"constraints": given}, refused=True) for name, given in CONSTRAINTS.items()}
)
GAPS = ("NaN", "NaN in the first cell", "None among objects", "a mask", "a DataFrame with a gap")  # EGMM takes them


def build(cls, **more):
    wanted = {"n_clusters": 2, "n_init": 1, "random_state": 0, **cls.method.quick}
    if "given" not in cls.method.number:
        del wanted["n_clusters"]
    if cls.method.name == "bootgmm":
        wanted |= {"n_boot": 40, "max_iter": 20}
    return cls(**{key: value for key, value in wanted.items() if key in cls.parameters} | more)


def fit(cls, X, **more):
    """The model after its warnings, or the refusal."""
    if "links" in cls.method.takes:
        more.setdefault("constraints", LINKS if X is not None and getattr(X, "shape", SHAPE)[:1] == (ROWS,) else None)
    if "labels" in cls.method.takes and cls.method.learner:
        more["y"] = GROUPS
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # collapses, and too few iterations: said, as they should be
        try:
            return build(cls).fit(X, **more), None
        except (ValueError, TypeError) as refusal:
            return None, refusal


# What to do, or what there should have been.
CURE = re.compile(
    r"\b(Give|Drop|drop|Take|take|Ask|Raise|raise|Lower|Look|Measure|Subtract|Convert|Fill|Use|Reshape|must|needs|"
    r"Cut|Divide|Leave|"
    r"fit\(X, constraints=)\b"
)


def check_sentence(cls, refusal, argument):
    """A refusal names the method by its record's class, or the argument, and says what to do."""
    words = str(refusal)
    assert type(refusal) in (ValueError, TypeError) or type(refusal).__module__.startswith("evidentia"), repr(refusal)
    names = [cls.__name__, argument, *(["[Ll]inks?"] if argument == "constraints" else [])]
    assert re.search(rf"\b({'|'.join(names)})\b", words), f"names neither method nor argument: {words}"
    assert CURE.search(words), f"says nothing to do: {words}"
    assert len(words) > 30, f"says too little: {words}"


@pytest.mark.parametrize(
    "name",
    [name for name, cls in ESTIMATORS.items() if "categories" not in cls.method.reads and not cls.method.reads_views],
)
@pytest.mark.parametrize("what", ENTRIES)
def test_every_input_has_a_right_result_or_a_sentence(name, what):
    cls, entry = ESTIMATORS[name], ENTRIES[what]
    given = entry.more or {}
    if ("sample_weight" in given and "weights" not in cls.method.takes) or (
        "constraints" in given and "links" not in cls.method.takes
    ):
        return
    model, refusal = fit(cls, entry.X, **given)
    if refusal is not None:
        assert entry.refused is not False, f"{type(refusal).__name__}: {refusal}"
        check_sentence(cls, refusal, next(iter(given), "X"))
        return
    able = {"missing values": GAPS, "rows beyond memory": SPARSE}
    assert not entry.refused or any(what in able.get(one, ()) for one in cls.method.takes), "was not refused"
    if cls.method.learner:
        assert np.isfinite(model.transform(entry.X)).all()
        return
    check_masses(model)
    if entry.found and name not in UNSURE and (name, what) not in LINKED:
        assert adjusted_rand_score(GROUPS, model.labels_) == 1


def in_views(X):
    """The input as one of two views of the same objects."""
    return [X, TABLE]


@pytest.mark.parametrize("name", [name for name, cls in ESTIMATORS.items() if "views" in cls.method.reads])
@pytest.mark.parametrize("what", [what for what, entry in ENTRIES.items() if "constraints" not in (entry.more or {})])
def test_every_view_has_a_right_result_or_a_sentence(name, what):
    cls, entry = ESTIMATORS[name], ENTRIES[what]
    model, refusal = fit(cls, in_views(entry.X), **(entry.more or {}))
    if refusal is not None:
        assert entry.refused is not False or what in NAMED, f"{type(refusal).__name__}: {refusal}"
        check_sentence(cls, refusal, "X")
        return
    assert not entry.refused or what in ABSENT, "was not refused"
    check_masses(model)
    if entry.found:
        assert adjusted_rand_score(GROUPS, model.labels_) == 1


MATRIX = np.linalg.norm(TABLE[:, None] - TABLE, axis=2)
CHANGED = {  # a matrix of dissimilarities, and whether it is refused
    "as it is": (MATRIX, False), "whole": (np.round(MATRIX).astype(int), False), "float32": (MATRIX.astype("f4"), None),
    "big-endian": (MATRIX.astype(">f8"), False), "read-only columns": (np.asfortranarray(MATRIX), False),
    "a list": (MATRIX.tolist(), False), "zeros within groups": (np.where(MATRIX > 5, 1.0, 0.0), False),
    "units of 1e100": (MATRIX * 1e100, False), "units of 1e-100": (MATRIX * 1e-100, False),
    "units of 1e-160": (MATRIX * 1e-160, True), "units of 1e160": (MATRIX * 1e160, True),
    "NaN": (np.where(np.eye(ROWS, k=1) + np.eye(ROWS, k=-1) > 0, np.nan, MATRIX), True), "zeros": (0 * MATRIX, True),
    "inf": (np.where(np.eye(ROWS, k=1) + np.eye(ROWS, k=-1) > 0, np.inf, MATRIX), True), "negative": (-MATRIX, True),
    "one-sided": (np.triu(MATRIX), True), "not square": (MATRIX[:, :-1], True), "a diagonal": (MATRIX + 1, True),
    "complex": (MATRIX + 1j, True), "text": (MATRIX.astype("U9"), None), "one object": (MATRIX[:1, :1], True),
    "a mask": (np.ma.masked_array(MATRIX, np.eye(ROWS, k=1) > 0), True), "other rows": (MATRIX[:-1, :-1], True),
    "dates": (np.round(MATRIX).astype("datetime64[D]"), True), "durations": (MATRIX.astype("timedelta64[s]"), True),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGED)
def test_every_matrix_of_a_view_has_a_right_result_or_a_sentence(what):
    cls, (matrix, refused) = ESTIMATORS["mecmdd"], CHANGED[what]
    model, refusal = fit(cls, [matrix, MATRIX])
    if refusal is not None:
        assert refused is not False, f"{type(refusal).__name__}: {refusal}"
        check_sentence(cls, refusal, "X")
        return
    assert not refused, "was not refused"
    check_masses(model)
    assert adjusted_rand_score(GROUPS, model.labels_) == 1


@pytest.mark.parametrize("name", [name for name, cls in ESTIMATORS.items() if "categories" in cls.method.reads])
@pytest.mark.parametrize("what", [what for what, entry in ENTRIES.items() if "constraints" not in (entry.more or {})])
def test_every_table_of_answers_has_a_right_result_or_a_sentence(name, what):
    cls, entry = ESTIMATORS[name], ENTRIES[what]
    if "sample_weight" in (entry.more or {}):
        entry = Entry((TABLE > 4).astype(int), entry.more, refused=True)
    model, refusal = fit(cls, entry.X, **(entry.more or {}))
    if refusal is not None:
        numbers = "numbers such as" in str(refusal)  # decimals are no categories for a method that takes nothing else
        assert entry.refused is not False or numbers, f"{type(refusal).__name__}: {refusal}"
        check_sentence(cls, refusal, next(iter(entry.more or {}), "X"))
        return
    assert not entry.refused or what in (*GAPS, *WORDS), "was not refused"
    check_masses(model)
    if entry.found and model.__dict__.get("numeric_", np.zeros(1)).all():
        assert adjusted_rand_score(GROUPS, model.labels_) == 1


def check_masses(model):
    masses = model.partition_.masses
    assert (masses >= 0).all()
    assert np.abs(masses.sum(axis=1) - 1).max() <= 1e-12


NAMED = ("a DataFrame with equal row names",)  # by which objects of several views are joined
ABSENT = ("a row of NaN",)  # an object that is not in the view
WORDS = (
    *("text", "bytes", "words", "objects that are words", "a DataFrame with text", "a DataFrame with categories"),
    "a row of NaN",
)
SPARSE = ("sparse", "a sparse matrix")
UNSURE = ("nnevclus",)  # twenty iterations are few for a network
LINKED = [("cecm", "units of 1e-30"), ("cecm", "units of 1e-100")]  # xi is in squared units: links are all that counts


def refused_values(check):
    """Values that a declared check does not accept."""
    tried = [-1e9, -1, 0, 0.5, 1, 1e9, np.nan, np.inf, "no such word", None, [], object(), True, b"x", 1 + 1j]
    return [value for value in tried if not check.accepts(value)]


PARAMETERS = [
    (name, parameter)
    for name, cls in ESTIMATORS.items()
    for parameter, declared in cls.parameters.items()
    if refused_values(declared.check)
]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_a_wrong_parameter_is_named_with_what_it_must_be(name, parameter):
    cls = ESTIMATORS[name]
    check = cls.parameters[parameter].check
    table = (TABLE > 4).astype(int) if "categories" in cls.method.reads else TABLE
    for value in refused_values(check):
        model = build(cls).set_params(**{parameter: value})
        more = {"y": GROUPS} if cls.method.learner and "labels" in cls.method.takes else {}
        with pytest.raises(ValueError, match=f"'{parameter}' parameter of {cls.__name__} must be") as refusal:
            model.fit(table, **more)
        assert check.words in str(refusal.value)


def test_the_table_holds_a_hundred_inputs():
    assert len(ENTRIES) >= 100
    assert len(PARAMETERS) >= 200


@pytest.mark.parametrize("check", [Number(low=0), Choice("a", "b"), Boolean(), Either(Number(), Choice("auto"))])
def test_every_kind_of_check_has_values_that_it_refuses(check):
    assert refused_values(check)
    assert refused_values(SEED)
    assert refused_values(BOOLEAN)
    assert refused_values(Predicate("None", lambda value: value is None))
