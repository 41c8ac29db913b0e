"""A machine that looks for the first of numbers without a bound, and counts what it has."""

from __future__ import annotations

from lawful import (
    Machine,
    Nat,
    Scope,
    Sort,
    invariant,
    needed,
    require,
    step_property,
    transition,
)


class Desk(Machine):
    """Who waits, by number, and who was called."""

    waiting: set[Nat] = set()
    called: set[int] = set()
    last: int = 0
    many: Nat = 0

    @transition()
    def call(self, low: int, high: int) -> int | None:
        """The first that waits, where one does."""
        found = next((n for n in range(low, high) if n in self.waiting), None)
        if found is not None:
            self.waiting.remove(found)
            self.called.add(found)
        return found

    @transition()
    def leap(self, low: int, high: int) -> None:
        """What is made of it, of every second one, and from one more range where that has none."""
        first = next((2 * n - 1 for n in range(low, high, 2) if n not in self.called), -7)
        self.last = next((n for n in range(first, low) if n in self.called), first)

    @transition()
    def divide(self, low: int, high: int) -> None:
        """What comes before the first may have no value."""
        self.last = next((n for n in range(low, high) if 6 // n > 2), 9)

    @transition()
    def lowest(self, above: int) -> None:
        """In the order of their numbers."""
        self.last = needed(next((n for n in sorted(self.called) if n > above), None), "nobody")

    @transition()
    def grow(self, n: Nat, m: Nat) -> None:
        """Two who come and one who goes, whoever they are."""
        self.waiting.add(n)
        self.waiting.add(m)
        self.waiting.discard(n + 1)
        self.many = len(self.waiting)

    @transition()
    def swap(self, n: Nat, all_go: bool) -> int:
        require(len(self.waiting) > 0, "nobody waits")
        self.waiting.remove(n)
        if all_go:
            self.waiting.clear()
        return 10 * len(self.waiting) + len(self.called)

    scope = Scope(Nat=range(0, 4), int=range(-2, 5))


class Found(Machine):
    """Properties of what is first, which are true, and of which one is false."""

    taken: set[Nat] = set()
    most: Nat = 0

    @transition()
    def take(self) -> Nat:
        free = needed(next((n for n in range(self.most + 2) if n not in self.taken), None), "full")
        self.taken.add(free)
        self.most = max(self.most, free)
        return free

    @invariant
    def none_is_beyond(self) -> bool:
        return all(n <= self.most for n in self.taken)

    @invariant
    def without_gaps(self) -> bool:
        if self.taken == set():
            return self.most == 0
        return all(n in self.taken for n in range(self.most + 1))

    @invariant
    def the_first_is_free(self) -> bool:
        return next((n for n in range(self.most + 2) if n not in self.taken), 0) not in self.taken

    @invariant
    def below_three(self) -> bool:
        return next((n for n in range(self.most + 2) if n not in self.taken), 0) < 3

    @step_property
    def one_more(self, after: Found) -> bool:
        return len(after.taken) == len(self.taken) + 1


class Counted(Machine):
    """How many there are, of which too little is known for two of these."""

    here: set[Nat] = set()
    count: Nat = 0

    @transition()
    def enter(self, n: Nat) -> None:
        require(n not in self.here, "is here")
        self.here.add(n)
        self.count += 1

    @transition()
    def leave(self, n: Nat) -> None:
        require(n in self.here, "is not here")
        self.here.remove(n)
        self.count -= 1

    @invariant
    def counted(self) -> bool:
        return len(self.here) == self.count

    @invariant
    def nobody_or_somebody(self) -> bool:
        """True, but who leaves may have been one of several, or of none."""
        return (self.count == 0) == (self.here == set())

    @invariant
    def two_are_two(self) -> bool:
        """True, and follows from nothing that is said of sizes."""
        return all(self.count >= 2 for n in self.here for m in self.here if n != m)

    @invariant
    def few(self) -> bool:
        return len(self.here) < 3

    scope = Scope(Nat=range(0, 4))


class Letter(Sort):
    """Of which there are any number."""


class Uncounted(Machine):
    """Sizes that have no encoding: of what was made of sets, of one of many, of a sort's."""

    here: set[Nat] = set()
    rooms: dict[Nat, frozenset[Nat]] = {}
    letters: set[Letter] = set()
    count: Nat = 0

    @transition()
    def joined(self, more: frozenset[Nat]) -> None:
        self.count = len(self.here | more)

    @transition()
    def held(self) -> None:
        require(all(len(room) < 2 for room in self.rooms.values()), "too many")

    @transition()
    def shared(self) -> None:
        self.count = len(self.letters)
