"""Data sets of the evidential clustering papers: files, downloads and generators.

``load("iris")`` reads one set, ``list_datasets()`` lists them all and says where each one is now,
``fetch("glass")`` downloads, and the ``make_*`` functions simulate. Each gives a :class:`Dataset`. Nothing
here touches the network unless a download is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evidentia.datasets.dataset import Dataset, ImageDataset
    from evidentia.datasets.download import fetch
    from evidentia.datasets.loading import data_directory, list_datasets, load
    from evidentia.datasets.phantom import make_mri_phantom
    from evidentia.datasets.synthetic import (
        make_bananas,
        make_bootgmm_mixture,
        make_butterfly,
        make_cecm_two_class,
        make_circles,
        make_diamond,
        make_egmm_four_class,
        make_egmm_two_class,
        make_student_four_class,
    )

__all__ = [
    "Dataset",
    "ImageDataset",
    "data_directory",
    "fetch",
    "list_datasets",
    "load",
    "make_bananas",
    "make_bootgmm_mixture",
    "make_butterfly",
    "make_cecm_two_class",
    "make_circles",
    "make_diamond",
    "make_egmm_four_class",
    "make_egmm_two_class",
    "make_mri_phantom",
    "make_student_four_class",
]  # fmt: skip

_HOME = {
    "Dataset": "dataset",
    "ImageDataset": "dataset",
    "list_datasets": "loading",
    "data_directory": "loading",
    "fetch": "download",
    "load": "loading",
    "make_mri_phantom": "phantom",
}  # every other public name is a generator of `synthetic`


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME.get(name, 'synthetic')}"), name)


def __dir__() -> list[str]:
    return __all__
