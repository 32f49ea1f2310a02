"""Tables of other programs, and from a pipe: the same rows give the same clusters, and the report's code reads them."""

import gzip
import html
import re
import struct

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from tests.rows.test_fcs import REAL, write
from typer.testing import CliRunner

from evidentia import CredalPartition
from evidentia.app.cli import app

rng = np.random.default_rng(8)
TABLE = pd.DataFrame(
    (rng.normal(size=(40, 2)) + 8 * (np.arange(40) % 2)[:, None]).astype(np.float32), columns=["FSC-A", "CD3"]
)


def write_flow(path):
    keys = REAL | {"$TOT": len(TABLE), "$P2S": "CD3"}
    write(path, keys, struct.pack(f"<{TABLE.size}f", *TABLE.to_numpy().ravel().tolist()))


def write_cells(path):
    adata = anndata.AnnData(scipy.sparse.csr_matrix(np.abs(TABLE.to_numpy())))
    adata.var_names = ["gene1", "gene2"]
    adata.obs_names = [f"cell{i}" for i in range(40)]
    adata.obsm["X_pca"] = TABLE.to_numpy()
    adata.write_h5ad(path)


FILES = {
    "t.xlsx": lambda path: TABLE.to_excel(path, index=False),
    "t.feather": TABLE.to_feather,
    "t.fcs": write_flow,
    "t.h5ad": write_cells,
    "t.csv.gz": lambda path: TABLE.to_csv(path, index=False),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_programs(run, tmp_path, name):
    FILES[name](tmp_path / name)
    TABLE.to_csv(tmp_path / "plain.csv", index=False)
    settings = ["--method", "ecm", "--clusters", "2", "--scale", "none"]
    code, said = run("fit", tmp_path / "plain.csv", *settings, "--out", tmp_path / "plain")
    assert code == 0, said
    code, said = run("fit", tmp_path / name, *settings, "--out", tmp_path / "out")
    assert code == 0, said
    wanted, found = (CredalPartition.load(tmp_path / folder / "partition.npz") for folder in ("plain", "out"))
    np.testing.assert_allclose(found.masses, wanted.masses, atol=1e-6)  # text has fewer digits
    page = (tmp_path / "out" / "report.html").read_text()
    names = {}
    exec(html.unescape(re.search(r"In Python</h3><pre><code>(.*?)</code>", page, re.DOTALL)[1]), names)
    np.testing.assert_allclose(names["model"].partition_.masses, found.masses, atol=1e-12)
    code, said = run("predict", tmp_path / "out", tmp_path / name)
    assert code == 0, said
    if name == "t.h5ad":
        assert "X_pca was read; there is also X" in said
        assert run("fit", tmp_path / name, *settings, "--id", "obs_names", "--quiet")[0] == 0


def test_an_anndata_file_without_components(run, tmp_path):
    adata = anndata.AnnData(scipy.sparse.csr_matrix(TABLE.to_numpy()))
    adata.write_h5ad(tmp_path / "t.h5ad")
    code, said = run("fit", tmp_path / "t.h5ad", "--method", "ecm", "--clusters", "2", "--quiet")
    assert code == 0, said
    assert "40 objects in 2 clusters" in said


def test_sheets_that_are_not_read_are_named(run, tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        TABLE.to_excel(book, sheet_name="cells", index=False)
        TABLE.to_excel(book, sheet_name="more", index=False)
    code, said = run("fit", tmp_path / "t.xlsx", "--method", "ecm", "--clusters", "2", "--quiet")
    assert code == 0
    assert "The sheet 'cells' was read; the others were not: more." in said


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe(tmp_path, pack):
    arguments = ["fit", "-", "--method", "ecm", "--clusters", "2", "--out", str(tmp_path / "out")]
    text = pack(TABLE.to_csv(index=False).encode())
    result = CliRunner().invoke(app, arguments, input=text)
    assert result.exit_code == 0, result.output
    assert "40 objects in 2 clusters" in result.output
    assert "read_csv(&#x27;/dev/stdin&#x27;)" in (tmp_path / "out" / "report.html").read_text()
    result = CliRunner().invoke(app, ["predict", str(tmp_path / "out"), "-", "--out", "-"], input=text)
    assert result.exit_code == 0
    assert result.output.count("\n") == 41
    result = CliRunner().invoke(app, arguments, input=b"")
    assert result.exit_code == 2
    assert "Nothing came through the standard input" in result.output


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("t.xlsx", "openpyxl", "excel"), ("t.feather", "pyarrow", "parquet"), ("t.h5ad", "anndata", "anndata")],
)
def test_a_package_that_is_missing_is_named_with_its_extra(run, tmp_path, monkeypatch, name, package, extra):
    FILES[name](tmp_path / name)
    monkeypatch.setitem(__import__("sys").modules, package, None)
    code, said = run("fit", tmp_path / name)
    assert code == 2
    assert f"need {package}: pip install 'evidentia[{extra}]'" in said


@pytest.mark.parametrize("name", ["t.xlsx", "t.parquet", "t.csv"])
def test_separators_are_spoken_of_only_where_a_file_has_them(run, tmp_path, name):
    words = pd.DataFrame({"name": [f"word {k} and {k * k}" for k in range(30)]})
    write = {"t.xlsx": words.to_excel, "t.parquet": words.to_parquet, "t.csv": words.to_csv}[name]
    write(tmp_path / name, index=False)
    code, said = run("fit", tmp_path / name)
    assert code == 2
    assert "No column is left to cluster (name: names every row" in said
    assert ("separate them by comma, semicolon or tab" in said) == (name == "t.csv")
