"""A vending machine."""

from enum import IntEnum
from typing import Final

from lawful import Machine, Nat, Scope, State, invariant, require, transition


class Coin(IntEnum):
    TEN = 10
    TWENTY = 20


class Mode(State):
    IDLE = 0
    PAYING = 1


PRICE: Final = 30
STOCK: Final = 1


class Vending(Machine):
    state: Mode = Mode.IDLE
    credit: int = 0
    stock: int = STOCK

    @transition(target=Mode.PAYING)
    def insert(self, coin: Coin) -> int:
        require(self.credit < PRICE, "enough money")
        self.credit += coin.value
        return PRICE - self.credit if self.credit < PRICE else 0

    @transition(source=Mode.PAYING, target=Mode.IDLE)
    def buy(self) -> int:
        """Give the drink, and the change."""
        require(self.stock > 0, "sold out")
        require(self.credit >= PRICE, f"{PRICE - self.credit} missing")
        self.stock -= 1
        change, self.credit = self.credit - PRICE, 0
        return change

    @transition(source=Mode.PAYING, target=Mode.IDLE)
    def give_back(self) -> int:
        back = self.credit
        self.credit = 0
        return back

    @transition(source=Mode.IDLE)
    def restock(self, bottles: Nat = STOCK) -> None:
        require(self.stock == 0 and bottles <= STOCK, "is full")
        self.stock += bottles

    @invariant
    def never_negative(self) -> bool:
        return self.credit >= 0 and self.stock >= 0

    @invariant
    def idle_has_no_credit(self) -> bool:
        return not self.credit if self.state is Mode.IDLE else True

    scope = Scope(credit=range(0, 60), stock=range(0, 2), Nat=range(0, 3))
