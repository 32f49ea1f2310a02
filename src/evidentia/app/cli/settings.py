"""Options that set the parameters of a method: ``--beta 1.5``, ``--focal-sets pairs``, ``--no-adaptive``.

Which there are, what they accept and what they mean is read from the declarations of the methods, so the command line
knows every method that has a record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from evidentia.app.cli.errors import UserError, closest
from evidentia.app.cli.files import check_file, is_large

SHORTER = {"n_init": "starts", "n_jobs": "jobs"}  # where the command line has a shorter word
ELSEWHERE = {"n_clusters", "cluster_range", "random_state", "verbose", "metric"}  # other options speak of these


def option_name(parameter: str) -> str:
    """``--focal-sets`` for ``focal_sets``."""
    return "--" + SHORTER.get(parameter, parameter).replace("_", "-")


def options_of(cls: Any) -> dict[str, str]:
    """Option names of the parameters of a method that can be written at the command line."""
    return {option_name(name): name for name, p in cls.parameters.items() if name not in ELSEWHERE and p.check.writable}


def read_settings(words: Sequence[str], cls: Any, methods: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a class from the words of the command line that no other option took.

    Examples
    --------
    >>> from evidentia.methods import clusterers, find
    >>> read_settings(["--beta", "1.5", "--focal-sets=pairs", "--adaptive"], find("ecm"), clusterers())
    {'beta': 1.5, 'focal_sets': 'pairs', 'adaptive': True}
    """
    known, given = options_of(cls), {}
    for option, value in _pairs(words):
        negated = option.startswith("--no-") and value is None
        plain = "--" + option.removeprefix("--no-") if negated else option
        if plain not in known:
            raise UserError(_unknown(plain, cls, methods))
        name = known[plain]
        check = cls.parameters[name].check
        given[name] = _value(value) if value is not None else not negated
        if not check.accepts(given[name]):
            shown = "nothing" if value is None else repr(value)
            raise UserError(f"{plain} of {cls.method.name} must be {check.words}. Got {shown}.")
    return given


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Options and the value behind each, None where the next option follows."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            raise UserError(f"There is one word too many: {word!r}. Names with spaces need quotes.")
        option, equals, value = word.partition("=")
        if equals:
            yield option, value
        else:
            yield option, None if not rest or rest[0].startswith("--") else rest.pop(0)


def _value(text: str) -> Any:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def _unknown(option: str, cls: Any, methods: Mapping[str, Any]) -> str:
    users = [name for name, other in methods.items() if option in options_of(other)]
    if users:
        return f"{option} means nothing to {cls.method.name}: it is an option of {', '.join(users)}."
    everything = sorted({known for other in methods.values() for known in options_of(other)})
    return f"There is no option {option}.{closest(option, everything)}"


class MethodCommand(TyperCommand):
    """A command that leaves unknown options to the method (``ctx.meta["settings"]``), and tells of them in its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and not {"-h", "--help"}.intersection(args):
            self.look_for(Path(args[0]))  # options of methods are looked up in all of them, which takes seconds
        known = {name for parameter in self.get_params(ctx) for name in (*parameter.opts, *parameter.secondary_opts)}
        rest, settings, words = [], [], list(args)
        while words:
            word = words.pop(0)
            if not word.startswith("--") or word == "--" or word.partition("=")[0] in known:
                rest.append(word)
                continue
            settings.append(word)
            if "=" not in word and words and not words[0].startswith("--") and not self._is_flag(word, words[0]):
                settings.append(words.pop(0))
        ctx.meta["settings"] = settings
        ctx.meta["method"] = dict(pairwise(rest)).get("--method")  # for the help, which is printed at once
        return super().parse_args(ctx, rest)

    @staticmethod
    def look_for(file: Path) -> None:
        """Refuse a file that is not there; rows that stay in their files are looked for by their reader."""
        if not is_large(file):
            check_file(file)

    @staticmethod
    def _is_flag(option: str, following: str) -> bool:
        """Whether it stands alone: a yes-or-no option, unless the word behind it says which."""
        from evidentia.methods import clusterers

        plain = "--" + option.removeprefix("--").removeprefix("no-")
        checks = [c.parameters[options_of(c)[plain]].check for c in clusterers().values() if plain in options_of(c)]
        return any(check.flag for check in checks) and following.lower() not in ("true", "false")

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from evidentia.methods import clusterers

        super().format_epilog(ctx, formatter)
        methods = {name: cls for name, cls in clusterers().items() if self.offers(cls)}
        asked = ctx.meta["method"]
        if asked in methods:
            with formatter.section(f"Options of {asked}, {methods[asked].method.line}"):
                formatter.write_dl(list(_meanings(methods[asked])))
            return
        with formatter.section("Methods"):
            formatter.write_dl([(name, cls.method.line) for name, cls in methods.items()])
        with formatter.section(
            "Options of the methods, with their defaults; --method NAME --help tells what they mean"
        ):
            formatter.write_dl(list(_defaults(methods)))

    @staticmethod
    def offers(cls: Any) -> bool:
        """Return whether the command can use a method."""
        return bool({"table", "categories", "dissimilarities"} & set(cls.method.reads)) or cls.method.reads_views


def _meanings(cls: Any) -> Iterator[tuple[str, str]]:
    """Every option of one method: what it means, what it accepts, its default."""
    for option, name in options_of(cls).items():
        parameter = cls.parameters[name]
        text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", parameter.doc.replace("``", ""))
        yield option, f"{' '.join(text.split())} ({parameter.check.words}; default {parameter.default})"


def _defaults(methods: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every option with the methods that have it, by their default."""
    for option in dict.fromkeys(option for cls in methods.values() for option in options_of(cls)):
        by_default: dict[str, list[str]] = {}
        for name, cls in methods.items():
            if option in options_of(cls):
                default = cls.parameters[options_of(cls)[option]].default
                by_default.setdefault(str(default), []).append(name)
        yield option, "; ".join(f"{default}: {', '.join(names)}" for default, names in by_default.items())
