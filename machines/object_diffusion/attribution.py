"""Object diffusion: which object is downloaded from which peer.

Source: `object-diffusion.md` as in `declaration.py`: one round of the attribution among all active
peers (`pickObjectsToReq`), which reads the state of all peers and changes none [seed:143-166]
(O33-O36, O38, O39). Here that state is arbitrary, so that exploration covers every round.

Abstractions. The inputs are given, and `registry.py` computes them: the interesting objects of each
active peer (`InboundPeer.interesting`; a frozen peer has none), the copies on their way at active
and frozen peers (O35), and the number of objects that each peer has in flight. Peers are visited in
their order; the document's implementation shuffles them. Objects are visited in the order of their
IDs, but each round begins with a later one than the last (O-B9). The limits count objects of this
round and of earlier rounds: if more than a limit is in flight, the round adds nothing.
"""

from collections.abc import Mapping

from lawful import (
    Expect,
    Machine,
    Nat,
    OrderedSort,
    Param,
    Record,
    Scope,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    terminal,
    transition,
)

from .messages import ObjectId


class Peer(OrderedSort):
    """An outbound peer."""


class Limits(Record):
    """The policy of a round [seed:160] (O36)."""

    redundancy: Nat
    inflight_per_peer: Nat
    inflight_total: Nat


def in_turn(interesting: dict[Peer, frozenset[ObjectId]], last: ObjectId | None) -> list[ObjectId]:
    """The objects of a round in its order: those after the one with which the last round began come
    first, so that each object is once the first (O-B9)."""
    wanted = sorted({x for some in interesting.values() for x in some})
    later = [x for x in wanted if last is None or x > last]
    return later + [x for x in wanted if x not in later]


def attributed(
    interesting: dict[Peer, frozenset[ObjectId]],
    acquiring: dict[ObjectId, Nat],
    inflight: dict[Peer, Nat],
    limits: Limits,
    last: ObjectId | None,
) -> dict[Peer, frozenset[ObjectId]]:
    """Which objects to request from which peer.

    For each object in turn, as many providers as its target lacks, within the limits of each peer
    and of the node [seed:160] (O36). An object gets all its copies before the next object gets any
    (O38).
    """
    picked: dict[Peer, frozenset[ObjectId]] = {p: frozenset() for p in interesting}
    total = sum(inflight.values())
    for x in in_turn(interesting, last):
        copies = acquiring[x]
        for p in sorted(p for p, some in interesting.items() if x in some):
            if (
                copies < limits.redundancy
                and inflight[p] + len(picked[p]) < limits.inflight_per_peer
                and total < limits.inflight_total
            ):
                picked[p] |= {x}
                copies += 1
                total += 1
    return picked


def begun_with(
    interesting: dict[Peer, frozenset[ObjectId]],
    acquiring: dict[ObjectId, Nat],
    picked: dict[Peer, frozenset[ObjectId]],
    last: ObjectId | None,
) -> ObjectId | None:
    """The object with which a round began. If nobody could be asked for it, its turn stays: the
    next round begins with it again (O-B9)."""
    order = in_turn(interesting, last)
    if len(order) == 0:
        return last
    first = order[0]
    on_its_way = acquiring[first] > 0 or any(first in some for some in picked.values())
    return first if on_its_way else last


