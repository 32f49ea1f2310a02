"""What ``explore`` does: read the table, take up what was done before, and serve the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import typer

from evidentia.app.advisor.n_clusters import Clusters
from evidentia.app.cli import inputs, terminal
from evidentia.app.cli.asking import columns_to_show
from evidentia.app.cli.errors import UserError
from evidentia.app.explorer import Exploration, Origin, Settings
from evidentia.app.explorer.segments import ImageExploration, ImageSettings
from evidentia.app.explorer.serving import Server, check_host, page_module
from evidentia.app.images import read_image
from evidentia.app.images.reading import PICTURES, VOLUMES
from evidentia.rows.tables import preferred_part, tables_beside

IMAGES = (*PICTURES, *VOLUMES)


@dataclass(frozen=True)
class TableJob:
    """What is explored, and where it is kept."""

    file: Path
    options: inputs.InputOptions
    clusters: Clusters
    seed: int
    out: Path

    def exploration(self) -> Exploration:
        given = inputs.read(self.file, self.options)
        hidden = [name for name, why in (given.left_out or {}).items() if why == "--drop"]
        frame, more = given.source.frame, self._maps()
        if more is not None:
            frame = pd.concat([frame, more.set_axis(frame.index)], axis=1)
        table = columns_to_show(frame, given.data, hidden)
        table = table[[name for name in frame.columns if name in table]]
        settings = Settings(
            self.options.method, self.clusters, given.choice.columns, scale=self.options.scale, seed=self.seed
        )
        names = () if more is None else tuple(map(str, more.columns))
        origin = Origin(given.source.code, given.id_column, given.dropped, self.file, names)
        found = Exploration(table, settings, folder=self.out, origin=origin)
        given.print_heading()
        for text in given.notes:
            terminal.print_note(text)
        return found

    def _maps(self) -> pd.DataFrame | None:
        """What an AnnData file has beside what is clustered, a UMAP for instance, to look at."""
        if self.file.suffix.lower() != ".h5ad":
            return None
        import anndata

        adata = anndata.read_h5ad(self.file, backed="r")
        return tables_beside(adata, preferred_part(adata))


@dataclass(frozen=True)
class ImageJob:
    """An image to explore, and where what is drawn is kept."""

    file: Path
    clusters: Clusters
    seed: int
    out: Path

    def exploration(self) -> ImageExploration:
        if isinstance(self.clusters, tuple):
            raise UserError("--clusters: for an image, a number, as in --clusters 3, or auto.")
        settings = ImageSettings(clusters=self.clusters, seed=self.seed)
        code = f"read_image({str(self.file)!r})"
        return ImageExploration(read_image(self.file), settings, folder=self.out, code=code)


def run(job: TableJob | ImageJob, *, port: int, host: str, allow_remote: bool, browser: bool) -> None:
    """Serve the page until the person leaves."""
    check_host(host, allow_remote)
    page, is_table = page_module("page"), isinstance(job, TableJob)
    kind = page_module("app").TablePage if is_table else page_module("image").ImagePage
    exploration = job.exploration()
    page_module("offline").prepare()
    hub = page.Hub(exploration)
    server = Server(lambda: page.start_page(kind(hub)), host=host, port=port, title=f"{job.file.name} – evidentia")
    if exploration.at >= 0:
        terminal.print_labeled("taken up", f"{exploration.at + 1} steps, the last: {exploration.step.words}")

    def tell(path: Path) -> None:
        terminal.print_labeled("kept in", f"{job.out}  (the same command goes on from there)")
        terminal.print_labeled(
            "page", f"{path}  (open it in a browser; only you can read it. Ctrl-C ends the explorer)"
        )
        if browser:
            typer.launch(path.as_uri())

    server.run(tell)
