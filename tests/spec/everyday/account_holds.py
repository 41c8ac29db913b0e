from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen

from lawful import Machine, Nat, Scope, Sort, State, invariant, require, transition


class HoldId(Sort): ...


class Standing(State):
    GOOD = "good"
    FROZEN = "frozen"
    CLOSED = "closed"


@dataclass(frozen=True, kw_only=True)
class Hold:
    amount: Nat
    captured: bool = False


class InsufficientFunds(Exception):
    pass


class Account(Machine):
    state: Standing = Standing.GOOD
    balance: Nat = 0
    holds: dict[HoldId, Hold] = {}
    ledger: Annotated[list[tuple[str, Nat]], MaxLen(0)] = []

    @property
    def held(self) -> int:
        return sum(h.amount for h in self.holds.values() if not h.captured)

    @property
    def available(self) -> int:
        return self.balance - self.held

    @transition(source=Standing.GOOD)
    def deposit(self, amount: Nat) -> None:
        require(amount > 0 and self.balance + amount <= 3)
        self.balance += amount

    @transition(source=Standing.GOOD)
    def withdraw(self, amount: Nat) -> None:
        if amount > self.available:
            raise InsufficientFunds(f"{amount} > {self.available}")
        self.balance -= amount

    @transition(source=Standing.GOOD)
    def hold(self, name: HoldId, amount: Nat) -> None:
        require(name not in self.holds, "that hold exists")
        require(0 < amount <= self.available, "not enough")
        self.holds[name] = Hold(amount=amount)

    @transition(source=[Standing.GOOD, Standing.FROZEN])
    def capture(self, name: HoldId, amount: Nat) -> Nat:
        hold = self.holds.get(name)
        if hold is None or hold.captured:
            raise KeyError(name)
        require(amount <= hold.amount)
        self.balance -= amount
        self.holds[name] = Hold(amount=amount, captured=True)
        return hold.amount - amount

    @transition(source=[Standing.GOOD, Standing.FROZEN])
    def release(self, name: HoldId) -> None:
        require(name in self.holds)
        _ = self.holds.pop(name)

    @transition(source=Standing.GOOD, target=Standing.FROZEN)
    def freeze(self) -> None: ...

    @transition(source=Standing.FROZEN, target=Standing.GOOD)
    def unfreeze(self) -> None: ...

    @transition(source=Standing.GOOD, target=Standing.CLOSED)
    def close(self) -> None:
        require(self.balance == 0 and not any(not h.captured for h in self.holds.values()))
        self.holds.clear()

    @transition(source=Standing.CLOSED, target=Standing.GOOD)
    def reopen(self) -> None: ...

    def largest(self) -> Hold | None:
        return max(self.holds.values(), key=lambda h: h.amount, default=None)

    @invariant
    def never_overdrawn(self) -> bool:
        return self.available >= 0

    @invariant
    def largest_is_covered(self) -> bool:
        if (largest := self.largest()) is None:
            return True
        return largest.captured or largest.amount <= self.balance

    scope = Scope(Nat=range(0, 4), HoldId=2)
