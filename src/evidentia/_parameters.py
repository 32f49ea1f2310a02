"""Parameters of estimators, each declared once: its default, the values it may have, and what it means.

A class that derives from :class:`~evidentia._base.MethodBase` lists its parameters in its body. Its constructor, the
check of its values and the ``Parameters`` part of its docstring are made from that list, and a subclass inherits it:

>>> from evidentia._base import MethodBase
>>> class Toy(MethodBase):
...     '''A toy [1]_.
...
...     Notes
...     -----
...     Nothing.
...     '''
...     n_clusters: int | str = param(Integer(low=1) | "auto", "Number of clusters.", default=2, kw_only=False)
...     beta: float = param(Number(above=1, below=10), "Fuzzifier.", default=2.0)
>>> toy = Toy(3, beta=1)
>>> toy
Toy(beta=1, n_clusters=3)
>>> toy.check_parameters()
Traceback (most recent call last):
...
ValueError: The 'beta' parameter of Toy must be a number > 1 and < 10. Got 1 instead.
>>> print(Toy.__doc__)
A toy [1]_.
<BLANKLINE>
Parameters
----------
n_clusters : int >= 1 or "auto", default=2
    Number of clusters.
beta : float > 1 and < 10, default=2.0
    Fuzzifier.
<BLANKLINE>
Notes
-----
Nothing.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state

from evidentia._docstrings import entry, join_sections, section, split_sections


class Check:
    """Which values a parameter may have: ``words`` for messages, ``kind`` for docstrings.

    ``writable`` says whether some of them can be written as a word, as at the command line; a ``flag`` needs no word.
    """

    words: str
    kind: str
    writable = True
    flag = False

    def accepts(self, value: Any) -> bool:
        raise NotImplementedError

    def cure(self, value: Any) -> str:
        """What to do about a value that is refused, as one more sentence, where there is something."""
        return ""

    def __or__(self, other: Check | str) -> Check:
        return Either(self, Choice(other) if isinstance(other, str) else other)


class Number(Check):
    """A finite number in ``[low, high]``; ``above`` and ``below`` are limits that it may not reach."""

    _type: ClassVar[tuple[Any, str, str]] = (Real, "a number", "float")

    def __init__(
        self, low: float = -np.inf, high: float = np.inf, *, above: float | None = None, below: float | None = None
    ):
        self.low, self.high = low if above is None else above, high if below is None else below
        self.above, self.below = above is not None, below is not None
        least = f"{'>' if self.above else '>='} {self.low:g}"
        most = f"{'<' if self.below else '<='} {self.high:g}"
        limits = [least] * isfinite(self.low) + [most] * isfinite(self.high)
        _, words, kind = self._type
        self.words, self.kind = (" ".join([name, " and ".join(limits)]).strip() for name in (words, kind))

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, self._type[0]) or isinstance(value, bool | np.bool_):
            return False
        number = float(value)
        return (
            isfinite(number)
            and (self.low < number if self.above else self.low <= number)
            and (number < self.high if self.below else number <= self.high)
        )


class Integer(Number):
    """A whole number in ``[low, high]``."""

    _type = (Integral, "an integer", "int")


class Choice(Check):
    """One of some words."""

    def __init__(self, *options: str):
        self.options = options
        quoted = [f'"{option}"' for option in options]
        self.kind = quoted[0] if len(options) == 1 else "{" + ", ".join(quoted) + "}"
        self.words = ("" if len(options) == 1 else "one of ") + ", ".join(map(repr, options))

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options


class Predicate(Check):
    """Values for which a function returns True; without a function, all values but words."""

    writable = False

    def __init__(self, words: str, accepts: Callable[[Any], bool] | None = None):
        self.words = self.kind = words
        self._accepts = accepts

    def accepts(self, value: Any) -> bool:
        return not isinstance(value, str) if self._accepts is None else bool(self._accepts(value))


class Boolean(Check):
    """True or False."""

    words, kind, flag = "a bool", "bool", True

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)


class Either(Check):
    """What one of several checks accepts."""

    def __init__(self, *checks: Check):
        self.checks = checks
        self.writable, self.flag = (any(getattr(check, name) for check in checks) for name in ("writable", "flag"))
        self.words, self.kind = (" or ".join(getattr(check, name) for check in checks) for name in ("words", "kind"))

    def accepts(self, value: Any) -> bool:
        return any(check.accepts(value) for check in self.checks)

    def cure(self, value: Any) -> str:
        return "".join(check.cure(value) for check in self.checks)


BOOLEAN = Boolean()
NOTHING = Predicate("None", lambda value: value is None)
ANYTHING = Predicate("object", lambda value: True)


class Seed(Integer):
    """A source of random numbers that scikit-learn takes."""

    def __init__(self) -> None:
        super().__init__(low=0, high=2**32 - 1)
        self.words = "None, an integer >= 0 and < 2**32, or a numpy.random.RandomState"
        self.kind = "int, RandomState or None"

    def accepts(self, value: Any) -> bool:
        return value is None or value is np.random or isinstance(value, np.random.RandomState) or super().accepts(value)

    def cure(self, value: Any) -> str:
        drawn = " Draw an integer from it: int(rng.integers(2**32))."
        return drawn if isinstance(value, np.random.Generator) else ""


class Jobs(Integer):
    """A number of threads that work side by side, as joblib counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.words = "None or an integer other than 0 (-1: all cores)"
        self.kind = "int or None"

    def accepts(self, value: Any) -> bool:
        return value is None or (super().accepts(value) and value != 0)


