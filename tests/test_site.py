"""What the built pages are checked for, and the page on which a point can be moved."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[1] / "docs"


def module(path):
    """A file of docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


check_site = module(DOCS / "check_site.py")


def faults(folder, **pages):
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return list(check_site.faults(folder))


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://cdn.example.org/x.js"></script>',
        '<script src="//cdn.example.org/x.js"></script>',
        '<link rel="stylesheet" href="http://example.org/x.css">',
        '<link rel="preload icon" href="https://example.org/x.woff">',
        '<img alt="" src="https://example.org/x.png">',
        '<img alt="" srcset="data:,a" src="https://example.org/x.png">',
        '<iframe src="https://example.org"></iframe>',
        "<style>@import 'https://example.org/x.css';</style>",
        "<style>p { background: url(https://example.org/x.png) }</style>",
        '<p style="background: url(//example.org/x.png)">',
    ],
)
def test_whatever_is_loaded_from_outside_is_named(tag, tmp_path):
    found = faults(tmp_path, page=tag)
    assert len(found) == 1
    assert "example.org" in found[0]
    assert "page.html" in found[0]


def test_style_sheets_are_read_too(tmp_path):
    (tmp_path / "site.css").write_text("@font-face { src: url('https://example.org/x.woff') }")
    assert len(faults(tmp_path)) == 1


def test_links_to_the_outside_and_what_lies_beside_the_pages_are_fine(tmp_path):
    (tmp_path / "x.js").touch()
    page = '<a href="https://example.org">paper</a><script src="x.js?v=1"></script><p id="here"><a href="#here">up</a>'
    assert faults(tmp_path, page=page, other='<a href="page.html#here">there</a>') == []


@pytest.mark.parametrize("link", ["gone.html", "page.html#gone", "#gone"])
def test_a_link_that_leads_nowhere_is_named(link, tmp_path):
    found = faults(tmp_path, page=f'<a href="{link}">x</a>')
    assert len(found) == 1
    assert link in found[0]


def test_the_masses_under_the_moving_point_are_those_of_ecm_by_its_formula():
    """One over the cost of a set: the squared distance to a center, twice that to the mean of both, or ρ²."""
    page = module(DOCS / "extensions/move_a_point.py")
    scene = page.make_scene()
    for masses in scene.masses.values():
        assert masses.shape == (len(page.X_GRID) * len(page.Y_GRID), 4)
        np.testing.assert_allclose(masses.sum(axis=1), 1)
    model = page.ECM(2, focal_sets="full", rho=5, random_state=0).fit(scene.objects)
    left, right = model.cluster_centers_[np.argsort(model.cluster_centers_[:, 0])]
    row, column = 31, 87
    place = np.array([page.X_GRID[column], page.Y_GRID[row]])
    cost = [
        25.0,
        *(np.square(place - center).sum() for center in (left, right)),
        2 * np.square(place - (left + right) / 2).sum(),
    ]
    want = 1 / np.array(cost)
    got = scene.masses["ECM"][row * len(page.X_GRID) + column]
    np.testing.assert_allclose(got, want / want.sum(), rtol=1e-6)


@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_kept_without_results(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
