"""Are there groups? The evidence of each split, by the shapes and the peaks of densities on lines."""

from evidentia.verdict.groups import judge
from evidentia.verdict.result import DrawnLine, Split, Verdict

__all__ = ["DrawnLine", "Split", "Verdict", "judge"]
