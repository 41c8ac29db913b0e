"""One machine with every construct of the language, for what has to know them all."""

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from typing import Annotated

from annotated_types import Interval, MaxLen

from lawful import (
    Clock,
    Expect,
    Fairness,
    Ghost,
    Machine,
    Nat,
    Opaque,
    OrderedSort,
    Param,
    Record,
    Scope,
    Sort,
    State,
    Strong,
    Timer,
    Weak,
    assume,
    can,
    constraint,
    drop,
    event,
    eventually,
    eventually_always,
    ignore,
    implies,
    infinitely_often,
    initial,
    invariant,
    leads_to,
    needed,
    rank,
    reachable,
    recoverable,
    refuse,
    require,
    step_property,
    successor,
    terminal,
    total,
    transition,
)

Page = Annotated[bytes, Opaque("Page")]
Stars = Annotated[int, Interval(ge=0, le=5)]
LIMIT = 3


class Reader(Sort):
    """Who borrows."""


class Shelf(OrderedSort):
    """Where it stands."""


class Genre(Enum):
    """Of books."""

    NOVEL = 1
    POETRY = 2


class Doors(State):
    """Of the library."""

    OPEN = "open"
    SHUT = "shut"


class Lent(Record):
    """With a reader."""

    reader: Reader
    weeks: Nat


class Lost(Record):
    """With nobody."""


Where = Lent | Lost | None


def fee(weeks: Nat) -> Nat:
    """A function of the module."""
    return max(0, weeks - 2) * 10 if weeks > 0 else 0


class Bell(Machine):
    """A part, also one of several."""

    rung: Nat = 0
    rest: Timer = Timer()

    @initial
    def wound(self) -> None:
        self.rung = 0

    @event
    def ring(self, hard: bool) -> Nat | None: ...

    @transition(event="ring")
    def loudly(self, hard: bool) -> Nat | None:
        require(hard, "softly")
        self.rung += 1
        self.rest.start(1.5)
        return self.rung

    @transition(event="ring")
    def softly(self, hard: bool) -> Nat | None:
        require(not hard and not self.rest.armed, "hard, or too soon")
        return self.rung

    @transition(timer="rest")
    def fall_silent(self) -> None: ...

    @invariant
    def not_too_often(self) -> bool:
        return self.rung <= LIMIT


class Building(Machine, abstract=True):
    """What libraries have in common."""

    state: Doors = Doors.SHUT

    @transition(source=Doors.SHUT, target=Doors.OPEN)
    def unlock(self) -> None: ...

    @transition(source=Doors.OPEN, target=Doors.SHUT)
    def close(self) -> None:
        require(self.empty(), "somebody is in")

    @transition()
    def burn(self) -> None:
        self.state = Doors.SHUT

    def empty(self) -> bool:
        return True