SEED = Seed()
JOBS = Jobs()


def check_value(check: Check, value: Any, name: str, estimator_name: str) -> None:
    """Refuse a value of a parameter of a class or function that the check does not accept.

    Examples
    --------
    >>> check_value(JOBS, 0, "n_jobs", "select")
    Traceback (most recent call last):
    ...
    ValueError: The 'n_jobs' parameter of select must be None or an integer other than 0 (-1: all cores). Got 0 instead.
    """
    if not check.accepts(value):
        raise ValueError(
            f"The '{name}' parameter of {estimator_name} must be {check.words}. Got {value!r} "
            f"instead.{check.cure(value)}"
        )


def random_numbers(random_state: Any, estimator_name: str) -> np.random.RandomState:
    """Return the generator for the ``random_state`` that a class or function was given."""
    check_value(SEED, random_state, "random_state", estimator_name)
    return check_random_state(random_state)


def unknown_name(name: str, known: Iterable[str], estimator_name: str) -> str:
    """Return the message about a parameter that does not exist, with the name that was probably meant.

    Examples
    --------
    >>> unknown_name("n_cluster", ["beta", "n_clusters"], "Toy")
    "Toy has no parameter 'n_cluster'. Did you mean 'n_clusters'?"
    """
    known = list(known)
    near = difflib.get_close_matches(name, known, 1)
    hint = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(known)}."
    return f"{estimator_name} has no parameter {name!r}. {hint}"


@dataclass(frozen=True)
class Parameter:
    """One parameter: the default, the check, the meaning, and whether it must be given by its name."""

    check: Check
    doc: str
    default: Any
    kw_only: bool


def param(check: Check, doc: str = "", *, default: Any, kw_only: bool = True) -> Any:
    """Declare a parameter in the body of a class of estimators."""
    return Parameter(check, doc, default, kw_only)


UNSET = object()  # a class has no value for an attribute that only a fit sets


@dataclass(frozen=True)
class Fitted:
    """Mark an attribute that a fit leaves behind, with the value of a class for it."""

    default: Any


def fitted(default: Any = UNSET, *, init: Literal[False] = False) -> Any:
    """Declare an attribute that a fit leaves behind in the body of a class of estimators; no parameter.

    A private one has to be declared: a model that is loaded from a file may have no others.
    """
    return Fitted(default)


