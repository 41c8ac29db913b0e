"""Machines whose guards say which arguments can be, each in another way."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from annotated_types import Interval

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    initial,
    needed,
    refuse,
    require,
    total,
    transition,
)


class Node(Sort):
    """Who takes part."""


class Phase(State):
    IDLE = "idle"
    BUSY = "busy"
    DONE = "done"


class Ask(Record):
    who: Node
    n: Nat


class Tell(Record):
    n: Nat


def is_low(n: Nat, most: Nat) -> bool:
    return n <= most and n >= 0


class Collections(Machine):
    """Membership in whatever has members, whole and by its parts."""

    net: set[Ask | Tell] = set()
    asks: frozenset[Ask] = frozenset()
    queue: list[Nat] = []
    count: Counter[Nat] = Counter()
    owner: dict[Node, Nat] = {}
    pair: tuple[Nat, Nat] = (0, 1)

    @transition()
    def put(self, who: Node, n: Nat) -> None:
        require(len(self.net) < 2)
        self.net.add(Ask(who, n))
        self.net.add(Tell(n))
        self.asks = self.asks | {Ask(who, n)}
        self.queue.append(n)
        self.count[n] += 1
        self.owner[who] = n

    @transition()
    def union(self, m: Ask | Tell) -> None:
        require(m in self.net)
        self.net.discard(m)

    @transition()
    def one_of_union(self, m: Tell) -> None:
        require(m in self.net, f"{m.n} is not there")
        self.net.discard(m)

    @transition()
    def made(self, who: Node, n: Nat) -> None:
        require(Ask(who, n) in self.net and n >= 1)
        self.net.discard(Ask(who, n))

    @transition()
    def made_known(self, n: Nat, who: Node) -> None:
        require(n == len(self.queue))
        require(Ask(who, n) in self.asks)
        self.asks = self.asks - {Ask(who, n)}

    @transition()
    def keys(self, who: Node, n: Nat) -> None:
        require(who in self.owner and n in self.owner.values())
        self.owner[who] = n

    @transition()
    def items(self, who: Node, n: Nat) -> None:
        require((who, n) in self.owner.items())
        del self.owner[who]

    @transition()
    def counted(self, n: Nat, k: Nat) -> None:
        require(n in self.count)
        require(k in (0, 2) or k == n)
        self.count[n] -= 1

    @transition()
    def queued(self, n: Nat) -> None:
        if n not in self.queue:
            refuse("not queued")
        self.queue.remove(n)

    @transition()
    def first(self, n: Nat) -> None:
        require(n == self.queue[0])
        self.queue.pop(0)

    @transition()
    def beyond(self, n: Nat, k: Nat) -> None:
        require(n == 6 // len(self.queue) - 4)
        require(k == n)

    @transition()
    def in_pair(self, n: Nat) -> None:
        require(n in self.pair)
        self.pair = (n, self.pair[0])

    scope = Scope(Nat=range(0, 3), Node=2, queue=2, count=2)


class Values(Machine):
    """Equalities, tests before, helpers, locals, and what is undefined on the way."""

    a: int = 0
    turn: Node | None = None
    last: Ask | Tell | None = None
    ready: bool = False
    tally: dict[Node, int] = {}

    @transition()
    def wake(self, n: Node, k: int) -> None:
        require(not self.ready)
        require(k == self.a + 1 or k == self.a - 1)
        self.ready = True
        self.turn = n
        self.a = k
        self.last = Ask(n, 1)

    @transition()
    def mine(self, n: Node, k: int) -> None:
        require(self.ready and n == self.turn)
        require(self.a - 1 == k)
        self.a = k
        self.tally[n] = k

    @transition()
    def undefined_before(self, n: Node, k: int) -> None:
        require(self.tally[n] >= 0, "low")
        require(k == self.a)
        self.ready = False

    @transition()
    def undefined_after(self, k: int, n: Node) -> None:
        require(k == self.a)
        require(self.tally[n] // k >= 0)
        self.ready = False

    @transition()
    def none(self, m: Ask) -> None:
        require(m == self.last)
        self.last = Tell(m.n)

    @transition()
    def any_of_them(self, m: Ask | Tell) -> None:
        require(m == self.last)
        self.last = None

    @transition()
    def owned(self, n: Node) -> None:
        owner = needed(self.turn, "nobody")
        require(n == owner)
        self.turn = None

    @transition()
    def helped(self, n: Node, k: int) -> None:
        self.check(k, n)
        self.ready = False

    def check(self, n: int, k: Node) -> None:
        if self.turn is None:
            refuse("nobody")
        least = self.a
        require(self.fits(k) and n == least)

    def fits(self, n: Node) -> bool:
        return n in self.tally

    @transition()
    def low(self, k: Nat, n: Nat) -> None:
        require(is_low(k, 1))
        require(n == k + 1, "next")
        self.a = n

    @transition()
    def changed(self, k: int) -> None:
        self.a += 1
        require(k == self.a)

    @transition()
    def renamed(self, k: int) -> None:
        k = k + 1
        require(k == self.a)
        self.ready = True

    @transition()
    def quantified(self, k: int) -> None:
        require(any(k == n for n in self.tally.values()))
        require(all(k != self.a for k in self.tally.values()))
        self.tally.clear()

    scope = Scope(int=range(-1, 2), Nat=range(0, 2), Node=2)


class Headers(Machine):
    """Sources by key, timers by key, parameters, and an `@initial` with guards."""

    phase: dict[Node, Phase] = {}
    idle: dict[Node, Timer] = total(Timer())
    single: Timer = Timer()
    leader: Node
    most: Param[Nat] = 1
    fixed: Param[Mapping[bool, Nat]] = {True: 1, False: 0}

    @initial
    def begin(self, n: Nat, who: Node) -> None:
        require(n == self.most)
        self.leader = who

    @transition()
    def join(self, who: Node) -> None:
        require(who not in self.phase)
        self.phase[who] = Phase.IDLE
        self.idle[who].start(3)
        self.single.start(1)

    @transition(source=Phase.IDLE, target=Phase.BUSY, of="phase[who]")
    def work(self, n: Nat, who: Node) -> None:
        require(n == self.fixed[True] and who == self.leader)

    @transition(source=(Phase.BUSY, Phase.IDLE), target=Phase.DONE, of="phase[who]")
    def finish(self, who: Node, n: Nat) -> None:
        require(n == 0)

    @transition(timer="idle[who]")
    def fire(self, n: Nat, who: Node) -> None:
        require(n in (1, 2))

    @transition(timer="single")
    def fire_single(self, n: Nat) -> None:
        require(not self.single.armed and n == 2)

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3), Node=2, most=(1, 2))


class Ranges(Machine):
    """Tests that give an integer parameter a least or a greatest value, or seem to."""

    at: Nat = 0
    far: Annotated[int, Interval(ge=0, le=1_000_000_000_000_000)] = 0
    limits: dict[bool, Nat] = {}

    @transition()
    def forward(self, n: Nat) -> None:
        require(n > self.at and self.at + 2 >= n)
        self.at = n

    @transition()
    def back(self, n: Nat) -> None:
        if n >= self.at:
            refuse("not back")
        require(n + 40 > self.at)
        self.at = n

    @transition()
    def run(self) -> None:
        require(self.at == 9)
        self.far = 1_000_000_000_000_000

    @transition()
    def below_far(self, n: Nat) -> None:
        require(n < self.far and n > 97)
        self.at = 9

    @transition()
    def set_limit(self, n: Nat) -> None:
        require(1 <= n <= 3 and n != 2)
        self.limits[True] = n

    @transition()
    def to_limit(self, on: bool, n: Nat) -> None:
        require(self.at == 9)
        require(n <= self.limits[on])
        self.at = n

    @transition()
    def pair(self, low: Nat, on: bool, high: Nat) -> None:
        require(low == self.at and on and low < high < low + 3)
        self.at = high

    deadlock_ok = True
    scope = Scope(Nat=range(0, 100), far=range(0, 1_000_000_000_000_001))