class Library(Building):
    """Books, readers, a bell: nothing here is meant to be true of a library."""

    cap: Param[Nat] = 2
    rate: Param[float] = 0.5
    opening: Param[Mapping[Shelf, Genre]] = total(Genre.NOVEL)
    at: Where = None
    inside: set[Reader] = set()
    asked: list[tuple[Reader, Genre]] = []
    stars: dict[Shelf, Stars] = total(0)
    pages: Annotated[list[Page], MaxLen(2)] = []
    coins: Counter[Nat] = Counter()
    notes: dict[tuple[Reader, Nat], frozenset[Genre]] = {}
    bell: Bell = Bell()
    idle: Timer = Timer(urgent=True)
    clock: Clock = Clock(tick=0.5)
    ever_lent: Ghost[Nat] = 0

    gone = drop("burn")

    @transition(source=Doors.OPEN, target=Doors.SHUT)
    def close(self) -> None:
        super().close()
        self.idle.stop()

    @transition(source=(Doors.OPEN, Doors.SHUT), timer="idle")
    def doze(self) -> None:
        self.idle.start(self.rate)

    @event(choice=True)
    def come(self, reader: Reader) -> bool | None: ...

    @transition(source=Doors.OPEN, event="come")
    def walk_in(self, reader: Reader) -> bool | None:
        if reader in self.inside:
            refuse(f"{reader} is in")
        elif len(self.inside) >= self.cap:
            refuse("full")
        else:
            self.inside.add(reader)
        return True

    @transition(source=Doors.OPEN, event="come")
    def ring_first(self, reader: Reader) -> bool | None:
        heard = self.bell.ring(True)
        rung = needed(heard, "no sound")
        self.coins[rung] += 1
        return rung > 1

    @transition(source=Doors.OPEN)
    def lend(self, reader: Reader, weeks: Nat) -> Nat:
        require(self.at is None, "it is not here")
        self.at = Lent(reader, weeks)
        self.ever_lent += 1
        return fee(weeks)

    @transition()
    def bring(self, found: Lent | Lost) -> tuple[Nat, Stars]:
        here = needed(self.at, "it is here")
        require(found == here, "another one")
        match self.at:
            case Lent(reader, weeks) if weeks > 1:
                self.notes[reader, weeks] = frozenset({Genre.NOVEL})
            case Lent():
                self.asked = (
                    self.asked[1:] + [(here.reader, Genre.POETRY)] if isinstance(here, Lent) else []
                )
            case Lost():
                pass
            case _:
                refuse("nowhere")
        self.at = None
        return divmod(self.ever_lent_or(7), 3)

    def ever_lent_or(self, other: Nat) -> Nat:
        return sum(n for n in self.coins) + other

    @transition()
    def tidy(self, order: tuple[Shelf, ...], page: Page) -> None:
        first, many = order[:1], len(order)
        require(first != () and -many < 0 <= many, "no shelf")
        for i, shelf in enumerate(order):
            if self.stars[successor(shelf)] > LIMIT + rank(shelf):
                continue
            self.stars[shelf] = min(5, self.stars[shelf] + i % 2)
            if not can(self.bell.ring, False):
                break
        for key, genres in self.notes.items():
            assert key[1] >= 0 and (key[0] not in self.inside or len(genres) > 0)
        self.pages.append(page)
        del self.notes[next(((r, n) for r, _ in self.asked for n in (1, 2)), (Reader("x"), 0))]

    late = ignore("doze", source=Doors.SHUT, because="it is shut")
    small = ignore("come", when=lambda self, reader: self.cap == 0, because="nobody fits")

    @assume
    def room(self) -> bool:
        return self.cap > 0

    @constraint
    def short(self, reader: Reader) -> bool:
        return self.asked.count((reader, Genre.NOVEL)) <= 1

    @invariant
    def known(self, shelf: Shelf) -> bool:
        "Every shelf has a genre; and then one with fewer stars, or none."
        return implies(
            self.stars[shelf] > 0,
            any(self.stars[s] < self.stars[shelf] or s == shelf for s in Shelf)
            and all(self.opening[s] in (Genre.NOVEL, Genre.POETRY) for s in Shelf),
        )

    @step_property
    def counted(self, after: "Library") -> bool:
        return self.ever_lent <= after.ever_lent <= self.ever_lent + 1

    @reachable
    def lent(self) -> bool:
        return isinstance(self.at, Lent)

    @recoverable
    def back(self) -> bool:
        return self.at is None

    @eventually
    def opened(self) -> bool:
        return self.state == Doors.OPEN

    @eventually_always
    def settled(self) -> bool:
        return self.state == Doors.SHUT

    @infinitely_often
    def at_rest(self) -> bool:
        return not self.idle.armed or self.clock.now > 2

    @leads_to
    def comes_back(self, reader: Reader) -> tuple[bool, bool]:
        return reader in self.inside, reader not in self.inside

    @terminal
    def closed(self) -> bool:
        return self.state == Doors.SHUT and self.at is None

    fairness = Fairness(Weak("unlock", "close", each=()), Strong("lend", each=("reader",)))
    expects = Expect(known="violated", deadlock=("violated", 2))
    scope = Scope(
        {"Bell.rung": range(0, 4), "lend.weeks": range(1, 3)},
        Reader=2,
        Shelf=2,
        Page=1,
        Nat=range(0, 3),
        asked=1,
        coins=1,
        order=2,
        clock=range(0, 3),
    )
    large = Scope(Reader=3, cap=(1, 2), expects=Expect(lent="holds"))
