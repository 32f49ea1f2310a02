"""What ``evidentia segment`` does: read, segment or fuse, print, write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from evidentia import methods
from evidentia.app.advisor.n_clusters import Clusters, numbers_to_try
from evidentia.app.cli import fitting, terminal
from evidentia.app.cli.errors import INTERRUPTED, UserError, closest
from evidentia.app.images import Image, Segmentation, fuse, read_image, segment, write_segmentation
from evidentia.app.images.quantizing import MOST
from evidentia.app.images.reading import size_text, stack
from evidentia.app.images.segmentation import set_for_images

MOST_WHEN_FUSED = 1024  # values of one image: masses are kept for the combinations that occur


@dataclass(frozen=True)
class Masks:
    """Files that say what belongs together, what does not, and what to look at."""

    same: Sequence[Path]
    different: Sequence[tuple[Path, Path]]
    within: Path | None
    background: float | None

    @property
    def linked(self) -> bool:
        return bool(self.same or self.different)

    @property
    def files(self) -> list[Path]:
        pairs = [path for pair in self.different for path in pair]
        return [*self.same, *pairs, *([] if self.within is None else [self.within])]


@dataclass(frozen=True)
class SegmentJob:
    """The images and how each fit is made."""

    paths: Sequence[Path]
    masks: Masks
    method: str | None
    settings: Sequence[str]
    seed: int
    verbose: int
    scale: str
    n_links: int
    n_prototypes: int | None

    def estimator(self, clusters: Clusters) -> Any:
        listening = methods.best_for("images with links").method.name
        unmasked = methods.best_for("images").method.name
        method = self.method or (listening if self.masks.linked else unmasked)
        estimator = fitting.FitRequest(
            method=method, clusters=clusters, settings=self.settings, seed=self.seed
        ).estimator()
        set_for_images(estimator)
        if numbers_to_try(estimator, clusters) is not None:
            raise UserError(f"--clusters: {method} needs a number, as in --clusters 3.")
        if self.masks.linked and "links" not in estimator.method.takes:
            raise UserError(f"--same and --different mean nothing to {method}: they are options of {listening}.")
        return estimator

    def segment(self, image: Image, estimator: Any, most: int) -> Segmentation:
        return segment(
            image,
            estimator,
            same=self.masks.same,
            different=self.masks.different,
            within=self.masks.within,
            background=self.masks.background,
            scale=self.scale,
            n_links=self.n_links,
            n_prototypes=self.n_prototypes or most,
            random_state=self.seed,
            verbose=self.verbose,
        )


def parse_meaning(text: str) -> list[list[str]]:
    """What the clusters of an image stand for, from the darkest to the brightest.

    Examples
    --------
    >>> parse_meaning("csf < tissue, lesion")
    [['csf'], ['tissue', 'lesion']]
    """
    parts = [[name.strip() for name in part.split(",") if name.strip()] for part in text.split("<")]
    if len(parts) < 2 or not all(parts):
        raise UserError(
            f"--fuse says what is darker than what in an image, as in --fuse 'csf < tissue,lesion'. Got {text!r}."
        )
    return parts


def run(job: SegmentJob, *, clusters: str | None, meanings: Sequence[str], out: Path | None, quiet: bool) -> None:
    """Segment, print the summary, write the maps; an interrupt does the last two with the best solution so far."""
    spoken = [parse_meaning(text) for text in meanings]
    if spoken:
        _check_fusion(job, spoken, clusters)
        counts: list[Clusters] = [len(meaning) for meaning in spoken]
    else:
        counts = [fitting.parse_clusters(clusters or "auto")]
    estimators = [job.estimator(count) for count in counts]
    for path in [*job.paths, *job.masks.files]:
        _check_file(path)
    images = [read_image(path) for path in job.paths]
    image = stack(images)
    if not quiet:
        _print_image(job, image)
        method = f"{type(estimators[0]).__name__}, {_describe_counts(counts)}, seed {job.seed}"
        terminal.print_labeled("method", method + (", each image for itself, then Dempster's rule" if spoken else ""))
    with fitting.record_events() as noticed:
        if spoken:
            parts = [job.segment(one, model, MOST_WHEN_FUSED) for one, model in zip(images, estimators)]
            found = fuse(parts, spoken)
        else:
            found = job.segment(image, estimators[0], MOST)
    if not quiet:
        _print_values(found)
    for text in noticed.notes:
        terminal.print_note(text)
    if not quiet:
        terminal.echo()
    terminal.print_summary(found.summary())
    if out is not None:
        written = write_segmentation(found, out)
        if not quiet:
            terminal.echo()
            terminal.print_labeled("written", str(written[0]))
            terminal.print_labeled("", ", ".join(path.name for path in written[1:]))
    elif not quiet:
        terminal.echo("\nNothing was written; --out DIR keeps the maps.")
    if noticed.interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_fusion(job: SegmentJob, spoken: Sequence[Sequence[Sequence[str]]], clusters: str | None) -> None:
    if len(spoken) != len(job.paths) or len(spoken) < 2:
        raise UserError(
            f"--fuse is given once for each of two or more images, in their order. Got {len(job.paths)} "
            f"image{'s' * (len(job.paths) != 1)} and --fuse {len(spoken)} times."
        )
    if clusters is not None:
        raise UserError("--fuse says how many clusters each image has: leave --clusters out.")
    if job.masks.linked:
        raise UserError("--fuse does not go with --same and --different: masks speak of one segmentation.")


def _check_file(path: Path) -> None:
    if not path.exists():
        neighbors = [p.name for p in path.parent.iterdir() if p.is_file()] if path.parent.is_dir() else []
        raise UserError(f"There is no file {path}.{closest(path.name, neighbors)}")


def _describe_counts(counts: Sequence[Clusters]) -> str:
    words = ["as many" if n is None else str(n) if isinstance(n, int) else f"{n[0]} to {n[1]}" for n in counts]
    return " and ".join(words) + " clusters"


def _print_image(job: SegmentJob, image: Image) -> None:
    names = ", ".join(path.name for path in job.paths)
    count = len(image.channels)
    terminal.print_heading(f"{names}: {size_text(image.shape)} {image.points}, {count} channel{'s' * (count != 1)}")


def _print_values(found: Segmentation) -> None:
    kind = found.rounding or "every distinct value kept"
    terminal.print_labeled("segmented", f"{found.n_pixels} of {found.image.size} {found.image.points}")
    terminal.print_labeled("values", f"{len(found.counts)}  ({kind})")
    if len(found.constraints):
        must, cannot = len(found.constraints.must_link), len(found.constraints.cannot_link)
        terminal.print_labeled("links", f"{must} of values that belong together, {cannot} of values that do not")
