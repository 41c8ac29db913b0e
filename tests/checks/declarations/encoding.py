"""Small machines, one for each corner of the language that the Z3 encoding has to get right."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from annotated_types import Interval

from lawful import (
    Machine,
    Nat,
    Opaque,
    Param,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    event,
    ignore,
    initial,
    invariant,
    needed,
    refuse,
    require,
    total,
    transition,
)

Payload = Annotated[bytes, Opaque("Payload")]
Small = Annotated[int, Interval(ge=0, le=3)]
Sm = Annotated[int, Interval(ge=-1, le=3)]


class Node(Sort):
    """Identities."""


class Lamp(State):
    """Of a lamp."""

    OFF = "off"
    ON = "on"
    BROKEN = "broken"


class Numbers(Machine):
    """Arithmetic: floors, signs, chains, short circuits, bounds, and a division by zero."""

    a: int = 0
    b: int = 1
    n: Nat = 0
    i: Small = 0

    @transition()
    def divide(self, x: int, y: int) -> int:
        self.a = x // y
        self.b = x % y
        return divmod(x, y)[0]

    @transition()
    def by_constants(self, x: int) -> int:
        self.a = x // 3 + x % 3
        self.b = x // -3 - x % -2
        return -x * 2

    @transition()
    def extremes(self, x: int, y: int) -> None:
        self.a = max(x, y, self.a) - min(x, self.b)
        self.n = abs(x - y)

    @transition()
    def lower(self, x: int) -> None:
        self.n -= x
        self.i += x

    @transition()
    def circuit(self, x: int, y: int) -> None:
        require(y == 0 or x // y > 1, "too little")
        self.a = 1 if y != 0 and x % y == 0 else x * y
        assert self.a < 20
        self.b = int(0 <= x < y <= 3) + (4 if bool(x) else 5)

    @transition()
    def late_excuse(self, x: int) -> None:
        """What is undefined first is not excused by a guard after it."""
        self.a = 10 // x
        require(x > 0, "positive only")

    @transition()
    def early_return(self, x: int) -> int:
        self.a = x
        if x > 2:
            self.b = 7
            if x > 3:
                return 1
            self.a += 1
        elif x < 0:
            refuse("negative")
        else:
            return self.b
        self.b += self.a
        return self.clipped(self.b)

    @transition()
    def remember(self, x: int) -> int:
        """A local that branches leave with different values."""
        y = x
        if x > 1:
            y = self.a
        elif x < 0:
            y += 1
        self.b = y
        return y

    def clipped(self, x: int) -> int:
        if x > 8:
            return 8
        return x


class Packet(Record):
    """A record with a bound inside."""

    number: Nat
    sender: Node
    seen: frozenset[Nat]


class Query(Record):
    """Another one, for unions."""

    number: Nat


class Reply(Record):
    """An output with a sequence in it."""

    numbers: tuple[Nat, ...]
    best: Nat | None


class Collections(Machine):
    """Sets, maps and bags over numbers, nodes and records."""

    numbers: set[Nat] = set()
    nodes: set[Node] = set()
    names: dict[Nat, Payload] = {}
    owner: dict[Node, Nat] = {}
    level: dict[Node, Lamp] = total(Lamp.OFF)
    packets: set[Packet | Query] = set()
    counts: Counter[Node] = Counter()
    last: Packet | Query | None = None

    @transition()
    def put(self, n: Nat, p: Payload, node: Node) -> None:
        self.numbers.add(n)
        self.names[n] = p
        self.owner[node] = n
        self.counts[node] += 1

    @transition()
    def take(self, n: Nat, node: Node) -> Payload:
        self.numbers.remove(n)
        held = self.names.pop(n)
        del self.owner[node]
        self.counts[node] -= 2
        return held

    @transition()
    def drop_some(self, n: Nat, node: Node) -> Nat:
        self.numbers.discard(n)
        self.nodes -= {node}
        self.nodes.update({x for x in Node if x in self.owner and self.owner[x] > n})
        return self.owner.get(node, n)

    @transition()
    def reshape(self, low: Nat, high: Nat) -> frozenset[Nat]:
        self.names = {q: p for q, p in self.names.items() if low <= q < high}
        self.numbers = {q + 1 for q in self.numbers if q > low} | set(self.names)
        return frozenset(q for q in range(low, high) if q not in self.names)

    @transition()
    def index(self, node: Node) -> None:
        """Undefined where a node owns nothing that has a name."""
        self.level[node] = (
            Lamp.ON if self.names[self.owner[node]] in self.names.values() else (Lamp.BROKEN)
        )

    @transition()
    def everyone(self, n: Nat) -> Nat:
        require(all(self.owner[x] >= n for x in self.nodes), "one has less")
        self.level = {x: Lamp.ON if x in self.nodes else self.level[x] for x in Node}
        return sum(self.owner[x] for x in self.nodes) + len(self.nodes)

    @transition()
    def in_order(self, n: Nat) -> None:
        """An ordered `all` stops at the first that is false, before what is undefined."""
        require(all(self.names[q] == self.names[n] for q in range(n, n + 3)), "differ")
        self.numbers = set()

    @transition()
    def halve(self) -> bool:
        """Elements that no equation solves for."""
        self.numbers = {q // 2 for q in self.numbers} | {q for n in self.names for q in range(n)}
        return any(q * 2 in self.numbers for q in self.numbers)

    @transition()
    def receive_all(self, ms: frozenset[Packet]) -> bool:
        """A set of records becomes one of a union."""
        self.packets = set(ms)
        return Query(0) in self.packets

    @transition()
    def receive(self, m: Packet | Query) -> Reply:
        self.last = m
        self.packets.add(m)
        if isinstance(m, Packet):
            require(m.sender in self.nodes or m.number in m.seen, "unknown")
            self.numbers |= m.seen
            return Reply(tuple(q for q in range(m.number) if q in self.numbers), m.number)
        return Reply((m.number,), None)

    @transition()
    def resend(self, node: Node) -> Packet:
        last = needed(self.last, "nothing came")
        if not isinstance(last, Packet):
            refuse("a query")
        sender = last.sender
        self.counts[sender] = 0
        return last.replace(sender=node, number=last.number - 1)

    @transition()
    def compare(self, s: frozenset[Nat]) -> None:
        require(s <= self.numbers or s.isdisjoint(self.numbers), "neither")
        self.numbers = self.numbers ^ set(s)
        assert self.numbers != s

    @transition()
    def each(self, n: Nat) -> None:
        for x in Node:
            if x in self.nodes:
                require(self.level[x] != Lamp.BROKEN, "broken")
                self.level[x] = Lamp.ON
                self.counts[x] += n
            else:
                self.nodes.add(x)

    scope = Scope(Node=2, Payload=2, Nat=range(0, 4), counts=3)


class Cell(Machine):
    """A part: two transitions of one event, an ignore, a timer, a parameter."""

    state: Lamp = Lamp.OFF
    uses: Nat = 0
    heat: Timer = Timer()
    most: Param[Nat] = 2

    @event
    def toggle(self, by: Nat) -> Nat | None: ...

    @transition(source=Lamp.OFF, target=Lamp.ON, event="toggle")
    def light(self, by: Nat) -> Nat | None:
        require(by <= self.most, "too much")
        self.uses += by
        self.heat.start(1.0)
        return self.uses

    @transition(source=Lamp.ON, target=(Lamp.OFF, Lamp.BROKEN), event="toggle")
    def darken(self, by: Nat) -> Nat | None:
        self.state = Lamp.OFF if by < 2 else Lamp.ON
        return None

    idle = ignore("toggle", source=Lamp.BROKEN, because="broken")

    @transition(source=Lamp.ON, target=Lamp.BROKEN, timer="heat")
    def burn(self) -> None: ...

    @invariant
    def hot_when_on(self) -> bool:
        return self.heat.armed or self.state != Lamp.ON


class Board(Machine):
    """Machines inside a machine, and timers in a map."""

    left: Cell = Cell()
    right: Cell = Cell(most=5)
    waits: dict[Node, Timer] = {}
    total_uses: Nat = 0

    @initial
    def begin(self, nodes: frozenset[Node]) -> None:
        self.waits = {n: Timer() for n in nodes}

    @transition()
    def wait(self, node: Node) -> None:
        require(node not in self.waits, "waits")
        self.waits[node] = Timer()

    @transition()
    def press(self, node: Node, by: Nat) -> Nat | None:
        uses = self.left.toggle(by)
        if uses is not None:
            self.total_uses += uses
        if node in self.waits:
            self.waits[node].start(2.0)
        return uses

    @transition(timer="waits[node]")
    def wake(self, node: Node) -> None:
        require(self.right.state == Lamp.ON, "off")
        self.right.burn()

    @transition()
    def both(self, by: Nat) -> None:
        self.left.light(by)
        require(self.right.uses <= by, "used more")
        if self.right.heat.armed:
            self.right.darken(by)
        else:
            self.right.light(by + 1)

    @invariant
    def hot(self) -> bool:
        return self.left.hot_when_on()

    scope = Scope(Node=2, Nat=range(0, 3))


class Table(Machine):
    """A total map as a parameter, and one over a bounded integer."""

    quota: Param[Mapping[Lamp, Nat]]
    seats: dict[Small, bool] = total(False)

    @transition()
    def sit(self, at: int, lamp: Lamp) -> None:
        require(self.quota[lamp] > at, "no quota")
        self.seats[at] = not self.seats[at]

    scope = Scope(Nat=range(0, 3))


class Beyond(Machine):
    """Each transition but the last puts something outside a small type, the keys of maps first."""

    m: dict[Sm, int] = {}
    s: dict[Sm, set[Sm]] = {}
    pairs: dict[tuple[bool, Sm], bool] = {}
    seen: set[Sm] = set()
    beans: Counter[Sm] = Counter()
    all_of: dict[Sm, Sm] = total(0)

    @transition()
    def key(self) -> None:
        self.m[4] = 1

    @transition()
    def key_and_value(self) -> None:
        self.s[9] = {9}

    @transition()
    def value(self) -> None:
        self.s[1] = {9}

    @transition()
    def pair(self) -> None:
        self.pairs[(True, 4)] = True

    @transition()
    def item(self) -> None:
        self.seen.add(40)

    @transition()
    def bean(self) -> None:
        self.beans[4] += 1

    @transition()
    def total_key(self) -> None:
        self.all_of[4] = 0

    @transition()
    def total_value(self) -> None:
        self.all_of[3] = 4

    @transition()
    def comprehension(self) -> None:
        self.m = {k: 0 for k in range(7)}

    @transition()
    def fine(self, k: Sm) -> None:
        self.m[k] = 9
        self.s[k] = {k}
        self.pairs[(True, k)] = True
        self.seen.add(k)
        self.beans[k] += 1
        self.all_of[k] = k


class Copied(Machine):
    """None goes from one optional to another."""

    o: Nat | None = None
    p: int | None = 3

    @transition()
    def copy(self) -> None:
        if self.o is None:
            self.p = self.o

    @transition()
    def either(self) -> None:
        self.p = self.o

    @invariant
    def natural(self) -> bool:
        return self.p is None or self.p >= 0
