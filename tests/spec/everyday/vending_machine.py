from collections import Counter
from typing import Literal, NewType

from lawful import (
    Expect,
    Machine,
    Nat,
    Scope,
    State,
    ignore,
    invariant,
    refuse,
    require,
    total,
    transition,
)

Cents = NewType("Cents", int)
Slot = Literal["A1", "A2", "B1"]
Coin = Literal[1, 2]

PRICES: dict[Slot, int] = {"A1": 1, "A2": 2, "B1": 3}
CAPACITY = 2
COINS = (2, 1)


class Mode(State):
    IDLE = "idle"
    PAYING = "paying"
    SERVICE = "service"


def change_for(amount: int, bank: Counter[int]) -> Counter[int]:
    out: Counter[int] = Counter()
    left = amount
    for coin in COINS:
        n = min(left // coin, bank[coin])
        out[coin] += n
        left -= n * coin
    return out


class Vending(Machine):
    mode: Mode = Mode.IDLE
    credit: int = 0
    stock: dict[Slot, Nat] = total(CAPACITY)
    bank: Counter[Coin] = Counter()
    sold: int = 0

    @transition(source=(Mode.IDLE, Mode.PAYING), target=Mode.PAYING)
    def insert(self, coin: Coin) -> int:
        require(self.credit + coin <= 4, "too much money")
        self.credit += coin
        self.bank[coin] += 1
        return self.credit

    @transition(source=Mode.PAYING, target=(Mode.IDLE, Mode.PAYING))
    def select(self, slot: Slot) -> tuple[Slot, int]:
        price = PRICES[slot]
        require(self.stock[slot] > 0, f"{slot} is sold out")
        require(self.credit >= price, f"{slot} costs {price}, you paid {self.credit}")
        self.stock[slot] -= 1
        self.sold += price
        self.credit -= price
        if self.credit == 0:
            self.mode = Mode.IDLE
        else:
            self.mode = Mode.PAYING
        return slot, self.credit

    @transition(source=Mode.PAYING, target=Mode.IDLE)
    def refund(self) -> dict[Coin, int]:
        coins: dict[Coin, int] = {}
        left = self.credit
        for coin in sorted(self.bank, reverse=True):
            while_able = min(left // coin, self.bank[coin])
            if not while_able:
                continue
            coins[coin] = while_able
            self.bank[coin] -= while_able
            left -= coin * while_able
        require(left == 0, "no change, choose something")
        self.credit = 0
        return coins

    @transition(source=Mode.IDLE, target=Mode.SERVICE)
    def unlock(self, pin: int) -> None:
        if pin != 1:
            refuse("wrong pin")

    @transition(source=Mode.SERVICE, target=Mode.IDLE)
    def lock(self) -> int:
        taken = sum(c * n for c, n in self.bank.items())
        self.bank.clear()
        self.stock = {slot: CAPACITY for slot in self.stock}
        self.sold = 0
        return taken

    no_coins = ignore("insert", source=Mode.SERVICE, because="the slot is shut")

    @invariant
    def balanced(self) -> bool:
        return sum(c * n for c, n in self.bank.items()) == self.credit + self.sold

    @invariant
    def credit_only_while_paying(self) -> bool:
        return self.credit == 0 or self.mode is Mode.PAYING

    @invariant
    def stocked(self) -> bool:
        return 0 <= min(self.stock.values()) <= max(self.stock.values()) <= CAPACITY

    scope = Scope(int=range(0, 6), bank=3)
    expects = Expect()