class Attribution(Machine):
    """One round over the state that the decision thread read."""

    interesting: dict[Peer, frozenset[ObjectId]]
    acquiring: dict[ObjectId, Nat]
    inflight: dict[Peer, Nat]
    picked: dict[Peer, frozenset[ObjectId]] = {}
    done: bool = False

    target_object_redundancy: Param[Nat] = 3
    max_num_objects_inflight_per_peer: Param[Nat] = 50
    max_num_objects_inflight_total: Param[Nat] = 500

    @initial
    def reads(
        self,
        interesting: Mapping[Peer, frozenset[ObjectId]],
        acquiring: Mapping[ObjectId, Nat],
        inflight: Mapping[Peer, Nat],
    ) -> None:
        """Begin with any state of the peers."""
        self.interesting = dict(interesting)
        self.acquiring = dict(acquiring)
        self.inflight = dict(inflight)

    @transition()
    def pick(self, last: ObjectId | None) -> None:
        require(not self.done, "the round is over")
        limits = Limits(
            self.target_object_redundancy,
            self.max_num_objects_inflight_per_peer,
            self.max_num_objects_inflight_total,
        )
        self.picked = attributed(self.interesting, self.acquiring, self.inflight, limits, last)
        self.done = True

    def of(self, p: Peer) -> frozenset[ObjectId]:
        return self.picked.get(p, frozenset())

    def load(self, p: Peer) -> Nat:
        """The number of objects that the peer has in flight or will request."""
        return self.inflight[p] + len(self.of(p))

    def copies(self, x: ObjectId) -> Nat:
        """The copies on their way, and those to be requested (O35)."""
        return self.acquiring[x] + sum(1 for p in self.picked if x in self.picked[p])

    def total(self) -> Nat:
        return sum(self.load(p) for p in self.inflight)

    @terminal
    def over(self) -> bool:
        return self.done

    @invariant
    def picked_in_one_go(self) -> bool:
        """Before the round nothing is picked (O38)."""
        return self.done or len(self.picked) == 0

    @invariant
    def only_what_is_interesting(self) -> bool:
        """Only objects that are available, not in the pool and not to be acked (O33)."""
        return all(some <= self.interesting[p] for p, some in self.picked.items())

    @invariant
    def redundancy_is_met_and_no_more(self) -> bool:
        target = self.target_object_redundancy
        return all(self.copies(x) <= max(target, self.acquiring[x]) for x in self.acquiring)

    @invariant
    def limits_are_kept(self) -> bool:
        each, node = self.max_num_objects_inflight_per_peer, self.max_num_objects_inflight_total
        return self.total() <= max(node, sum(self.inflight.values())) and all(
            self.load(p) <= max(each, self.inflight[p]) for p in self.inflight
        )

    @invariant
    def nothing_more_could_be_picked(self) -> bool:
        """Eager: for each object that is left, one of the three limits forbids it (O38)."""
        return not self.done or not any(
            self.copies(x) < self.target_object_redundancy
            and self.load(p) < self.max_num_objects_inflight_per_peer
            and self.total() < self.max_num_objects_inflight_total
            for p, some in self.interesting.items()
            for x in some
            if x not in self.of(p)
        )

    @reachable
    def two_copies_from_two_peers(self) -> bool:
        return any(sum(1 for p in self.picked if x in self.picked[p]) == 2 for x in self.acquiring)

    @reachable
    def copies_come_before_coverage(self) -> bool:
        """One object gets two copies while another gets none (O38, O-B9)."""
        wanted = {x for some in self.interesting.values() for x in some}
        return self.done and any(
            self.copies(x) - self.acquiring[x] == 2 and self.copies(y) == 0
            for x in wanted
            for y in wanted
        )

    scope = Scope(
        Peer=2,
        ObjectId=2,
        Nat=range(0, 4),
        acquiring=range(0, 2),
        inflight=range(0, 2),
        target_object_redundancy=(1, 2),
        max_num_objects_inflight_per_peer=(1, 2),
        max_num_objects_inflight_total=(2, 3),
    )


class Rounds(Machine, abstract=True):
    """Repeated rounds with room for one object or none; objects are announced at any time
    (O-B9)."""

    wanted: set[ObjectId] = set()
    last: ObjectId | None = None

    @transition()
    def announce(self, x: ObjectId) -> None:
        """An object becomes wanted; the same ID stands for any object at that place in the
        order."""
        require(x not in self.wanted, "is wanted")
        self.wanted.add(x)

    def download(self, p: Peer, last: ObjectId | None, load: Nat) -> ObjectId | None:
        """A round and its downloads, at a node with one peer; return what it began with."""
        wanted, none = {p: frozenset(self.wanted)}, {x: 0 for x in self.wanted}
        picked = attributed(wanted, none, {p: load}, Limits(1, 1, 1), last)
        self.wanted -= picked[p]
        return begun_with(wanted, none, picked, last)

    @leads_to
    def every_object_has_its_turn(self, x: ObjectId) -> tuple[bool, bool]:
        return x in self.wanted, x not in self.wanted

    scope = Scope(Peer=1, ObjectId=3)


class RoundsAsSeed(Rounds):
    """Each round begins with the smallest ID: while smaller ones keep coming, a large one
    starves."""

    @transition(fair="weak")
    def download_next(self, p: Peer) -> None:
        require(len(self.wanted) > 0, "nothing is wanted")
        self.download(p, None, 0)

    expects = Expect(every_object_has_its_turn=("violated", 3))


class RoundsFixed(Rounds):
    """Each round begins after the ID with which the last one began, or with it again."""

    @transition(fair="weak")
    def download_next(self, p: Peer) -> None:
        require(len(self.wanted) > 0, "nothing is wanted")
        self.last = self.download(p, self.last, 0)

    @transition()
    def find_no_room(self, p: Peer) -> None:
        """A round while what was requested is still under way."""
        self.last = self.download(p, self.last, 1)
