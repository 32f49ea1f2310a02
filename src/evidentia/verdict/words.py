"""What a verdict adds to a summary: its sentence, and what merging would change."""

from __future__ import annotations

from evidentia.verdict.result import NO_GROUPS, Verdict

__all__ = ["describe_verdict", "is_one_cloud"]

VALLEY = 0.3  # share of the lower peak at which a summary looks for bent groups
OFFERED = ("groups", "cannot tell")  # verdicts after which merging is worth a sentence


def is_one_cloud(verdict: Verdict | None) -> bool:
    """Return whether several clusters were found, and nothing speaks for groups."""
    return verdict is not None and verdict.answer == "no evidence" and verdict.n_clusters > 1


def describe_verdict(verdict: Verdict | None, n_clusters: int) -> list[str]:
    """Return the sentences that a summary begins with: the verdict, and what merging would change."""
    if n_clusters == 1:
        return [NO_GROUPS]
    if verdict is None:
        return []
    offers = [offer_merging(verdict), offer_valley(verdict)]
    return [verdict.sentence, *(sentence for sentence in offers if sentence)]


def offer_merging(verdict: Verdict) -> str | None:
    """Return what is left if splits without support are undone, where that changes the answer."""
    groups = verdict.groups
    if verdict.answer not in OFFERED or not 1 < len(groups) < verdict.n_clusters:
        return None
    return f"Not every split is supported: model.merged() joins {_joined(groups)} and leaves {len(groups)} groups."


def offer_valley(verdict: Verdict) -> str | None:
    """Return what is left if clusters without a valley between them are joined, where that changes the answer."""
    if verdict.answer not in OFFERED or not len(verdict.paths):
        return None
    groups = verdict.connected(VALLEY)
    if len(groups) == verdict.n_clusters:
        return None
    return (
        f"If groups may be bent: model.merged(valley={VALLEY:g}) joins {_joined(groups)}, between which the density "
        f"does not fall below {VALLEY:g} of the lower peak, and leaves {len(groups)} groups."
    )


def _joined(groups: tuple[tuple[int, ...], ...]) -> str:
    """Clusters that are joined, as in "{0,2} and {1,3}"."""
    sets = [f"{{{','.join(map(str, group))}}}" for group in groups if len(group) > 1]
    return " and ".join(part for part in (", ".join(sets[:-1]), sets[-1]) if part)
