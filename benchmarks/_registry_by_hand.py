"""The registry of object diffusion written by hand, for the same service: the same rules, and
nothing is undone when an event fails."""

from __future__ import annotations

from collections import Counter

from lawful import Refused
from lawful.machines.object_diffusion.attribution import Peer
from lawful.machines.object_diffusion.callbacks import Status, Step
from lawful.machines.object_diffusion.messages import (
    Decision,
    ObjectId,
    Request,
    RequestIds,
    RequestObjects,
)
from lawful.runtime.timers import Clock

Ids = frozenset[ObjectId]


class NotNow(Refused):
    """What the service tries and may not do."""

    def __init__(self) -> None: ...


def require(holds: bool) -> None:
    if not holds:
        raise NotNow


class PeerByHand:
    """What the service and the registry use of `InboundPeerFixed`."""

    def __init__(self, outstanding: int, inflight: int, ids: int, timeout: int) -> None:
        self.state = Status.COMPLETED
        self.step = Step.SIGNALLED
        self.decision: Decision | None = None
        self.outstanding_fifo: list[ObjectId] = []
        self.available: set[ObjectId] = set()
        self.inflight: set[ObjectId] = set()
        self.owt_pool: set[ObjectId] = set()
        self.pending: list[Request] = []
        self.due: float | None = None
        self._ids_in_flight = 0
        self._most = outstanding
        self._most_inflight = inflight
        self._most_ids = ids
        self._timeout = timeout

    def acked(self, in_pool: Ids) -> int:
        for n, x in enumerate(self.outstanding_fifo):
            if x not in in_pool and (x in self.available or x in self.inflight):
                return n
        return len(self.outstanding_fifo)

    def interesting(self, in_pool: Ids) -> Ids:
        kept = self.outstanding_fifo[self.acked(in_pool) :]
        return frozenset(x for x in kept if x in self.available and x not in in_pool)

    def load(self) -> int:
        return len(self.inflight) + len(self.owt_pool)

    def to_request(self, remaining: int) -> int:
        if remaining == 0 and self._ids_in_flight > 0:
            return 0
        return min(self._most - remaining - self._ids_in_flight, self._most_ids)

    def decide(self, in_pool: Ids, objects: Ids) -> None:
        require(self.state != Status.ACTING)
        ack = self.acked(in_pool)
        remaining = len(self.outstanding_fifo) - ack
        require(objects <= self.interesting(in_pool))
        require(self.load() + len(objects) <= self._most_inflight)
        self.state = Status.UNREAD
        self.decision = Decision(ack, self.to_request(remaining), remaining > 0, objects)

    def read(self) -> Decision:
        require(self.state == Status.UNREAD)
        assert self.decision is not None
        self.state, self.step = Status.ACTING, Step.READ
        return self.decision

    def completes(self) -> bool:
        decision = self.decision
        if self.state != Status.ACTING or decision is None or self._waits():
            return False
        if self.step == Step.READ and decision.objects_to_req:
            return False
        return self.step == Step.REQUESTED_IDS or decision.ids_to_req == 0

    def complete(self) -> None:
        require(self.completes())
        self.state, self.step, self.decision = Status.COMPLETED, Step.SIGNALLED, None

    def _waits(self) -> bool:
        return any(isinstance(r, RequestIds) and r.blocking for r in self.pending)

    def collects(self) -> bool:
        return self.step == Step.READ or self._waits()

    def _oldest(self) -> Request:
        require(self.state == Status.ACTING and self.collects())
        require(bool(self.pending))
        return self.pending[0]

    def receive_ids(self, ids: tuple[ObjectId, ...], now: float) -> None:
        request = self._oldest()
        require(isinstance(request, RequestIds))
        assert isinstance(request, RequestIds)
        require(len(ids) <= request.count and (bool(ids) or not request.blocking))
        require(len(set(ids)) == len(ids))
        fifo = self.outstanding_fifo
        require(not any(x in fifo or x in self.inflight or x in self.owt_pool for x in ids))
        self._replied(now)
        self._ids_in_flight -= request.count
        fifo.extend(ids)
        self.available.update(ids)

    def receive_objects(self, ids: Ids, now: float) -> None:
        request = self._oldest()
        require(isinstance(request, RequestObjects) and request.ids == ids)
        self._replied(now)
        self.inflight -= ids
        self.owt_pool |= ids

    def _replied(self, now: float) -> None:
        self.pending.pop(0)
        self.due = now + self._timeout if self.pending else None

    def requests_objects(self) -> bool:
        decision = self.decision
        return self.step == Step.READ and decision is not None and bool(decision.objects_to_req)

    def request_objects(self, now: float) -> RequestObjects:
        require(self.requests_objects())
        assert self.decision is not None
        request = RequestObjects(self.decision.objects_to_req)
        self.step = Step.REQUESTED_OBJECTS
        self.available -= request.ids
        self.inflight |= request.ids
        self._requested(request, now)
        return request

    def requests_ids(self) -> bool:
        decision = self.decision
        if self.step not in (Step.READ, Step.REQUESTED_OBJECTS) or decision is None:
            return False
        if decision.ids_to_req == 0 or (self.step == Step.READ and decision.objects_to_req):
            return False
        return decision.can_pipeline_ids_req or not self.pending

    def request_ids(self, now: float) -> RequestIds:
        require(self.requests_ids())
        assert self.decision is not None
        decision = self.decision
        blocking = not decision.can_pipeline_ids_req
        self.step = Step.REQUESTED_IDS
        self.available.difference_update(self.outstanding_fifo[: decision.ids_to_ack])
        del self.outstanding_fifo[: decision.ids_to_ack]
        self._ids_in_flight += decision.ids_to_req
        request = RequestIds(blocking, decision.ids_to_ack, decision.ids_to_req)
        self._requested(request, now)
        if blocking:
            self.due = None
        return request

    def _requested(self, request: Request, now: float) -> None:
        if not self.pending:
            self.due = now + self._timeout
        self.pending.append(request)


