"""Images as data: segments with their doubt, from gray or colored pictures, stacks and volumes."""

from evidentia.images.fusion import fuse
from evidentia.images.pictures import plot_segmentation
from evidentia.images.quantizing import QuantizedImage, quantize
from evidentia.images.reading import Image, read_image
from evidentia.images.segmentation import Segmentation, segment
from evidentia.images.writing import write_segmentation

__all__ = [
    "Image", "QuantizedImage", "Segmentation", "fuse", "plot_segmentation", "quantize", "read_image", "segment",
    "write_segmentation",
]  # fmt: skip
