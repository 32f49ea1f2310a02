"""Are there groups? The evidence of each split, by the shapes and the peaks of densities on lines."""

from typing import TYPE_CHECKING, Any

from evidentia.verdict.result import DrawnLine, Split, Verdict

if TYPE_CHECKING:
    from evidentia.verdict.groups import judge

__all__ = ["DrawnLine", "Split", "Verdict", "judge"]


def __getattr__(name: str) -> Any:
    if name == "judge":  # it needs SciPy, which a stored verdict does not
        from evidentia.verdict.groups import judge

        globals()[name] = judge
        return judge
    raise AttributeError(f"module 'evidentia.verdict' has no attribute {name!r}")
