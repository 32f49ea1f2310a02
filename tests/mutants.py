"""Mutation testing: small mistakes are put into the code one at a time, and the tests that run that line must notice.

``make mutants`` tries every mutant of ``belief``, ``solvers`` and ``partition``; ``ARGS="--sample 40 solvers/irqp.py"``
some of one file. Tests are collected once; each mutant lives in a fork whose functions have been given the code of the
changed file, so nothing is imported or collected again. Compiled loops are run as plain Python, in a process of their
own. What was killed is kept by the text of its file; survivors are tried again by every run.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import gc
import hashlib
import json
import math
import os
import random
import resource
import select
import signal
import subprocess
import sys
import time
import traceback
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "evidentia"
TESTS = {  # of each package, besides the examples of its docstrings
    "belief": ["tests/belief"],
    "partition": ["tests/partition"],
    "solvers": [
        *("tests/solvers", "tests/prototypes/test_cecm_masses.py", "tests/prototypes/test_prototype_kernel.py"),
        *("tests/relational/test_evclus_descent.py", "tests/mixtures/test_covariances.py"),
        *("tests/test_callbacks.py", "tests/test_partial_fit.py"),
    ],
}
LEFT_OUT = SOURCE / "solvers" / "compiling.py"  # a decorator: it has run before any mutant can take its place
SLOWEST = 3.0  # seconds of a core; a slower test takes no part
COMPILING = 90.0  # seconds that a test may take the first time, when its loops are compiled and kept on disk
CANARY = -1  # the number of the mutant that must die: every function of the file raises

# -- the mutants of a file -------------------------------------------------------------------------------------------

OTHER = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.MatMult: ast.Mult},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr},
    **{ast.LShift: ast.RShift, ast.RShift: ast.LShift},
}
COMPOUND = (ast.If, ast.While, ast.For, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef)
NOT_RUN = {"annotation", "returns", "decorator_list"}


class Mutant(NamedTuple):
    """One change of a file: where it stands, how it reads, and how it is made in the file's tree."""

    first: int  # lines whose tests may notice it
    last: int
    inside: bool  # of a function; else it is run when the file is imported
    text: str
    apply: Callable[[], None]


def replacements(node: ast.AST, field: str) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    match node:
        case ast.Compare() | ast.BoolOp() | ast.BinOp() | ast.AugAssign():
            if not (isinstance(node, ast.BinOp) and isinstance(node.left, ast.JoinedStr)):
                changed = copy.deepcopy(node)
                if isinstance(changed, ast.Compare):
                    changed.ops[0] = OTHER[type(changed.ops[0])]()
                else:
                    changed.op = OTHER[type(changed.op)]()
                yield changed
        case ast.UnaryOp():
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1 if node.value + 1 != node.value else node.value / 2)
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
    if field == "test":
        yield ast.UnaryOp(ast.Not(), node)
    removable = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    if removable or isinstance(node, ast.AugAssign | ast.Raise | ast.Delete) or _fills(node):
        yield ast.Pass()


def _fills(node: ast.AST) -> bool:
    """An assignment into an array or an object; without one to a plain name the next line would fail anyway."""
    return isinstance(node, ast.Assign) and not any(isinstance(it, ast.Name | ast.Tuple) for it in node.targets)


def mutants(tree: ast.AST, first: int = 0, last: int = 0, inside: bool = False) -> Iterator[Mutant]:
    """Every mutant of what stands below a node, in the order of the text."""
    for field, value in ast.iter_fields(tree):
        if field in NOT_RUN or _only_for_types(tree):
            continue
        within = inside or (isinstance(tree, ast.FunctionDef | ast.Lambda) and field == "body")
        for place, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST):
                continue
            if isinstance(node, ast.stmt):
                first, last = node.lineno, node.end_lineno or node.lineno
                if isinstance(node, COMPOUND):
                    last = max(first, node.body[0].lineno - 1)
            for new in replacements(node, field):
                ast.copy_location(new, node)
                yield Mutant(first, last, within, _wording(node, new), functools.partial(_set, tree, field, place, new))
            yield from mutants(node, first, last, within)


