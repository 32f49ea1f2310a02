"""What follows from links, against the definitions on all pairs of objects."""

import re
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.constraints import ContradictoryLinks, PairwiseConstraints
from evidentia.constraints.chains import count_closure

N = 7
LEVELS = [0.25, 0.5, 1.0]


@st.composite
def link_sets(draw):
    """Some links among seven objects, contradictory or not."""
    pairs = draw(st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=9))
    pairs = list({tuple(sorted(pair)): None for pair in pairs if pair[0] != pair[1]})
    kinds = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    levels = draw(st.lists(st.sampled_from(LEVELS), min_size=len(pairs), max_size=len(pairs)))
    return PairwiseConstraints(np.array(pairs).reshape(-1, 2).astype(int), np.array(kinds, bool), np.array(levels))


def strongest(links):
    """Certainty of the strongest chain of must-links between any two objects (Floyd-Warshall); 0 without one."""
    together = np.eye(N)
    for i, j, must, s in links:
        if must:
            together[i, j] = together[j, i] = s
    for k in range(N):
        together = np.maximum(together, np.minimum(together[:, k, None], together[k]))
    return together


def implied(links):
    """Every implied link as ``{(i, j, must): certainty}`` with i < j."""
    together = strongest(links)
    apart = np.zeros((N, N))
    for i, j, must, s in links:
        if not must:
            for a, b in ((i, j), (j, i)):
                apart = np.maximum(apart, np.minimum(np.minimum(together[:, a, None], together[b]), s))
    found = {(i, j, True): together[i, j] for i in range(N) for j in range(i + 1, N) if together[i, j] > 0}
    return found | {(i, j, False): apart[i, j] for i in range(N) for j in range(i + 1, N) if apart[i, j] > 0}


@given(link_sets())
def test_contradictions_are_found_with_a_chain_that_proves_them(links):
    together = strongest(links)
    expected = {(i, j): min(s, together[i, j]) for i, j, must, s in links if not must and together[i, j] > 0}
    listed = {frozenset(link[:2]): link for link in links}
    found = links.contradictions()
    assert {(c.chain[0], c.chain[-1]): c.certainty for c in found} == expected
    for chain, certainty in found:
        steps = [listed[frozenset(step)] for step in pairwise(chain)]
        assert all(step.must for step in steps)
        assert len(set(chain)) == len(chain)
        assert (
            min([step.certainty for step in steps] + [listed[frozenset((chain[0], chain[-1]))].certainty]) == certainty
        )


@given(link_sets())
def test_closure_holds_what_follows_by_the_strongest_chain(links):
    if links.contradictions():
        with pytest.raises(ContradictoryLinks):
            links.closure()
        return
    closed = links.closure()
    assert {(*sorted(link[:2]), link.must): link.certainty for link in closed} == implied(links)
    assert len(closed.closure()) == len(closed)


@given(link_sets(), st.booleans())
def test_a_check_counts_the_contradictions_that_chains_prove(links, soft):
    proved = [one for one in links.contradictions() if soft or one.certainty == 1]
    if not proved:
        assert links.check(soft=soft) is links
        return
    with pytest.raises(ContradictoryLinks) as caught:
        links.check(soft=soft)
    assert caught.value.contradictions == proved
    assert ("; and" in str(caught.value)) == (len(proved) > 5)


@given(link_sets())
def test_the_closure_is_counted_before_it_is_made(links):
    if not links.contradictions():
        assert count_closure(links.pairs, links.must) == len(links.closure())


def test_a_contradiction_is_reported_by_name():
    links = PairwiseConstraints.from_links([("a", "b"), ("c", "b"), ("c", "d")], [("d", "a")])
    with pytest.raises(ContradictoryLinks, match=re.escape("'d' = 'c' = 'b' = 'a'")) as caught:
        links.check()
    assert caught.value.contradictions[0].chain == ("d", "c", "b", "a")
    assert isinstance(caught.value, ValueError)


def test_only_hard_contradictions_are_refused_unless_asked():
    links = PairwiseConstraints.from_links([(0, 1), (1, 2, 0.9)], [(0, 2)])
    assert links.check() is links
    with pytest.raises(ContradictoryLinks, match="0 and 2 cannot be together, but must-links join them: 0 = 1 = 2"):
        links.check(soft=True)


def test_many_contradictions_are_counted():
    links = PairwiseConstraints.from_links([(k, k + 1) for k in range(9)], [(k, k + 2) for k in range(8)])
    with pytest.raises(ContradictoryLinks, match="; and 3 more") as caught:
        links.check()
    assert len(caught.value.contradictions) == 8


def test_of_very_many_contradictions_all_are_counted_and_some_are_proved():
    n = 20_000  # one chain of must-links, and cannot-links from its first object to all but the second
    must, cannot = np.c_[: n - 1, 1:n], np.c_[np.zeros(n - 2, int), 2:n]
    links = PairwiseConstraints(np.r_[cannot, must], np.arange(2 * n - 3) >= n - 2)
    with pytest.raises(ContradictoryLinks, match="; and 19993 more") as caught:
        links.check()  # the chains of all have two hundred million steps
    assert [one.chain for one in caught.value.contradictions] == [tuple(range(k)) for k in range(3, 103)]


def test_a_long_chain_is_told_by_its_ends():
    chain = [(k, k + 1) for k in range(20)]
    PairwiseConstraints.from_links(chain[:19], []).check()
    with pytest.raises(ContradictoryLinks, match=f": {' = '.join(map(str, range(20)))}\\. "):
        PairwiseConstraints.from_links(chain[:19], [(0, 19)]).check()
    with pytest.raises(ContradictoryLinks, match=r": 0 = 1 = 2 = 3 = 4 = \(11 more\) = 16 = 17 = 18 = 19 = 20\. "):
        PairwiseConstraints.from_links(chain, [(0, 20)]).check()


def test_groups_number_all_rows():
    links = PairwiseConstraints.from_links([(0, 3), (3, 1)], [(0, 2)])
    groups = links.groups(5)
    assert groups[0] == groups[1] == groups[3]
    assert len(set(groups.tolist())) == 3


def test_memory_grows_with_the_links_not_with_the_objects_or_the_pairs():
    rng = np.random.default_rng(0)
    objects = rng.integers(0, 10**12, 100_001)
    pairs = np.c_[objects[:-1], objects[1:]]  # one chain through objects with very large numbers
    tracemalloc.start()
    links = PairwiseConstraints(pairs, np.arange(len(pairs)) > 0)
    (contradiction,) = PairwiseConstraints(
        np.r_[pairs, [[objects[1], objects[-1]]]], np.r_[np.ones(len(pairs), bool), False]
    ).contradictions()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert links.contradictions() == []
    assert len(contradiction.chain) == 100_000
    assert peak < 100e6