def declare(cls: Any) -> None:
    """Make the constructor and the docstring of a class from the parameters and attributes in its body.

    ``cls.parameters`` then maps names to declarations, the class's own before those it inherits, and ``cls.attributes``
    maps what ``fit`` leaves behind to a line (type) and an explanation. ``cls.left_by_fit`` names what is declared by
    :func:`fitted`.
    """
    own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
    above, shown = _inherit(cls, "parameters"), dict(vars(cls).get("attributes", {}))
    hidden = {name for name in above if name in vars(cls) and name not in own}  # fixed by this class
    inherited = {name: value for name, value in above.items() if name not in {*own, *hidden}}
    cls.parameters = MappingProxyType({**own, **inherited})
    cls.attributes = MappingProxyType({**shown, **_inherit(cls, "attributes"), **shown})
    for name, parameter in own.items():
        setattr(cls, name, parameter.default)
    left = {name: value.default for name, value in vars(cls).items() if isinstance(value, Fitted)}
    cls.left_by_fit = frozenset(left).union(*(getattr(base, "left_by_fit", ()) for base in cls.__bases__))
    for name, default in left.items():
        if default is UNSET:
            delattr(cls, name)
        else:
            setattr(cls, name, default)
    if cls.parameters != getattr(super(cls, cls), "parameters", {}) and "__init__" not in vars(cls):
        cls.__init__ = _constructor(cls.parameters)
    if "__doc__" in vars(cls) and cls.__doc__:
        cls.__doc__ = _document(cls)


def _inherit(cls: type, name: str) -> dict[str, Any]:
    """What the bases declare under a name; the first base that speaks of a thing has its way."""
    found: dict[str, Any] = {}
    for base in cls.__bases__:
        found |= {key: value for key, value in getattr(base, name, {}).items() if key not in found}
    return found


def _constructor(parameters: Mapping[str, Parameter]) -> Callable[..., None]:
    """An ``__init__`` that only stores, with the signature that scikit-learn and editors read."""
    place, key = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    listed = sorted(parameters.items(), key=lambda item: item[1].kw_only)
    signature = inspect.Signature(
        [
            inspect.Parameter("self", place),
            *(inspect.Parameter(n, key if p.kw_only else place, default=p.default) for n, p in listed),
        ]
    )

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError:
            raise TypeError(_misfit(type(self).__name__, dict(listed), args, kwargs)) from None
        bound.apply_defaults()
        for name in parameters:
            setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _misfit(
    estimator_name: str, parameters: Mapping[str, Parameter], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> str:
    """Return why a constructor does not take these arguments."""
    for name in kwargs:
        if name not in parameters:
            return unknown_name(name, parameters, estimator_name)
    places = [name for name, parameter in parameters.items() if not parameter.kw_only]
    if len(args) > len(places):
        example = next(name for name in parameters if name not in places)
        allowed = f"only {', '.join(map(repr, places))}" if places else "no value"
        cure = f"name the others, as in {example}=..."
        return f"{estimator_name} takes {allowed} without a name. Got {len(args)} values: {cure}"
    return (
        f"{estimator_name} was given {', '.join(repr(name) for name in places[: len(args)] if name in kwargs)} twice."
    )


def _document(cls: Any) -> str:
    """The docstring with the parts ``Parameters`` and ``Attributes`` made from the declarations."""
    head, sections = split_sections(cls.__doc__)
    if "Parameters" not in sections and cls.parameters:
        listed = sorted(cls.parameters.items(), key=lambda item: item[1].kw_only)
        sections["Parameters"] = section("Parameters", [_describe(name, parameter) for name, parameter in listed])
    described = sections.pop("Attributes", section("Attributes", []))
    own = {name for head in re.findall(r"^(\w[\w, ]*) :", described, re.M) for name in head.split(", ")}
    entries = [entry(name, doc) for name, doc in cls.attributes.items() if name not in own]
    if entries or "\n" in described.removeprefix(section("Attributes", [])):
        sections["Attributes"] = "\n".join([described, *entries])
    return join_sections(head, sections)


def _describe(name: str, parameter: Parameter) -> str:
    default = parameter.default
    value = f'"{default}"' if isinstance(default, str) else getattr(default, "__name__", None) or repr(default)
    return entry(name, f"{parameter.check.kind}, default={value}\n{inspect.cleandoc(parameter.doc)}")
