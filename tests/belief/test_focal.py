import numpy as np
import pytest
from hypothesis import given

from evidentia.belief import FocalSets, format_mask, resolve_focal_sets
from evidentia.belief.focal import canonical_order
from strategies import focal_families


def sets_of(rows):
    return {frozenset(np.flatnonzero(row).tolist()) for row in rows}


def test_named_families_hold_the_sets_of_an_independent_program(reference):
    families = {"simple": "simple", "pairs": "pairs", "full": "full"}
    cases = [case for case in reference("makeF") if "pairs_1based" not in case]
    assert len(cases) == 24
    for case in cases:
        omega = case["Omega"] or case["type"] == "full"  # there "full" never leaves the frame out
        ours = FocalSets(case["c"], families[case["type"]], omega=omega)
        assert set(ours) == sets_of(case["F"]), case
        assert len(ours) == len(case["F"])


def test_a_list_of_pairs_gives_the_sets_of_an_independent_program(reference):
    (case,) = [case for case in reference("makeF") if "pairs_1based" in case]
    pairs = [{a - 1, b - 1} for a, b in case["pairs_1based"]]
    ours = FocalSets(case["c"], [(), *[{k} for k in range(case["c"])], *pairs, range(case["c"])])
    assert set(ours) == sets_of(case["F"])


def test_named_families_are_ordered_by_size_then_mask():
    assert FocalSets(3).names() == ["{}", "{0}", "{1}", "{2}", "{0,1}", "{0,2}", "{1,2}", "{0,1,2}"]
    assert FocalSets(3, "pairs", omega=False).masks.tolist() == [0, 1, 2, 4, 3, 5, 6]
    assert FocalSets(3, "simple", empty=False).masks.tolist() == [1, 2, 4, 7]
    assert FocalSets(3, omega=False).masks.tolist() == [0, 1, 2, 4, 3, 5, 6]
    assert FocalSets(2, omega=False).masks.tolist() == [0, 1, 2]
    assert canonical_order([7, 6, 4, 3, 0]) == [0, 4, 3, 6, 7]


@pytest.mark.parametrize("family", ["full", "pairs", "simple"])
def test_one_cluster_is_kept_even_without_the_frame(family):
    assert FocalSets(1, family, omega=False).masks.tolist() == [0, 1]
    assert FocalSets(1, family, empty=False).masks.tolist() == [1]


def test_a_list_keeps_its_order_and_takes_sets_tuples_and_masks():
    family = FocalSets(3, [{2}, (0, 2), 0, np.int64(3), np.array([1])])
    assert family.masks.tolist() == [4, 5, 0, 3, 2]
    assert family.names(["x", "y", "z"]) == ["{z}", "{x,z}", "{}", "{x,y}", "{y}"]
    assert format_mask(0b101) == "{0,2}"


@given(focal_families())
def test_tables_follow_set_algebra(family):
    sets = list(family)
    assert family.disjoint.tolist() == [[not a & b for b in sets] for a in sets]
    assert family.inside.tolist() == [[a <= b for b in sets] for a in sets]
    assert family.card.tolist() == [len(a) for a in sets]
    assert family.member.tolist() == [[float(k in a) for k in range(family.n_clusters)] for a in sets]
    whole = frozenset(range(family.n_clusters))
    assert family.empty_index == (sets.index(frozenset()) if frozenset() in sets else None)
    assert family.omega_index == (sets.index(whole) if whole in sets else None)
    singles = [frozenset({k}) for k in range(family.n_clusters)]
    assert family.singleton_index.tolist() == [sets.index(s) if s in sets else -1 for s in singles]
    assert [family.index(a) for a in sets] == list(range(len(family)))


def test_the_tables_cannot_be_written_to():
    family = FocalSets(2)
    for table in (family.masks, family.member, family.card, family.disjoint, family.inside):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 1


def test_families_are_equal_and_hash_alike_by_sets_in_order():
    assert FocalSets(2) == FocalSets(2, [0, 1, 2, 3])
    assert hash(FocalSets(2)) == hash(FocalSets(2, [0, 1, 2, 3]))
    assert FocalSets(2) != FocalSets(2, [0, 2, 1, 3])
    assert FocalSets(2, [1, 2]) != FocalSets(3, [1, 2])
    assert FocalSets(2) != "full"


