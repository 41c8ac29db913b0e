"""Types that do not fit."""

from enum import Enum

from lawful import Machine, Nat, Sort, invariant, total, transition


class Colour(Enum):
    RED = 1
    BLUE = 2


class Node(Sort):
    pass


class Peer(Machine):
    sent: Nat = 0
    open: bool = 0
    seen: set[Nat] = set()
    queue: list[Nat] = []
    counts: dict[Colour, Nat] = total(0)
    nodes: set[Node] = set()

    @transition()
    def send(self, flag: bool, colour: Colour) -> Nat:
        self.sent = flag
        self.sent += flag
        if self.queue:
            self.open = colour is Colour.RED
        self.seen = frozenset(self.seen)
        self.counts = {}
        if colour == 1 or 1 in (0, True):
            return self.sent

    @transition()
    def order(self) -> None:
        self.queue = sorted(self.nodes) + (1, 2)
        first, second = self.sent, self.sent, self.sent
        views = enumerate(self.queue)

    @transition()
    def last(self, seqno: Nat) -> None:
        found = None
        if seqno in self.seen:
            found = seqno
            found = True
        least = min(self.nodes)

    @invariant
    def some(self) -> bool:
        return len(self.seen)

    @transition()
    def compare(self, known: tuple[Nat, Nat | None], said: tuple[Nat | None, Nat]) -> None:
        assert known == said
