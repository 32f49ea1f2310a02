"""Fit every exported estimator to cruel tables, with each matrix product of the package looking at what it is given.

Whether an infinity or a NaN in a product is noticed depends on the processor, so a warning is no test of it. Imported
before ``evidentia``, this module rewrites ``a @ b``, ``np.einsum(...)`` and their like in the source of the package so
that every factor is checked; run as a script, it prints as JSON what it found::

    NUMBA_DISABLE_JIT=1 python tests/watched_products.py

Compiled functions are plain Python then, so their products are looked at as well.
"""

import ast
import importlib.abc
import importlib.machinery
import json
import sys
import warnings

import numpy as np

PRODUCTS = {"bmm", "dot", "einsum", "inner", "matmul", "mm", "multi_dot", "tensordot", "vdot"}
bad_products: set[str] = set()
n_looked_at = 0


def look(factor, where):
    """The factor itself; ``where`` is kept if it has an entry that is not finite."""
    global n_looked_at
    n_looked_at += 1
    numbers = factor.detach().numpy() if hasattr(factor, "detach") else factor  # a tensor of torch
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
        bad_products.add(where)
    return factor


class _Watch(ast.NodeTransformer):
    def __init__(self, module):
        self.module = module

    def _watched(self, factor, node):
        where = ast.Constant(f"{self.module}, line {node.lineno}")
        return ast.copy_location(ast.Call(ast.Name("__look__", ast.Load()), [factor, where], []), factor)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            node.left, node.right = self._watched(node.left, node), self._watched(node.right, node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in PRODUCTS:
            node.args = [self._watched(argument, node) for argument in node.args]
        return node


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return compile(ast.fix_missing_locations(_Watch(self.name).visit(ast.parse(self.get_data(path)))), path, "exec")

    def exec_module(self, module):
        module.__look__ = look
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.split(".")[0] != "evidentia":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def cruel_tables():
    """Tables on which clusters die, sets of clusters lose all their mass, or covariances collapse."""
    rng = np.random.default_rng(3)
    groups = rng.normal(size=(18, 2)) + np.repeat([[0, 0], [0, 0], [400, 90]], 6, axis=0)
    yield "far groups", groups
    yield "copies of three rows", np.repeat([[0.0, 1.0], [5.0, 2.0], [0.5, 7.0]], 6, axis=0)
    yield "an outlier", np.vstack([rng.normal(size=(17, 2)), [[1e5, -1e5]]])
    yield "one dimension, tiny numbers", 1e-4 * np.vstack([rng.normal(size=(9, 1)), 1e3 + rng.normal(size=(9, 1))])


def _fits(name, X):
    """Arguments of the estimator and of ``fit``: plain, with rows that count nothing, holes, links, a lost cluster."""
    model, rows = build(name), len(X)
    more = {"y": np.arange(rows) // 6} if model.__sklearn_tags__().target_tags.required else {}
    if "links" in model.method.takes:
        more["constraints"] = PairwiseConstraints.sample(np.arange(rows) % 2, 4, random_state=0)
    yield {}, {"X": X, **more}
    if "weights" in model.method.takes:
        yield {}, {"X": X, "sample_weight": np.where(np.arange(rows) < 6, 0.0, 1.5), **more}
    if model.__sklearn_tags__().input_tags.allow_nan and X.shape[1] > 1:
        yield {}, {"X": np.where(np.arange(X.size).reshape(X.shape) % 7 == 3, np.nan, X), **more}
    if model.get_params().get("init") == "k-means":
        nowhere = X.mean(axis=0) + 50 * np.ptp(X, axis=0)
        yield {"init": np.vstack([X[0], nowhere])}, {"X": X, **more}


def _fit_and_use(name, given, arguments):
    X = arguments["X"]
    if name == "LatentClassMixture":
        arguments = {**arguments, "X": np.where(np.isnan(X), np.nan, np.nanmean(X, axis=0) < X)}
    model = build(name).set_params(**given)
    if hasattr(model, "transform") and "n_components" in model.get_params():
        model.set_params(n_components=1)
    model.fit(**arguments)
    for method in ("predict_partition", "transform"):
        if hasattr(model, method):
            getattr(model, method)(arguments["X"])


def main():
    warnings.simplefilter("ignore")
    report = {}
    for name in ESTIMATORS:
        bad_products.clear()
        fitted, before, refusals = 0, n_looked_at, []
        for table, X in cruel_tables():
            for given, arguments in _fits(name, X):
                try:
                    _fit_and_use(name, given, arguments)
                    fitted += 1
                except ValueError as refusal:
                    refusals.append(f"{table}: {refusal}")
        report[name] = {
            "fitted": fitted,
            "refusals": refusals,
            "looked_at": n_looked_at - before,
            "bad": sorted(bad_products),
        }
    json.dump(report, sys.stdout, indent=1)


if __name__ == "__main__":
    sys.meta_path.insert(0, _Finder())
    from evidentia import PairwiseConstraints
    from test_every_estimator import ESTIMATORS, build

    main()
