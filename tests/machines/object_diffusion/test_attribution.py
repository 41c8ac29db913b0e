"""The attribution: every round of a small world is explored, and a larger one runs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.machines.object_diffusion.attribution import Attribution, Peer
from lawful.machines.object_diffusion.messages import ObjectId
from tests.machines.checked import checked, counts

PEERS = [Peer(name) for name in ("anna", "ben", "carl", "dora")]
IDS = [ObjectId(f"{i:02}") for i in range(6)]


def test_everything_is_as_expected() -> None:
    result = checked(Attribution)
    assert counts(result) == (4_421, 8_192, 2)
    assert result.cuts == 0


def attribution(
    interesting: dict[Peer, frozenset[ObjectId]],
    acquiring: dict[ObjectId, int],
    inflight: dict[Peer, int],
    *limits: int,
) -> Attribution:
    """The round, over this state of the peers and with these limits."""
    target, each, node = limits
    made = Attribution(
        universe={Peer: PEERS, ObjectId: IDS},
        target_object_redundancy=target,
        max_num_objects_inflight_per_peer=each,
        max_num_objects_inflight_total=node,
    )
    made.reads(interesting, acquiring, inflight)
    made.pick(None)
    return made


def test_copies_first_within_the_limits() -> None:
    """Three offer the first object, of which one copy is under way; the second comes after it."""
    anna, ben, carl, dora = PEERS
    first, second = IDS[:2]
    both = frozenset({first, second})
    offered = {anna: both, ben: frozenset({first}), carl: both, dora: frozenset[ObjectId]()}
    none = dict.fromkeys(IDS, 0)
    idle = dict.fromkeys(PEERS, 0)
    one_under_way = none | {first: 1}
    assert attribution(offered, one_under_way, idle, 3, 50, 500).picked == {
        anna: both,
        ben: {first},
        carl: {second},
        dora: set(),
    }
    assert attribution(offered, one_under_way, idle, 3, 1, 500).picked == {
        anna: {first},
        ben: {first},
        carl: {second},
        dora: set(),
    }
    assert attribution(offered, none, idle | {dora: 8}, 3, 50, 10).picked == {
        anna: {first},
        ben: {first},
        carl: set(),
        dora: set(),
    }


FEW = st.integers(0, 3)


@settings(derandomize=True, deadline=None, database=None, max_examples=100)
@given(
    st.fixed_dictionaries({p: st.frozensets(st.sampled_from(IDS)) for p in PEERS}),
    st.fixed_dictionaries({x: FEW for x in IDS}),
    st.fixed_dictionaries({p: FEW for p in PEERS}),
    st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 20)),
)
def test_a_round_is_eager_and_within_its_limits(
    interesting: dict[Peer, frozenset[ObjectId]],
    acquiring: dict[ObjectId, int],
    inflight: dict[Peer, int],
    limits: tuple[int, int, int],
) -> None:
    """The machine's own properties, asked of rounds larger than those explored."""
    made = attribution(interesting, acquiring, inflight, *limits)
    assert made.only_what_is_interesting()
    assert made.redundancy_is_met_and_no_more()
    assert made.limits_are_kept()
    assert made.nothing_more_could_be_picked()
