"""Sphinx settings. ``make docs`` builds the pages; ``python -m sphinx -b doctest docs docs/_build`` runs the guide."""

import doctest
import sys
from pathlib import Path

import evidentia

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "evidentia"
author = "The evidentia developers"
copyright = "2026, the evidentia developers"
version = release = evidentia.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "numpydoc",
    "formulas",  # from here: docs/extensions
]
exclude_patterns = ["_build"]
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme = "furo"
html_title = f"evidentia {release}"
html_copy_source = False

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

# The doctest directives of the guide run here; the examples inside docstrings run with the tests, in their own modules.
doctest_test_doctest_blocks = ""
doctest_default_flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
doctest_global_setup = """
import os, tempfile, matplotlib
matplotlib.use("agg")
_home, _scratch = os.getcwd(), tempfile.TemporaryDirectory()
os.chdir(_scratch.name)  # some examples write files
"""
doctest_global_cleanup = """
os.chdir(_home)
_scratch.cleanup()
"""

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types are in the numpydoc sections, with shapes
autodoc_default_options = {"exclude-members": "set_fit_request, set_score_request, set_output, get_metadata_routing"}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Every reference inside the library must lead somewhere; those to other libraries are not linked.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(numpy|pandas|matplotlib|sklearn|scipy|anndata)\..*")]
