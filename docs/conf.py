"""Sphinx settings. ``make docs`` builds the pages; ``python -m sphinx -b doctest docs docs/_build`` runs the guide."""

import doctest
import sys
from pathlib import Path

import numpydoc.xref

import evidentia

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "evidentia"
author = "The evidentia developers"
copyright = "2026, the evidentia developers"
version = release = evidentia.__version__

extensions = [
    "myst_nb",  # pages in Markdown, and notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    "formulas",  # from here on: docs/extensions
    "move_a_point",
    "names",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb"]
templates_path = ["templates"]
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_search_summary = False  # it would be fetched, which a page that was opened from a folder may not do
html_theme = "furo"
html_title = f"evidentia {release}"
html_copy_source = False

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # notebooks are kept without results and run with the pages
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_output_stderr = "remove"  # widgets that a page cannot have

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

autosummary_generate = True  # a page for each estimator
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types are in the numpydoc sections, with shapes
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_partial_fit_request, set_score_request, set_output, get_metadata_routing, "
    "check_parameters"
}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Types of other libraries lead to their pages. What they have is listed in docs/inventories, in the plain first form of
# such lists, so that building needs no network.
intersphinx_mapping = {
    name: (address, f"inventories/{name}.inv")
    for name, address in {
        "numpy": "https://numpy.org/doc/stable/",
        "sklearn": "https://scikit-learn.org/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "pandas": "https://pandas.pydata.org/docs/",
        "matplotlib": "https://matplotlib.org/stable/",
    }.items()
}
numpydoc.xref.DEFAULT_LINKS.clear()  # nobody has to be told what an int is
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but for these
numpydoc_xref_aliases = {
    "ndarray": "numpy.ndarray",
    "Generator": "numpy.random.Generator",
    "RandomState": "numpy.random.RandomState",
    "DataFrame": "pandas.DataFrame",
    "Series": "pandas.Series",
    "Axes": "matplotlib.axes.Axes",
    "Figure": "matplotlib.figure.Figure",
    "CredalPartition": "evidentia.partition.CredalPartition",
    "FocalSets": "evidentia.belief.FocalSets",
    "MassFunctions": "evidentia.belief.MassFunctions",
    "PairwiseConstraints": "evidentia.constraints.PairwiseConstraints",
}

# Every reference inside the library must lead somewhere; those to other libraries need not.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(numpy|pandas|matplotlib|sklearn|scipy|anndata)\..*")]

# The gallery: every script of examples/ is run; one that fails, or warns, ends the build.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "subsection_order": [
        f"../examples/{folder}"
        for folder in (
            "reading",
            "cells_and_patients",
            "images",
            "series_and_networks",
            "surveys_and_customers",
            "knowledge",
            "methods",
        )
    ],
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("pictures.scrape",),
    "abort_on_example_error": True,
    "doc_module": ("evidentia",),
    "backreferences_dir": "gallery/backreferences",
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,  # nobody needs to know
    "thumbnail_size": (320, 224),
}
