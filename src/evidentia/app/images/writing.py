"""Maps of a segmentation as files that other programs open."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from evidentia.app.images.pictures import color_sets, plot_segmentation
from evidentia.app.images.segmentation import Segmentation
from evidentia.app.run_folder import whole_run
from evidentia.files import whole_file
from evidentia.plots.mpl import pyplot, spell_missing_letters


def write_segmentation(segmentation: Segmentation, out: str | os.PathLike[str]) -> list[Path]:
    """Write the maps of a segmentation into a directory: PNG for pictures, TIFF for stacks, NIfTI for NIfTI.

    ======================  ================================================================================
    file                    what it holds
    ======================  ================================================================================
    overview.png            all of it at a glance
    labels                  most plausible cluster: 0 outside, 1 + k for cluster k (a palette gives PNG colors)
    sets                    color of the set (pictures and stacks)
    lower_k, upper_k        what is assigned to cluster k, and where it may be
    nonspecificity          doubt; in bits (NIfTI), or from black (none) to white (any cluster)
    empty                   mass on the empty set, if the method has one; 0 to 1, or black to white
    partition.npz           masses of the feature vectors
    pixels.npz              the vectors, their counts, and which one each pixel has
    ======================  ================================================================================

    Parameters
    ----------
    segmentation : Segmentation
    out : path
        Made if it is not there. The files take the place of those of an earlier run all together; other files stay.
        NIfTI maps have the affine of the image.

    Returns
    -------
    list of Path
        The overview first.
    """
    with whole_run(out) as fresh:
        written = _write(segmentation, fresh)
    return [Path(out) / path.name for path in written]


def _write(segmentation: Segmentation, out: Path) -> list[Path]:
    """Write all files, the masses first, so that no later failure loses them."""
    archives = [out / "partition.npz", out / "pixels.npz"]
    segmentation.partition.save(archives[0])
    with whole_file(archives[1]) as file:
        np.savez_compressed(file, index=segmentation.index, vectors=segmentation.vectors, counts=segmentation.counts)
    written = [out / "overview.png"]
    figure = plot_segmentation(segmentation)
    spell_missing_letters(figure)
    with whole_file(written[0]) as file:
        figure.savefig(file, format="png", dpi=100, bbox_inches="tight")
    pyplot().close(figure)
    save, suffix = (_save_volume, ".nii.gz") if segmentation.image.volume is not None else (_save_picture, "")
    if not suffix:
        suffix = ".png" if len(segmentation.image.shape) == 2 else ".tif"
    for name, values in _maps(segmentation):
        if name != "sets" or suffix != ".nii.gz":
            written.append(out / f"{name}{suffix}")
            with whole_file(written[-1]) as file:
                save(file, values, segmentation, written[-1])
    return [*written, *archives]


def _maps(segmentation: Segmentation) -> Iterator[tuple[str, np.ndarray]]:
    """Names of the maps and their values, made one after the other so that only one is in memory."""
    yield "labels", (segmentation.labels() + 1).astype(np.uint8)
    yield "sets", segmentation.sets()
    for k, name in enumerate(segmentation.cluster_names):
        word = re.sub(r"[^\w-]+", "-", name)
        yield f"lower_{word}", segmentation.lower(k)
        yield f"upper_{word}", segmentation.upper(k)
    yield "nonspecificity", segmentation.nonspecificity()
    if segmentation.partition.focal_sets.empty_index is not None:
        yield "empty", segmentation.empty()


def _save_volume(file: IO[bytes], values: np.ndarray, segmentation: Segmentation, path: Path) -> None:
    import nibabel

    values = values.astype(np.uint8) if values.dtype == bool else values
    source = segmentation.image.volume
    made = nibabel.Nifti1Image(values, source.affine, dtype=values.dtype)
    made.header.set_xyzt_units(*source.header.get_xyzt_units())
    made.set_sform(source.get_sform(), int(source.header["sform_code"]))
    made.set_qform(source.get_qform(), int(source.header["qform_code"]))
    file.write(gzip.compress(made.to_bytes()))


def _save_picture(file: IO[bytes], values: np.ndarray, segmentation: Segmentation, path: Path) -> None:
    from PIL import Image as Pillow

    if path.stem == "labels" and path.suffix == ".png":
        _save_indexed(file, values, segmentation.n_clusters)
        return
    if path.stem == "sets":
        gray = color_sets(values, segmentation.n_clusters)
    elif values.dtype == bool:
        gray = np.where(values, np.uint8(255), np.uint8(0))
    elif values.dtype == np.uint8:
        gray = values
    else:
        most = np.log2(segmentation.n_clusters) if path.stem == "nonspecificity" else 1.0
        gray = np.round(255 * np.clip(np.nan_to_num(values) / max(most, 1e-9), 0, 1)).astype(np.uint8)
    if path.suffix == ".png":
        Pillow.fromarray(gray).save(file, format="PNG")
        return
    import tifffile

    tifffile.imwrite(file, gray, photometric="rgb" if path.stem == "sets" else "minisblack")


def _save_indexed(file: IO[bytes], labels: np.ndarray, n_clusters: int) -> None:
    """A picture whose values are the labels and whose palette gives them their colors."""
    from PIL import Image as Pillow

    palette = color_sets(np.r_[-1, 1 << np.arange(n_clusters)], n_clusters)
    picture = Pillow.fromarray(labels)
    picture.putpalette(palette.ravel().tolist())
    picture.save(file, format="PNG")
