"""Images as data: segments with their doubt, from gray or colored pictures, stacks and volumes."""

from evidentia.app.images.fusion import fuse
from evidentia.app.images.pictures import plot_segmentation
from evidentia.app.images.quantizing import QuantizedImage, quantize
from evidentia.app.images.reading import Image, read_image
from evidentia.app.images.segmentation import Segmentation, segment
from evidentia.app.images.writing import write_segmentation

__all__ = [
    "Image", "QuantizedImage", "Segmentation", "fuse", "plot_segmentation", "quantize", "read_image", "segment",
    "write_segmentation",
]  # fmt: skip
