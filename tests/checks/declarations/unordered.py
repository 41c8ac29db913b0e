"""A machine full of sets and maps, whose order nobody is to see, and what it shows."""

from __future__ import annotations

from collections import Counter

from lawful import (
    Machine,
    Nat,
    Record,
    Refused,
    Scope,
    Sort,
    invariant,
    reachable,
    require,
    transition,
)


class Node(Sort):
    """Who takes part."""


class Msg(Record):
    to: frozenset[Node]
    n: Nat


class Unordered(Machine):
    """Collections without an order in every place that can be seen."""

    known: set[Node] = set()
    count: Counter[Node] = Counter()
    sent: dict[Node, Nat] = {}
    net: set[Msg] = set()
    low: set[int] = set()

    @transition()
    def meet(self, who: frozenset[Node]) -> frozenset[Node]:
        require(not who <= self.known, f"known: {self.known}, {who}, {self.sent}")
        self.known |= who
        for n in who:
            self.sent[n] = len(who)
            self.count[n] += 1
        self.net.add(Msg(who, 1))
        return who

    @transition()
    def refill(self) -> None:
        require(len(self.sent) > 0, f"{self.net} {[1, 2]} {self.count}")
        self.sent = {n: 1 for n in self.known}

    @transition()
    def pick(self, m: Msg) -> None:
        require(m in self.net, f"{m} is not in {self.net}")
        self.net.discard(m)

    @transition()
    def break_bounds(self) -> None:
        require(len(self.known) == 3 and len(self.net) == 0)
        self.sent = {n: -1 for n in self.known}

    @invariant
    def few(self) -> bool:
        return len(self.known) < 3

    @reachable
    def two(self) -> bool:
        return len(self.sent) == 2

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3), Node=3, int=range(0, 1), count=3)


def walk() -> None:
    """What an instance shows on its way."""
    nodes = [Node(name) for name in ("eve", "ada", "bob", "joe", "kim")]
    entry = Unordered()
    for event, *args in (
        ("refill",),
        ("meet", frozenset(nodes[:4])),
        ("meet", frozenset(nodes[:2])),
        ("refill",),
        ("meet", frozenset(nodes[1:])),
        ("pick", Msg(frozenset(nodes), 1)),
        ("meet", {1, "x", None}),
    ):
        try:
            given = entry.lawful.take(event, *args)
            print(event, sorted(given or ()))
        except (Refused, TypeError) as error:
            print(event, error)
        print(entry, list(entry.sent), list(entry.count), entry.lawful.enabled())
        print(entry.lawful.snapshot())
        print(entry.lawful.explain("pick", Msg(frozenset(nodes), 2)))


if __name__ == "__main__":
    walk()
