"""A small machine, and implementations of it written by hand: one that is right, and others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from lawful import (
    Machine,
    Nat,
    Opaque,
    Param,
    Refused,
    Scope,
    State,
    Timer,
    ignore,
    invariant,
    require,
    step_property,
    transition,
)

Coat = Annotated[bytes, Opaque("Coat")]


class Hours(State):
    OPEN = "open"
    SHUT = "shut"


class Cloakroom(Machine):
    """Coats against tickets; when nobody came for an hour, what is left is given away."""

    state: Hours = Hours.OPEN
    coats: dict[Nat, Coat] = {}
    issued: Nat = 0
    wanted: set[Nat] = set()
    quiet: Timer = Timer()
    hooks: Param[Nat] = 2

    @transition(source=Hours.OPEN)
    def hang(self, coat: Coat) -> Nat:
        require(len(self.coats) < self.hooks, "no hook is free")
        self.issued += 1
        self.coats[self.issued] = coat
        self.quiet.start(3600.0)
        return self.issued

    @transition(source=Hours.OPEN)
    def fetch(self, ticket: Nat) -> Coat:
        require(ticket in self.coats, "no such ticket")
        coat = self.coats[ticket]
        del self.coats[ticket]
        return coat

    @transition(source=Hours.SHUT)
    def ask(self, ticket: Nat) -> None:
        require(0 < ticket <= self.issued, "never issued")
        self.wanted.add(ticket)

    @transition(source=Hours.OPEN, target=Hours.SHUT, timer="quiet")
    def shut(self) -> frozenset[Nat]:
        left = frozenset(self.coats)
        self.coats.clear()
        return left

    @transition(source=Hours.SHUT, target=Hours.OPEN)
    def unlock(self) -> None: ...

    early = ignore("unlock", source=Hours.OPEN, because="it is open")

    @invariant
    def tickets_were_issued(self) -> bool:
        return all(0 < ticket <= self.issued for ticket in self.coats)

    @step_property
    def tickets_are_new(self, after: Cloakroom) -> bool:
        return after.issued >= self.issued

    scope = Scope(Nat=range(0, 3), Coat=1)


class Sorry(Exception):
    """How the implementations refuse."""


class ByHand:
    """The same, with a life of its own: names, containers and refusals are others."""

    def __init__(self, hooks: int = 2) -> None:
        self.hooks = hooks
        self.open = True
        self.rack: list[tuple[int, bytes]] = []
        self.last = 0
        self.asked: list[int] = []
        self.waiting = False

    def hang(self, coat: bytes) -> int:
        if not self.open or len(self.rack) >= self.hooks:
            raise Sorry("full")
        self.last += 1
        self.rack.append((self.last, coat))
        self.waiting = True
        return self.last

    def fetch(self, ticket: int) -> bytes:
        for row in self.rack:
            if self.open and row[0] == ticket:
                self.rack.remove(row)
                return row[1]
        raise Sorry

    def ask(self, ticket: int) -> None:
        if self.open or not 0 < ticket <= self.last:
            raise Refused("Cloakroom", "ask", "", ())
        if ticket not in self.asked:
            self.asked.append(ticket)

    def shut(self) -> set[int]:
        if not self.open or not self.waiting:
            raise Sorry("still waiting")
        left = {number for number, _ in self.rack}
        self.open, self.waiting, self.rack = False, False, []
        return left

    def unlock(self) -> None:
        self.open = True


def view(room: ByHand) -> Mapping[str, Any]:
    """The variables of the machine."""
    return {
        "state": Hours.OPEN if room.open else Hours.SHUT,
        "coats": dict(room.rack),
        "issued": room.last,
        "wanted": set(room.asked),
        "quiet": room.waiting,
    }


class OneTooMany(ByHand):
    """Off by one: accepts what must be refused."""

    def hang(self, coat: bytes) -> int:
        self.hooks += 1
        try:
            return super().hang(coat)
        finally:
            self.hooks -= 1


class Hoarder(ByHand):
    """Forgets to purge."""

    def fetch(self, ticket: int) -> bytes:
        rack = list(self.rack)
        try:
            return super().fetch(ticket)
        finally:
            self.rack = rack


class Hasty(ByHand):
    """Changes its state where it refuses."""

    def hang(self, coat: bytes) -> int:
        if len(self.rack) >= self.hooks:
            self.last += 1
        return super().hang(coat)


class Confused(ByHand):
    """The wrong output: the oldest coat for any ticket that is good."""

    def fetch(self, ticket: int) -> bytes:
        oldest = self.rack[0][1] if self.rack else b""
        super().fetch(ticket)
        return oldest


class Pedant(ByHand):
    """Refuses what is to be ignored."""

    def unlock(self) -> None:
        if self.open:
            raise Sorry("it is open")
        self.open = True


class Sleepy(ByHand):
    """Does not start its timer again."""

    def hang(self, coat: bytes) -> int:
        number = super().hang(coat)
        self.waiting = number == 1
        return number


class Broken(ByHand):
    """Fails on what it never met."""

    def ask(self, ticket: int) -> None:
        if ticket in self.asked:
            raise ZeroDivisionError("asked twice")
        super().ask(ticket)


class Talkative(ByHand):
    """Gives text where a number is due."""

    def hang(self, coat: bytes) -> Any:
        return str(super().hang(coat))


class Lazy(ByHand):
    """Refuses what is possible."""

    def shut(self) -> set[int]:
        raise Sorry("nobody is late")


class Forgetful(ByHand):
    """Loses what was asked when it opens."""

    def unlock(self) -> None:
        super().unlock()
        self.asked = []
