"""A name that the package exports leads to the page of its home: ``evidentia.EGMM`` to ``evidentia.mixtures.EGMM``."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import evidentia


def find_home(app: Sphinx, env: BuildEnvironment, node: nodes.Element, content: nodes.Element) -> nodes.Element | None:
    """Look again under the family of an exported name (``evidentia.mixtures``) and under its file."""
    package, _, rest = node.get("reftarget", "").partition(".")
    name, _, member = rest.partition(".")
    if node.get("refdomain") != "py" or package != "evidentia" or name not in evidentia.__all__:
        return None
    domain = env.get_domain("py")
    module = getattr(evidentia, name).__module__
    for home in (module, module.rpartition(".")[0]):
        target = ".".join(filter(None, (home, name, member)))
        if found := domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], target, node, content):
            return found
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("missing-reference", find_home)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
