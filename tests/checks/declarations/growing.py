"""Machines whose sorts grow: every kind of total map, ordered sorts, parts, timers, ghosts."""

from __future__ import annotations

from lawful import (
    Expect,
    Ghost,
    Machine,
    Nat,
    OrderedSort,
    Param,
    Record,
    Scope,
    Sort,
    Timer,
    ignore,
    initial,
    invariant,
    leads_to,
    predecessor,
    rank,
    reachable,
    recoverable,
    require,
    step_property,
    successor,
    total,
    transition,
)


class Node(Sort, growing=True):
    """A member of a cluster."""


class Cluster(Machine):
    """Members that join while it runs; `few_up` is true only of small clusters."""

    load: dict[Node, Nat] = total(0)
    links: dict[tuple[Node, Node], bool] = total(lambda k: k[0] == k[1])
    up: set[Node] = set()
    leader: Node | None = None
    met: Nat = 0

    @transition()
    def start(self, n: Node) -> None:
        require(n not in self.up, "is up")
        self.up.add(n)
        self.leader = n
        self.links[(n, n)] = False
        self.met = len(Node)

    @transition()
    def put(self, n: Node) -> Nat:
        require(n in self.up, "is down")
        require(self.load[n] < 2, "has enough")
        self.load[n] += 1
        return self.load[n]

    @transition()
    def stop_all(self) -> Nat:
        require(all(n in self.up for n in Node), "one is down")
        self.up = set()
        self.leader, self.met = None, 0
        return len(Node)

    @invariant
    def has_every_key(self) -> bool:
        return len(self.load) == len(Node) and len(self.links) == len(Node) * len(Node)

    @invariant
    def within(self, n: Node) -> bool:
        return self.load[n] <= 2

    @invariant
    def few_up(self) -> bool:
        return len(self.up) < 2 or len(Node) < 3

    @step_property
    def loads_only_grow(self, after: Cluster) -> bool:
        return all(after.load[n] >= self.load[n] for n in Node)

    @reachable
    def full(self, n: Node) -> bool:
        return len(Node) == 3 and self.load[n] == 2

    @reachable
    def one_joins_later(self) -> bool:
        return 0 < self.met < len(Node)

    @leads_to
    def comes_down(self, n: Node) -> tuple[bool, bool]:
        return n in self.up, n not in self.up

    scope = Scope(Node=3, Nat=range(0, 10))
    expects = Expect(few_up=("violated", 2), comes_down="violated")


class Seat(OrderedSort, growing=True):
    """A place on a ring; a new one comes last."""


class Queue(Sort, growing=True):
    """A queue that is declared while it runs."""


class Job(Record):
    seat: Seat
    queue: Queue | None


class Desk(Machine):
    """A part for each seat; it asks for no elements."""

    done: Nat = 0
    last: Seat | None = None

    @transition()
    def work(self, seat: Seat) -> None:
        require(self.done < 2, "has done enough")
        self.done += 1
        self.last = seat


class Ring(Machine):
    """Seats on a ring with a desk each, queues with a timer each."""

    turn: Seat
    desks: dict[Seat, Desk] = total(Desk())
    idle: dict[Queue, Timer] = total(Timer())
    jobs: set[Job] = set()
    seen: Ghost[dict[Seat, Nat]] = total(0)
    first: Param[Seat] = Seat("Seat1")

    @initial
    def begin(self, seat: Seat) -> None:
        self.turn = seat

    @transition()
    def give(self) -> Seat:
        self.turn = successor(self.turn)
        self.seen[self.turn] = 1
        return self.turn

    @transition()
    def back(self) -> int:
        require(predecessor(successor(self.turn)) == self.turn)
        self.turn = predecessor(self.turn)
        return rank(self.turn)

    @transition()
    def post(self, job: Job) -> None:
        require(len(self.jobs) < 1, "is busy")
        self.jobs.add(job)
        if job.queue is not None:
            self.idle[job.queue].start(1.0)

    @transition(timer="idle[queue]")
    def late(self, queue: Queue) -> None:
        for seat in Seat:
            self.desks[seat].work(seat)
        self.jobs = set()

    @transition()
    def order(self) -> tuple[Seat, ...]:
        return tuple(seat for seat in Seat if self.desks[seat].done == 0)

    busy = ignore("post", when=lambda self, job: job.seat == self.turn, because="it is its turn")

    @invariant
    def little_done(self) -> bool:
        return all(self.desks[seat].done <= 2 for seat in Seat)

    @invariant
    def one_round(self, seat: Seat) -> bool:
        return seat in self.desks and rank(seat) < len(Seat) and self.seen[seat] <= 1

    @recoverable
    def has_turn(self, seat: Seat) -> bool:
        return self.turn == seat

    deadlock_ok = True
    scope = Scope(Seat=2, Queue=2, Nat=range(0, 3))


class Registry(Machine):
    """Peers that come later; provable for any number of them."""

    slots: dict[Node, Nat] = total(0)
    active: dict[Node, bool] = total(False)
    owner: Node | None = None

    @transition()
    def claim(self, n: Node) -> None:
        require(self.owner is None, "has an owner")
        self.owner = n
        self.active[n] = True
        self.slots[n] += 1

    @transition()
    def leave(self) -> None:
        require(self.owner is not None, "has no owner")
        self.active = {n: False for n in Node}
        self.owner = None

    @invariant
    def owner_is_active(self) -> bool:
        return all(self.active[n] == (self.owner == n) for n in Node)

    scope = Scope(Node=3, Nat=range(0, 3))
