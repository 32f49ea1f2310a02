"""Hierarchies whose merges are driven by belief."""

from evidentia.hierarchy.bhc import BeliefHierarchical

__all__ = ["BeliefHierarchical"]
