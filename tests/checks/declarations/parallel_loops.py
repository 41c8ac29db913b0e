"""A machine whose loops go over sets without a bound, round by round or all at once."""

from __future__ import annotations

from collections import Counter

from lawful import Machine, Nat, Scope, require, transition


class Post(Machine):
    """Letters by their numbers: how many copies there are, what each costs, and which are read."""

    copies: Counter[Nat] = Counter()
    price: dict[Nat, int] = {}
    read: set[Nat] = set()
    dear: set[Nat] = set()

    @transition()
    def put(self, letters: frozenset[Nat]) -> None:
        """One copy of each that is not there."""
        for n in letters:
            if n not in self.copies:
                self.copies[n] += 1

    @transition()
    def mark(self, letters: frozenset[Nat], over: int) -> None:
        """Several containers at once, one of which another depends on."""
        for n in letters:
            self.stamp(n, over)
            if n in self.price and n in self.dear:
                self.copies[n] += 2
                self.read.add(n)
            else:
                self.read.discard(n)

    def stamp(self, n: Nat, over: int) -> None:
        if n > over:
            self.dear.add(n)
            self.price[n] = n - over

    @transition()
    def copy(self) -> None:
        """What is gone through changes not, and what changes is no part of where."""
        for n in self.read:
            self.price[n] = self.copies[n] - 1

    @transition()
    def check(self, letters: frozenset[Nat]) -> None:
        """A round may stop the step."""
        for n in letters:
            require(n in self.read, "is not read")

    @transition()
    def shift(self, letters: frozenset[Nat]) -> None:
        """What changes is not at the round's own element."""
        for n in letters:
            self.read.add(n + 1)

    @transition()
    def add_up(self, letters: frozenset[Nat]) -> None:
        """Rounds change one and the same."""
        for n in letters:
            self.copies[0] += n

    scope = Scope(Nat=range(0, 3), int=range(-1, 3), copies=4)