def _only_for_types(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        return any(ast.unparse(it) == "overload" for it in node.decorator_list)
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _wording(old: ast.AST, new: ast.AST) -> str:
    return f"{' '.join(ast.unparse(old).split())[:110]}  =>  {' '.join(ast.unparse(new).split())[:110]}"


def _set(tree: ast.AST, field: str, place: int, new: ast.AST) -> None:
    value = getattr(tree, field)
    if isinstance(value, list):
        value[place] = new
    else:
        setattr(tree, field, new)


def mutated(path: Path, number: int) -> types.CodeType:
    """The code of a file with one of its mutants in it."""
    text = path.read_text(encoding="utf-8")
    tree, free = ast.parse(text), {key: it.co_freevars for key, it in nested(compile(text, str(path), "exec")).items()}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = {key[1]: found for key, found in free.items() if found}
    if number == CANARY:
        for node in functions:
            node.body = [ast.copy_location(ast.parse("raise SystemError").body[0], node)]
    else:
        list(mutants(tree))[number].apply()
    for node in functions:  # code takes the place of code with as many free variables only
        if used := names.get(min([node.lineno, *(it.lineno for it in node.decorator_list)])):
            node.body.append(ast.copy_location(ast.parse(f"if 0: {', '.join(used)}").body[0], node))
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


def nested(code: types.CodeType) -> dict[tuple[str, int], types.CodeType]:
    """The code of all functions of a file, by name and first line."""
    found = {}
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            found |= {(part.co_qualname, part.co_firstlineno): part, **nested(part)}
    return found


# -- into the process ------------------------------------------------------------------------------------------------


def transplant(path: Path, number: int) -> None:
    """Run the changed file aside, then give its code, defaults and constants to the functions that all others hold."""
    name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    module = sys.modules[name]
    changed = types.ModuleType(name)
    changed.__dict__.update({key: module.__dict__[key] for key in ("__file__", "__package__", "__spec__")})
    sys.modules[name] = changed  # dataclasses look their module up by name
    code = mutated(path, number)
    gc.disable()
    gc.collect(0)
    try:
        exec(code, changed.__dict__)
    except Exception as error:
        raise ImportError(repr(error)) from error
    sys.modules[name] = module
    old, new = _functions(module, gc.get_objects()), _functions(changed, gc.get_objects(generation=0))
    gc.enable()
    codes = nested(code)
    for key, functions in old.items():
        for mine, other in zip(functions, new.get(key, [])):
            mine.__code__, mine.__defaults__ = other.__code__, other.__defaults__
            mine.__kwdefaults__ = other.__kwdefaults__
        if key not in new and key in codes:  # of a decorator, which made them when other files were imported
            for mine in functions:
                mine.__code__ = codes[key]
    for key, value in changed.__dict__.items():
        if isinstance(value, int | float | tuple | frozenset | dict | np.ndarray) and not key.startswith("__"):
            was = module.__dict__[key]
            for holder in [it for it in sys.modules.values() if getattr(it, "__name__", "").startswith("evidentia")]:
                if holder.__dict__.get(key) is was:
                    setattr(holder, key, value)


def _functions(module: types.ModuleType, objects: list[Any]) -> dict[tuple[str, int], list[types.FunctionType]]:
    found = defaultdict(list)
    for it in objects:
        if type(it) is types.FunctionType and it.__globals__ is module.__dict__:
            found[it.__code__.co_qualname, it.__code__.co_firstlineno].append(it)
    return found


def in_a_fork(work: Callable[[], Any], limit: float) -> Any:
    """What the work gives, as JSON, from a child of this process; None if it died or took more seconds of a core."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit)))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        try:
            try:
                found = json.dumps([work(), None]).encode()
            except Exception:
                found = json.dumps([None, traceback.format_exc()]).encode()
            while found:
                found = found[os.write(writing, found) :]
        finally:
            os._exit(0)
    os.close(writing)
    end, pieces = time.monotonic() + 10 * limit, []  # for one that waits; who computes too long is ended by the system
    while select.select([reading], [], [], max(0.0, end - time.monotonic()))[0] and (
        piece := os.read(reading, 1 << 16)
    ):
        pieces.append(piece)
    os.close(reading)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)  # not yet the leader of a group of its own
    os.waitpid(child, 0)
    try:
        result, mistake = json.loads(b"".join(pieces))
    except ValueError:
        return None
    if mistake is not None:
        raise RuntimeError(f"This is a mistake of the runner, not of a mutant:\n{mistake}")
    return result


# -- the tests -------------------------------------------------------------------------------------------------------


def digest(*texts: str) -> str:
    """A number that stands for texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def read(path: Path) -> dict[str, Any]:
    """What an earlier run kept."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(path: Path, found: dict[str, Any]) -> None:
    """Keep it, whole or not at all."""
    new = path.with_suffix(".part")
    new.write_text(json.dumps(found, indent=1), encoding="utf-8")
    new.replace(path)


class Trial:
    """A plugin of pytest: once all tests are collected, every mutant of some files is tried with those that run it."""

    def __init__(self, paths: list[Path], sample: int | None, kept: Path, seed: str = "") -> None:
        self.paths, self.sample, self.kept, self.seed = paths, sample, kept, seed
        self.out = os.fdopen(os.dup(1), "w", buffering=1)  # pytest takes the other

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of a run of the tests."""
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings.get_profile("evidentia"), phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")  # one example that fails is enough: a smaller one need not be looked for
        session.config.pluginmanager.unregister(name="terminalreporter")
        self.items = {item.nodeid: item for item in session.items}
        self.measured = self.measure_all(session)
        left_out = [test for test in self.items if not self.measured[test]["seconds"]]
        print(f"{len(self.items)} tests; too slow or failing as it is:", *left_out, sep="\n  ", file=self.out)
        for path in self.paths:
            self.try_file(session, path)
        return True

    def measure_all(self, session: pytest.Session) -> dict[str, dict[str, Any]]:
        """Seconds and lines of every test, kept while neither the test's file nor the code changes."""
        path = self.kept.with_suffix(".tests.json")
        kept = read(path)
        code = [it.read_text(encoding="utf-8") for name in TESTS for it in sorted((SOURCE / name).rglob("*.py"))]
        mode = os.environ.get("NUMBA_DISABLE_JIT", "0")
        found = {}
        for test, item in self.items.items():
            now = digest(mode, *code, item.path.read_text(encoding="utf-8"))
            if kept.get(mode + test, {}).get("digest") != now:
                look = functools.partial(self.measure, session, item)
                measured = in_a_fork(look, SLOWEST)
                if measured is None and mode == "0" and in_a_fork(look, COMPILING):
                    measured = in_a_fork(look, SLOWEST)
                kept[mode + test] = {"digest": now, **(measured or {"seconds": None, "lines": {}})}
                write(path, kept)
            found[test] = kept[mode + test]
        return found

    def measure(self, session: pytest.Session, item: pytest.Item) -> dict[str, Any] | None:
        """Seconds of a test, and the lines that it runs; nothing if it fails."""
        import coverage

        include = [str(SOURCE / name / "*") for name in TESTS]
        tracer = coverage.Coverage(data_file=None, config_file=False, include=include)
        tracer.set_option("run:disable_warnings", ["no-data-collected"])
        start = time.process_time()
        tracer.start()
        failed = self.first_failure(session, [item])
        tracer.stop()
        if failed is not None:
            return None
        data = tracer.get_data()
        lines = {str(Path(path).relative_to(SOURCE)): data.lines(path) for path in data.measured_files()}
        return {"seconds": time.process_time() - start, "lines": lines}

    def first_failure(self, session: pytest.Session, items: list[pytest.Item]) -> str | None:
        """The first of some tests that fails."""
        for item, following in zip(items, [*items[1:], None]):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return item.nodeid
        return None

    def try_file(self, session: pytest.Session, path: Path) -> None:
        """Try the mutants of a file and keep what became of each."""
        text = path.read_text(encoding="utf-8")
        name, now, results = str(path.relative_to(SOURCE)), digest(text), read(self.kept)
        mine = results.get(name, {})
        mine = results[name] = mine if mine.get("digest") == now else {"digest": now, "fate": {}}
        all_mutants = list(mutants(ast.parse(text)))
        mine["mutants"] = len(all_mutants)
        chosen = list(range(len(all_mutants)))
        if self.sample is not None and self.sample < len(chosen):
            chosen = sorted({*random.Random(name + self.seed).sample(chosen, self.sample), *map(int, mine["fate"])})
        if all_mutants and not self.fate(session, path, CANARY, range(len(text))).startswith("killed"):
            raise SystemExit(
                f"Every function of {name} raises, and no test notices: mutants are not what the tests run."
            )
        for number in chosen:
            mutant = all_mutants[number]
            if not mine["fate"].get(str(number), "").startswith("killed"):
                where = range(mutant.first, mutant.last + 1) if mutant.inside else range(len(text))
                mine["fate"][str(number)] = self.fate(session, path, number, where)
                if not mine["fate"][str(number)].startswith("killed"):
                    print(
                        f"  {mine['fate'][str(number)]} {name}:{mutant.first} #{number}  {mutant.text}", file=self.out
                    )
                write(self.kept, results)
        write(self.kept, results)
        print(summary(name, [mine]), file=self.out)

    def fate(self, session: pytest.Session, path: Path, number: int, lines: range) -> str:
        """What becomes of a mutant: killed and by which test, survived, or not run by any."""
        name = str(path.relative_to(SOURCE))
        ids = [test for test, it in self.measured.items() if not set(lines).isdisjoint(it["lines"].get(name, []))]
        seconds = {test: self.measured[test]["seconds"] for test in ids}
        ids.sort(key=seconds.__getitem__)
        if not ids:
            return "not run"

        def work() -> list[str | None]:
            try:
                transplant(path, number)
            except ImportError as error:
                return [f"its import, {error}"]
            return [self.first_failure(session, [self.items[test] for test in ids])]

        found = in_a_fork(work, 20 + 5 * sum(seconds.values()))
        if found is None:
            return "killed by the clock, or by what ends a process"
        return "survived" if found[0] is None else f"killed by {found[0]}"


def summary(name: str, results: list[dict[str, Any]]) -> str:
    """How many mutants of some files were tried and killed."""
    fates = Counter(fate.split()[0] for result in results for fate in result["fate"].values())
    killed, tried, there = fates["killed"], fates.total(), sum(result["mutants"] for result in results)
    return f"{name}: {killed} of {tried} killed ({killed / max(1, tried):.1%}), {there} in all"


def main() -> None:
    """Try the mutants of some files, those with compiled loops in a process without the compiler."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("files", nargs="*", default=TESTS, help="such as solvers/irqp.py, or a package")
    parser.add_argument("--sample", type=int, help="so many random mutants of each file, always the same ones")
    parser.add_argument("--seed", default="", help="any word: another sample than that without one")
    parser.add_argument("--kept", type=Path, default=ROOT / "out" / "mutants.json", help="what earlier runs found")
    given = parser.parse_args()
    without = os.environ.get("NUMBA_DISABLE_JIT")
    given.kept.parent.mkdir(exist_ok=True)
    paths = [it for name in given.files for it in sorted((SOURCE / name).rglob("*.py")) or [SOURCE / name]]
    paths = [path for path in paths if path != LEFT_OUT]
    chosen = [path for path in paths if ("@compiled" in path.read_text(encoding="utf-8")) == bool(without)]
    for package, tests in TESTS.items():
        mine = [path for path in chosen if path.parent.name == package]
        if mine:
            source = f"src/evidentia/{package}"
            trial = Trial(mine, given.sample, given.kept, given.seed)
            pytest.main(["-q", "-p", "no:cacheprovider", *tests, source], plugins=[trial])
    if len(chosen) < len(paths) and not without:
        again = [sys.executable, __file__, *sys.argv[1:]]
        subprocess.run(again, check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    for package in () if without else TESTS:
        print(summary(package, [it for name, it in read(given.kept).items() if name.startswith(package)]))


if __name__ == "__main__":
    main()
