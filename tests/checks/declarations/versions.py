"""Two versions of machines, each pair in classes of its own: they have one name."""

from __future__ import annotations

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    State,
    assume,
    invariant,
    require,
    transition,
)


class Member(Sort):
    """Somebody who has paid in."""


class Phase(State):
    OPEN = "open"
    SHUT = "shut"


class Before:
    """The older versions."""

    class Till(Machine):
        state: Phase = Phase.OPEN
        paid: Nat = 0
        owed: dict[Member, Nat] = {}
        note: Nat = 4
        most: Param[Nat] = 10
        history: Ghost[Nat] = 0

        @transition(source=Phase.OPEN)
        def pay(self, who: Member, n: Nat) -> None:
            require(self.paid + n <= self.most, "too much")
            self.paid += n
            self.owed[who] = n

        @invariant
        def within(self) -> bool:
            return self.paid <= self.most

        scope = Scope(Nat=range(0, 5), Member=2)


class After:
    """What they became."""

    class Till(Machine):
        state: Phase = Phase.OPEN
        total: Nat = 0
        owed: dict[Member, int] = {}
        fees: Nat = 1
        most: Param[Nat] = 10
        history: Ghost[Nat] = 0

        @invariant
        def within(self) -> bool:
            return self.total <= self.most

        @invariant
        def nobody_is_owed_less_than_nothing(self, who: Member) -> bool:
            return who not in self.owed or self.owed[who] >= 0

        @invariant
        def strictly(self) -> bool:
            return self.total < self.most or self.most == 0

        deadlock_ok = True
        scope = Scope(Nat=range(0, 5), int=range(0, 5), Member=2)


class Kept:
    """The same without what does not follow."""

    class Till(After.Till):
        @invariant
        def strictly(self) -> bool:
            return self.total <= self.most + self.fees


class Narrower:
    """Some parameters are allowed no more, some states are undefined."""

    class Till(Machine):
        paid: Nat = 0
        most: Param[Nat] = 10
        deadlock_ok = True

        @assume
        def some(self) -> bool:
            return self.most > 2

        @invariant
        def divided(self) -> bool:
            return 100 // self.paid >= 0

        scope = Scope(Nat=range(0, 5))


class Never:
    """Its invariants allow no state at all."""

    class Till(Machine):
        paid: Nat = 0
        deadlock_ok = True

        @invariant
        def absurd(self) -> bool:
            return self.paid < 0

        scope = Scope(Nat=range(0, 5))
