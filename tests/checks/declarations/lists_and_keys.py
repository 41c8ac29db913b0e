"""Small machines with lists, and with keys that are too many for a map."""

from typing import Annotated

from annotated_types import MaxLen

from lawful import Machine, Nat, Record, Scope, invariant, require, total, transition
from tests.checks.declarations.encoding import Node, Sm


class Lists(Machine):
    """What is done with lists, place by place."""

    queue: list[Nat] = []
    log: Annotated[list[Node], MaxLen(3)] = []
    n: Nat = 0

    @transition()
    def put(self, x: Nat, node: Node) -> None:
        self.queue.append(x)
        self.log.append(node)

    @transition()
    def take(self) -> Nat:
        self.log.pop(0)
        return self.queue.pop(0)

    @transition()
    def take_last(self) -> Nat:
        self.log.pop()
        return self.queue.pop()

    @transition()
    def take_at(self, i: Sm) -> Nat:
        return self.queue.pop(i) + self.queue[-1]

    @transition()
    def read(self, i: Sm) -> Nat:
        require(len(self.queue) > 1, "too short")
        return self.queue[i] + self.queue[1] * 10 + self.queue[-2] * 100

    @transition()
    def write(self, i: Sm, x: Nat) -> None:
        self.queue[0] = x
        self.queue[i] = x + 1

    @transition()
    def insert(self, i: Sm, x: Nat) -> None:
        self.queue.insert(i, x)
        self.queue.insert(1, x + 10)

    @transition()
    def remove(self, x: Nat) -> None:
        require(x in self.queue, "not there")
        self.queue.remove(x)
        self.log.clear()

    @transition()
    def remove_any(self, x: Nat) -> Nat:
        at = self.queue.index(x)
        self.queue.remove(x)
        return at + self.queue.count(x) * 10

    @transition()
    def extend(self, low: Nat, high: Nat) -> None:
        self.queue.extend([x + low for x in self.queue if x < high])
        self.queue = self.queue + [x for x in self.queue if x > low]

    @transition()
    def cut(self, low: Sm, high: Sm) -> tuple[Nat, ...]:
        rest = self.queue[low:]
        self.queue = self.queue[low:high]
        return tuple(rest[:high])

    @transition()
    def fold(self, x: Nat) -> Nat:
        self.n = sum(self.queue) + max(self.queue)
        require(any(q == x for q in self.queue) or min(self.queue) > x, "neither")
        return sum(i * q for i, q in enumerate(self.queue))

    @transition()
    def order(self) -> bool:
        falling = self.queue == list(reversed(sorted(self.queue)))
        self.queue = list(sorted(self.queue))
        return falling

    @transition()
    def pairs(self) -> Nat:
        shorter = self.queue[1:]
        return sum(a * b for a, b in zip(self.queue, shorter))  # noqa: B905  # It ends first.

    @transition()
    def search(self, x: Nat) -> Nat:
        """Left early, and some rounds too."""
        steps = 0
        for q in self.queue:
            if q == x:
                steps += 100
                break
            if q > x:
                continue
            steps += 1
            self.n += q
        return steps

    @transition()
    def first(self, x: Nat) -> Nat | None:
        for q in self.queue:
            if q > x:
                return q
        return None

    @transition()
    def either(self, x: Nat) -> tuple[Nat, ...]:
        if x in self.queue:
            self.queue.append(x)
        else:
            self.queue = []
        return tuple(self.queue) if x > 1 else (x, x)


class Stack(Record):
    """A record with a sequence."""

    items: tuple[Nat, ...]


class Routes(Machine):
    """Sequences inside records, sets, maps and unions."""

    boxes: dict[Node, list[Nat]] = total([])
    past: set[tuple[Nat, ...]] = set()
    names: dict[Nat, Stack] = {}
    last: tuple[Nat, ...] | None = None
    stack: Stack = Stack(())

    @transition()
    def put(self, node: Node, x: Nat) -> None:
        self.boxes[node].append(x)

    @transition()
    def take(self, node: Node) -> Nat:
        found = self.boxes[node].pop(0)
        self.last = tuple(self.boxes[node])
        return found

    @transition()
    def keep(self, node: Node) -> bool:
        kept = tuple(self.boxes[node])
        known = kept in self.past
        self.past.add(kept)
        return known

    @transition()
    def name(self, n: Nat, node: Node) -> None:
        self.names[n] = Stack(tuple(self.boxes[node]))
        self.stack = self.names[n]

    @transition()
    def push(self, x: Nat) -> bool:
        self.stack = Stack(self.stack.items + (x,))
        return self.stack.items == (x,)

    @transition()
    def again(self, given: tuple[Nat, ...]) -> Nat:
        before = self.last
        self.last = given
        require(self.last != self.stack.items, "the same")
        return len(given) + (0 if before is None else sum(before))

    @transition()
    def gather(self, x: Nat) -> None:
        self.boxes = {n: [y for y in self.boxes[n] if y < x] for n in Node}


class Keys(Machine):
    """A total map is given a key; one too many is judged where the step ends, if it does."""

    level: dict[Sm, int] = total(0)
    n: int = 0

    @transition()
    def refused_later(self, k: int) -> None:
        self.level[k] = 1
        require(k < 3, "too far")

    @transition()
    def read_back(self, k: int) -> None:
        self.level[k] = 7
        self.n = self.level[k]
        require(self.n != 7 or k > 1, "low")

    @transition()
    def read_another(self, k: int, other: int) -> None:
        self.level[k] = 1
        require(other in self.level, "not there")
        self.n = self.level[other]

    @transition()
    def divided(self, k: int) -> None:
        self.level[k] = 1
        self.n = 3 // (k + 1)

    @transition()
    def one_of_several(self, k: int, other: int) -> None:
        if other > 0:
            self.level[k] = 1
        else:
            self.level.update({other: 1})
        assert k < 3


class Removals(Machine):
    """Keys are removed, with a default that may have no value."""

    items: dict[int, int] = {}
    defaults: dict[int, int] = {}
    n: int = 0

    @transition()
    def removed(self, k: int) -> None:
        self.items.pop(k, self.defaults[k])

    @transition()
    def taken(self, k: int) -> None:
        self.n = self.items.pop(k, self.defaults[k])


class KeysListed(Machine):
    """What goes through a map with a key too many has no encoding."""

    level: dict[Sm, int] = total(0)

    @transition()
    def summed(self, k: int) -> None:
        self.level[k] = 1
        require(sum(self.level.values()) < 3, "too much")

    @transition()
    def fine(self, k: Sm) -> None:
        self.level[k] = 1
        require(sum(self.level.values()) < 3, "too much")

    @invariant
    def low(self) -> bool:
        return sum(self.level.values()) < 3

    scope = Scope(int=range(0, 9))
