"""The one type that loaders, downloads and generators return."""

import textwrap
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Dataset:
    """A data set with its names and, where one exists, the true partition.

    Immutable: the arrays are copies that cannot be written to.

    Parameters
    ----------
    name : str
    data : ndarray of shape (n_samples, n_features), DataFrame or None
        Attributes; a missing value is NaN. None for a set that is given by dissimilarities.
    target : ndarray of shape (n_samples,), Series or None
        Number of each object's class, from 0, an index into `target_names`. None when no labels exist.
    feature_names, target_names : tuple of str
    object_names : tuple of str or None
    description : str
    dissimilarity : ndarray of shape (n_samples, n_samples) or None

    Examples
    --------
    >>> from evidentia.datasets import load
    >>> load("iris")
    Dataset('iris', 150 objects, 4 attributes, 3 classes)
    """

    name: str
    data: Any = None
    target: Any = None
    feature_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    object_names: tuple[str, ...] | None = None
    description: str = ""
    dissimilarity: np.ndarray | None = None

    def __post_init__(self) -> None:
        for field in ("data", "target", "dissimilarity"):
            value = getattr(self, field)
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.flags.writeable = False
                object.__setattr__(self, field, value)

    def __len__(self) -> int:
        table: Any = self.dissimilarity if self.data is None else self.data
        return len(table)

    def __repr__(self) -> str:
        size = [f"{len(self)} objects"]
        size += [f"{len(self.feature_names)} attributes"] if self.data is not None else ["dissimilarities"]
        size += [f"{len(self.target_names)} classes"] if self.target is not None else ["no labels"]
        return f"{type(self).__name__}({self.name!r}, {', '.join(size)})"

    def __str__(self) -> str:
        facts = {"attributes": ", ".join(self.feature_names)}
        if self.target is not None:
            counts = np.bincount(self._codes(), minlength=len(self.target_names))
            facts["classes"] = ", ".join(f"{name} ({n})" for name, n in zip(self.target_names, counts))
        if self.data is not None and (missing := int(np.isnan(np.asarray(self.data)).sum())):
            facts["missing"] = f"{missing} values"
        facts["about"] = self.description
        rows = [
            textwrap.fill(
                textwrap.shorten(text, 400, placeholder=" ..."),
                width=100,
                initial_indent=f"  {key:<12}",
                subsequent_indent=" " * 14,
            )
            for key, text in facts.items()
            if text
        ]
        return "\n".join([repr(self), *rows])

    def _codes(self) -> np.ndarray:
        return self.target if isinstance(self.target, np.ndarray) else self.target.cat.codes.to_numpy()

    def as_frame(self) -> Self:
        """The same set in pandas: `data` a DataFrame, `target` a categorical Series of class names.

        Object names become the index. The codes of the categories are the class numbers of `target`.
        """
        import pandas as pd

        index = None if self.object_names is None else pd.Index(self.object_names)
        frame, labels = self.data, self.target
        if isinstance(frame, np.ndarray):
            frame = pd.DataFrame(frame.copy(), columns=list(self.feature_names), index=index)
        if isinstance(labels, np.ndarray):
            dtype = pd.CategoricalDtype(list(self.target_names))
            labels = pd.Series(pd.Categorical.from_codes(labels.tolist(), dtype=dtype), name="label", index=index)
        return replace(self, data=frame, target=labels)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ImageDataset(Dataset):
    """A data set whose objects are the pixels of an image.

    Parameters
    ----------
    inside : ndarray of bool, shape (height, width)
        True where a pixel is an object; the objects follow the order of ``image[inside]``.
    """

    inside: np.ndarray

    def __post_init__(self) -> None:
        super().__post_init__()
        inside = np.array(self.inside, dtype=bool)
        inside.flags.writeable = False
        object.__setattr__(self, "inside", inside)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the image."""
        height, width = self.inside.shape
        return height, width

    def to_image(self, values: Any, fill: float = np.nan) -> np.ndarray:
        """Put one value (or one row of values) per object back where its pixel is.

        Parameters
        ----------
        values : array-like of shape (n_samples,) or (n_samples, k)
            One entry or row for each object.
        fill : float
            Value outside; NaN makes the image a float one.

        Returns
        -------
        image : ndarray of shape (height, width) or (height, width, k)

        Examples
        --------
        >>> from evidentia.datasets import make_mri_phantom
        >>> brain = make_mri_phantom(48, random_state=0)
        >>> brain.to_image(brain.data).shape
        (48, 40, 2)
        """
        values = np.asarray(values)
        if len(values) != len(self):
            raise ValueError(f"values should have one entry for each of the {len(self)} pixels, got {len(values)}.")
        dtype = np.result_type(values.dtype, np.asarray(fill).dtype)
        image = np.full(self.shape + values.shape[1:], fill, dtype=dtype)
        image[self.inside] = values
        return image