def test_relabel_moves_the_clusters_and_keeps_the_positions():
    family = FocalSets(3, [{0}, {1, 2}, ()])
    moved = family.relabel([2, 0, 1])  # old 2 becomes 0, old 0 becomes 1, old 1 becomes 2
    assert list(moved) == [{1}, {2, 0}, frozenset()]
    with pytest.raises(ValueError, match="each of the 3 clusters once"):
        family.relabel([0, 0, 1])


def test_union_and_with_empty():
    family = FocalSets(3, [{1, 2}, {0}]).union(FocalSets(3, [{2}, {0}]))
    assert list(family) == [{0}, {2}, {1, 2}]
    assert list(family.with_empty()) == [set(), {0}, {2}, {1, 2}]
    assert family.with_empty().with_empty() == family.with_empty()
    with pytest.raises(ValueError, match="Got 3 and 2 clusters"):
        family.union(FocalSets(2))


def test_sixty_two_clusters_work_when_the_family_is_restricted():
    family = FocalSets(62, "pairs")
    assert len(family) == 1 + 62 + 62 * 61 // 2 + 1
    assert family.masks.max() == (1 << 62) - 1
    assert family.card.max() == 62
    assert {60, 61} in family
    assert {1, 2, 3} not in family
    assert family.inside[:, family.omega_index].all()
    assert family.disjoint[family.index({60}), family.index({61})]
    assert repr(family).startswith("FocalSets(62 clusters: {}, {0}, {1}, ")
    assert ", {10}, ... 1942 more ..., {0,1,2," in repr(family)  # 12 names, 1942, and one: 1955


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FocalSets(0), "from 1 to 62. Got 0"),
        (lambda: FocalSets(63, "pairs"), "from 1 to 62. Got 63. A set of clusters .* room for 62"),
        (lambda: FocalSets(2.0), "must be an integer"),
        (lambda: FocalSets(17), r"2\*\*17 focal sets .* Take family='pairs'"),
        (lambda: FocalSets(3, "triples"), "Got 'triples'"),
        (lambda: FocalSets(3, []), "at least one subset"),
        (lambda: FocalSets(3, [{0}, {1}, (0,)]), r"\{0\} comes twice"),
        (lambda: FocalSets(3, [{0, 3}]), r"clusters 0..2. Got cluster 3"),
        (lambda: FocalSets(3, [{0.7}]), r"Got cluster 0.7"),
        (lambda: FocalSets(3, ["01"]), r"Got cluster '0'"),
        (lambda: FocalSets(3, [8]), r"lies in 0..7. Got 8"),
        (lambda: FocalSets(3, [-1]), r"Got -1"),
        (
            lambda: FocalSets(3, "pairs", omega=False).index({0, 1, 2}),
            r"\{0,1,2\} is not one of the focal sets",
        ),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_resolve_gives_a_named_family_with_or_without_the_empty_set():
    assert resolve_focal_sets("pairs", 3, empty=False).masks.tolist() == [1, 2, 4, 3, 5, 6, 7]
    assert resolve_focal_sets("full", 2, empty=True) == FocalSets(2)
    assert resolve_focal_sets([{0}, {1}], 2, empty=True).masks.tolist() == [1, 2]
    assert resolve_focal_sets(lambda c: FocalSets(c, "simple"), 4, empty=True) == FocalSets(4, "simple")


@pytest.mark.parametrize(
    ("family", "words"),
    [
        (FocalSets(2), "speak of 2 clusters, but n_clusters=3"),
        ([{0}, {0, 2}], "cluster 1 is in none of"),
        ([{0}, {1}, {2}, ()], r"Leave \{\} out"),
    ],
)
def test_resolve_refuses_families_that_do_not_fit(family, words):
    with pytest.raises(ValueError, match=words):
        resolve_focal_sets(family, 3, empty=False)


def test_a_family_of_very_many_sets_is_warned_of():
    with pytest.warns(UserWarning, match=r"focal_sets='full' are 1,023 sets of 10 clusters.*'auto' or 'near-pairs'"):
        assert len(resolve_focal_sets("full", 10, empty=False)) == 1023
    assert len(resolve_focal_sets("full", 9, empty=True)) == 512  # without a warning
    assert len(resolve_focal_sets(FocalSets(10), 10, empty=True)) == 1024  # nor where the caller spelled it out
