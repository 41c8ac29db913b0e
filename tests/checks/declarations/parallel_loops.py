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


class Shelf(Machine):
    """Books by places without a bound: loops over one of several ranges, and what is empty."""

    books: dict[int, int] = {}
    last: int = 0

    @transition()
    def fill(self, low: int, high: int, up: bool) -> None:
        """One of the ranges has no fixed ends, the other one goes down."""
        places = range(low, high) if up else range(2, -1, -1)
        for n in places:
            self.books[n] = n + high

    @transition()
    def clear(self, low: int, high: int, up: bool) -> None:
        """None of three has fixed ends, and the local is assigned twice."""
        places = range(high) if up else range(low, high)
        if low == high:
            places = range(low, 4)
        for n in places:
            if n in self.books:
                del self.books[n]

    @transition()
    def count(self, low: int, high: int, up: bool) -> None:
        """Rounds that add up, of one range or the other."""
        steps = range(1, 4) if up else range(3)
        for n in steps:
            self.last = 2 * self.last + n
            if n == high:
                break

    @transition()
    def none(self, low: int, high: int) -> None:
        require(not [n for n in self.books if self.books[n] > high], "too dear")
        require(len([n for n, book in self.books.items() if book > low]) != 0 or low < 0, "cheap")
        self.last = 0 if len(self.books) == 0 else 6 // low

    @transition()
    def some(self, low: int, high: int) -> None:
        """What is gone through may have no value."""
        self.last = 1 if [book for book in self.books.values() if 6 // book > low] else 2
        if len([n for n in self.books if n < high]) <= 0:
            self.last += 2
        if len([n for n in self.books if n == low]) >= 1:
            self.last += 4
        if len(self.books) < 1:
            self.last += 8

    scope = Scope(int=range(-1, 3), books=4)
