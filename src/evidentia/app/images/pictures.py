"""A segmentation at a glance: the image, its segments, the sets of clusters, and the doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.app.images.segmentation import Segmentation
from evidentia.plots.mpl import pyplot
from evidentia.plots.palette import set_label, set_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

OUTSIDE = (0, 0, 0)
MOST_CHANNELS = 3
MOST_SETS = 12  # in a legend


def plane(segmentation: Segmentation, values: np.ndarray) -> np.ndarray:
    """What can be shown of a map: a picture as it is, the middle slice of a volume, the middle page of a stack."""
    image = segmentation.image
    if image.volume is not None:  # first axis to the right, second one up
        return np.rot90(values[:, :, values.shape[2] // 2] if len(image.shape) == 3 else values)
    return values[len(values) // 2] if len(image.shape) == 3 else values


def color_sets(masks: np.ndarray, n_clusters: int) -> np.ndarray:
    """Colors of sets of clusters as in every plot, black outside (mask -1); shape (..., 3) of uint8."""
    used, which = np.unique(masks, return_inverse=True)
    colors = [OUTSIDE if mask < 0 else to_rgb(set_style(mask, n_clusters).color) for mask in used.tolist()]
    return np.array(colors, dtype=np.uint8)[which.reshape(masks.shape)]


def to_rgb(color: str) -> tuple[int, ...]:
    """Red, green and blue, 0 to 255, of ``#rrggbb``."""
    return tuple(int(color[at : at + 2], 16) for at in (1, 3, 5))


def single_sets(labels: np.ndarray) -> np.ndarray:
    """Labels as sets of one cluster; -1, which is outside, stays."""
    return np.where(labels < 0, -1, 1 << np.maximum(labels, 0).astype(np.int64))


def plot_segmentation(segmentation: Segmentation) -> Figure:
    """Draw the image, the most plausible cluster, the set, and the nonspecificity of each pixel.

    Volumes show their middle slice. The mass on the empty set is drawn when the method has one.

    Parameters
    ----------
    segmentation : Segmentation

    Returns
    -------
    matplotlib Figure
    """
    channels = list(zip(segmentation.image.names, segmentation.image.channels))[:MOST_CHANNELS]
    with_empty = segmentation.partition.focal_sets.empty_index is not None
    height, width = plane(segmentation, segmentation.index).shape
    n_panels = len(channels) + 3 + with_empty
    side = 3.4 if height <= 1.5 * width else 2.4
    figure, axes = pyplot().subplots(
        1, n_panels, figsize=(side * n_panels, side * min(height / width, 2.5) + 1.3), layout="constrained"
    )
    panels = iter(axes)
    for name, channel in channels:
        _show(next(panels), plane(segmentation, channel), name, cmap="gray")
    singles = single_sets(plane(segmentation, segmentation.labels()))
    for ax, masks, title in (
        (next(panels), singles, "most plausible cluster"),
        (next(panels), plane(segmentation, segmentation.sets()), "set"),
    ):
        _show(ax, color_sets(masks, segmentation.n_clusters), title)
        _name_colors(ax, masks, segmentation)
    most = max(np.log2(segmentation.n_clusters), 1e-9)
    _show_amount(next(panels), plane(segmentation, segmentation.nonspecificity()), "nonspecificity (bits)", most)
    if with_empty:
        _show_amount(next(panels), plane(segmentation, segmentation.empty()), "mass on ∅", 1.0)
    return figure


def _show(ax: Axes, values: np.ndarray, title: str, **options: Any) -> AxesImage:
    ax.set_title(title, fontsize="medium")
    ax.set_axis_off()
    return ax.imshow(values, interpolation="nearest", **options)


def _show_amount(ax: Axes, values: np.ndarray, title: str, most: float) -> None:
    shown = _show(ax, np.nan_to_num(values), title, cmap="magma", vmin=0, vmax=most)
    ax.figure.colorbar(shown, cax=ax.inset_axes((0.1, -0.08, 0.8, 0.03)), orientation="horizontal")


def _name_colors(ax: Axes, masks: np.ndarray, segmentation: Segmentation) -> None:
    from matplotlib.patches import Patch

    n_clusters, names = segmentation.n_clusters, segmentation.partition.cluster_names
    used, counts = np.unique(masks[masks >= 0], return_counts=True)
    used = np.sort(used[np.argsort(-counts, kind="stable")][:MOST_SETS])
    patches = [
        Patch(facecolor=set_style(mask, n_clusters).color, label=set_label(mask, n_clusters, names))
        for mask in sorted(used.tolist(), key=lambda mask: (mask.bit_count(), mask))
    ]
    if patches:
        ax.legend(
            handles=patches, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, fontsize="small", frameon=False
        )
