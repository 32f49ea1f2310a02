"""
A brain slice: which pixels could be lesion?
============================================

Two contrasts of the same slice, segmented apart and then combined.

T1 tells the fluid from all else, T2 the lesions; neither knows three tissues. Dempster's rule on the common frame
does.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import EGMM
from evidentia.app.images import Image, fuse, plot_segmentation, segment
from evidentia.datasets import make_mri_phantom

brain = make_mri_phantom(128, random_state=0)
model = EGMM(2, model="EEE", focal_sets="full", prior=None, random_state=0)  # as in the paper: one noise, all sets
parts = []
for name, values in zip(("T1", "T2"), brain.data.T):
    contrast = Image((np.round(200 * brain.to_image(values, fill=0)),), (name,))
    parts.append(segment(contrast, model, within=brain.inside))
found = fuse(parts, [["fluid", ("tissue", "lesion")], [("fluid", "tissue"), "lesion"]])
print(found)

plot_segmentation(found)
plt.show()