class RegistryByHand:
    """What the service uses of the machine `Registry`."""

    def __init__(
        self,
        *,
        clock: Clock,
        target_object_redundancy: int,
        max_num_objects_outstanding: int,
        max_num_objects_inflight_per_peer: int,
        max_num_objects_inflight_total: int,
        max_num_ids_req: int,
        reply_timeout: int,
    ) -> None:
        self.lawful = self
        self.peers: dict[Peer, PeerByHand] = {}
        self._clock = clock
        self._redundancy = target_object_redundancy
        self._most = max_num_objects_inflight_per_peer
        self._total = max_num_objects_inflight_total
        self._of_a_peer = (
            *(max_num_objects_outstanding, max_num_objects_inflight_per_peer, max_num_ids_req),
            reply_timeout,
        )
        self._lock: tuple[Peer, ObjectId] | None = None
        self._last: ObjectId | None = None

    # What `lawful` does for a machine: what may happen, and timers.

    def may(self, event: str, p: Peer, x: ObjectId | None = None) -> bool:
        entry = self.peers.get(p)
        if entry is None:
            return False
        match event:
            case "unregister":
                return True
            case "read_decision":
                return entry.state == Status.UNREAD
            case "on_request_objects":
                return entry.requests_objects()
            case "on_request_ids":
                return entry.requests_ids()
            case "on_decision_completed":
                return entry.completes()
            case "take_lock":
                return self._lock is None and x in entry.owt_pool
            case _:  # It is added or rejected.
                return self._lock == (p, x)

    def next_deadline(self) -> float | None:
        return min((e.due for e in self.peers.values() if e.due is not None), default=None)

    def fire_due(self, now: float) -> None:
        late = [p for p, e in self.peers.items() if e.due is not None and e.due <= now]
        for p in late:
            self.unregister(p)

    # The bracket of a connection, and the callbacks of a peer.

    def register(self, p: Peer) -> None:
        require(p not in self.peers)
        self.peers[p] = PeerByHand(*self._of_a_peer)

    def unregister(self, p: Peer) -> None:
        require(p in self.peers)
        del self.peers[p]
        if self._lock is not None and self._lock[0] == p:
            self._lock = None

    def _entry(self, p: Peer) -> PeerByHand:
        require(p in self.peers)
        return self.peers[p]

    def read_decision(self, p: Peer) -> Decision:
        return self._entry(p).read()

    def on_decision_completed(self, p: Peer) -> None:
        self._entry(p).complete()

    def on_receive_ids(self, p: Peer, ids: tuple[ObjectId, ...]) -> None:
        self._entry(p).receive_ids(ids, self._clock.now())

    def on_receive_objects(self, p: Peer, ids: Ids) -> None:
        self._entry(p).receive_objects(ids, self._clock.now())

    def on_request_objects(self, p: Peer) -> RequestObjects:
        return self._entry(p).request_objects(self._clock.now())

    def on_request_ids(self, p: Peer) -> RequestIds:
        return self._entry(p).request_ids(self._clock.now())

    def take_lock(self, p: Peer, x: ObjectId) -> None:
        require(self._lock is None and x in self._entry(p).owt_pool)
        self._lock = p, x

    def on_added_to_pool(self, p: Peer, x: ObjectId) -> None:
        require(self._lock == (p, x))
        self._entry(p).owt_pool.remove(x)
        self._lock = None

    def on_rejected(self, p: Peer, x: ObjectId) -> None:
        require(self._lock == (p, x))
        self.unregister(p)

    # A round.

    def make_decisions(self, in_pool: Ids) -> frozenset[Peer]:
        active = {p: e for p, e in self.peers.items() if e.state != Status.ACTING}
        picked = self._picked({p: e.interesting(in_pool) for p, e in active.items()})
        for p, entry in active.items():
            remaining = len(entry.outstanding_fifo) - entry.acked(in_pool)
            if (
                entry.state == Status.UNREAD
                or picked[p]
                or entry.pending
                or entry.to_request(remaining) > 0
            ):
                entry.decide(in_pool, frozenset(picked[p]))
        return frozenset(p for p, e in self.peers.items() if e.state == Status.UNREAD)

    def _picked(self, interesting: dict[Peer, Ids]) -> dict[Peer, set[ObjectId]]:
        picked: dict[Peer, set[ObjectId]] = {p: set() for p in interesting}
        copies: Counter[ObjectId] = Counter()
        load: dict[Peer, int] = {}
        for p, entry in self.peers.items():
            asked = self._still_to_request(entry)
            load[p] = entry.load() + len(asked)
            copies.update(entry.inflight | entry.owt_pool | asked)
        total = sum(load.values())
        wanted = sorted({x for some in interesting.values() for x in some})
        last = self._last
        order = wanted
        if last is not None:
            order = [x for x in wanted if x > last] + [x for x in wanted if x <= last]
        if order:
            self._last = order[0]
        for x in order:
            for p in sorted(p for p, some in interesting.items() if x in some):
                if copies[x] < self._redundancy and load[p] < self._most and total < self._total:
                    picked[p].add(x)
                    copies[x] += 1
                    load[p] += 1
                    total += 1
        return picked

    def _still_to_request(self, entry: PeerByHand) -> Ids:
        if entry.decision is None or entry.state != Status.ACTING:
            return frozenset()
        return entry.decision.objects_to_req & entry.available
