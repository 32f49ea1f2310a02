"""Pictures of credal partitions and of the models that made them.

Each ``plot_…`` takes an ``ax`` or makes one, and returns it; its ``…_plot_data`` twin gives the numbers alone. A focal
set looks the same in all of them, see :mod:`evidentia.plots.palette`.
"""

from evidentia.plots.belief_peaks import belief_peaks_plot_data, click_peaks, plot_belief_peaks
from evidentia.plots.contours import contour_plot_data, plot_contours
from evidentia.plots.curves import plot_learning_curve, plot_selection, plot_trace, selection_plot_data
from evidentia.plots.dendrogram import dendrogram_plot_data, plot_cut_scores, plot_dendrogram
from evidentia.plots.distances import distance_plot_data, plot_distances
from evidentia.plots.ellipses import ellipse_plot_data, plot_ellipses
from evidentia.plots.graph import graph_plot_data, plot_graph
from evidentia.plots.intervals import (
    coverage_plot_data,
    interval_fit_plot_data,
    pair_draws_plot_data,
    plot_coverage,
    plot_interval_fit,
    plot_pair_draws,
)
from evidentia.plots.masses import mass_plot_data, plot_masses
from evidentia.plots.medoids import medoid_plot_data, plot_medoids
from evidentia.plots.palette import set_label, set_style
from evidentia.plots.partition import density_plot_data, partition_plot_data, plot_partition
from evidentia.plots.reliability import plot_reliability, reliability_plot_data
from evidentia.plots.shepard import plot_shepard, shepard_plot_data
from evidentia.plots.split import plot_split, split_plot_data
from evidentia.plots.views import (
    plot_view_conflict,
    plot_view_weights,
    view_conflict_plot_data,
    view_weight_plot_data,
)

__all__ = [
    "belief_peaks_plot_data", "click_peaks", "contour_plot_data", "coverage_plot_data", "dendrogram_plot_data",
    "density_plot_data", "distance_plot_data", "ellipse_plot_data", "graph_plot_data", "interval_fit_plot_data",
    "mass_plot_data", "medoid_plot_data", "pair_draws_plot_data", "partition_plot_data", "plot_belief_peaks",
    "plot_contours", "plot_coverage", "plot_cut_scores", "plot_dendrogram", "plot_distances", "plot_ellipses",
    "plot_graph", "plot_interval_fit", "plot_learning_curve", "plot_masses", "plot_medoids", "plot_pair_draws",
    "plot_partition", "plot_reliability", "plot_selection", "plot_shepard", "plot_split", "plot_trace",
    "plot_view_conflict", "plot_view_weights", "reliability_plot_data", "selection_plot_data", "set_label", "set_style",
    "shepard_plot_data", "split_plot_data", "view_conflict_plot_data", "view_weight_plot_data",
]  # fmt: skip
