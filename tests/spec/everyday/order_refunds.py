"""An order with payments and refunds."""

from datetime import timedelta
from enum import Enum

from lawful import (
    Clock,
    Machine,
    Nat,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    invariant,
    refuse,
    require,
    transition,
)

PAYMENT_WINDOW = timedelta(minutes=2)
REFUND_WINDOW = PAYMENT_WINDOW * 2


class Method(Enum):
    CARD = "card"
    CASH = "cash"


class Status(State):
    CART = "cart"
    PLACED = "placed"
    PAID = "paid"
    CANCELLED = "cancelled"


class Payment(Record):
    method: Method
    cents: Nat


class Receipt(Record):
    total: Nat
    payments: tuple[Payment, ...]
    note: str = ""


class Item(Sort):
    """Something in the shop."""


PRICE = {Method.CARD: 1, Method.CASH: 0}


class Order(Machine):
    status: Status = Status.CART
    lines: dict[Item, Nat] = {}
    payments: list[Payment] = []
    refunded: Nat = 0
    paid_at: Nat | None = None
    clock: Clock = Clock(tick=60)
    expiry: Timer = Timer()

    def total(self) -> Nat:
        return sum(self.lines.values())

    def paid(self) -> Nat:
        return sum(p.cents for p in self.payments)

    @transition(source=Status.CART)
    def add(self, item: Item, quantity: Nat = 1) -> Nat:
        if quantity == 0:
            refuse("nothing to add")
        self.lines[item] = self.lines.get(item, 0) + quantity
        return self.lines[item]

    @transition(source=Status.CART, target=Status.PLACED)
    def place(self) -> dict[Item, Nat]:
        require(self.lines, "the cart is empty")
        self.expiry.start(PAYMENT_WINDOW.total_seconds())
        return dict(self.lines)

    @transition(source=Status.PLACED)
    def pay(self, payment: Payment) -> Receipt | None:
        require(0 < payment.cents <= self.total() - self.paid(), "too much")
        self.payments.append(payment)
        if self.paid() < self.total():
            return None
        self.expiry.stop()
        self.paid_at = self.clock.now
        self.status = Status.PAID
        methods = {p.method for p in self.payments}
        note = "split" if len(methods) > 1 else "one way"
        return Receipt(total=self.total(), payments=tuple(self.payments), note=note.title())

    @transition(source=Status.PLACED, target=Status.CANCELLED, timer="expiry")
    def expire(self) -> None:
        self.refunded = self.paid()

    @transition(source=Status.PAID)
    def refund(self, cents: Nat) -> Nat:
        require(self.paid_at is not None, "was never paid")
        if self.paid_at is None:
            refuse("was never paid")
        age = (self.clock.now - self.paid_at) * 60
        require(age <= REFUND_WINDOW.total_seconds(), "too late")
        require(cents > 0 and self.refunded + cents <= self.paid(), "more than was paid")
        self.refunded += cents
        if self.refunded == self.paid():
            self.status = Status.CANCELLED
        return self.paid() - self.refunded

    @invariant
    def never_refunds_more(self) -> bool:
        return self.refunded <= self.paid()

    @invariant
    def paid_in_full(self) -> bool:
        return self.status is not Status.PAID or self.paid() == self.total()

    deadlock_ok = True
    scope = Scope(Item=1, Nat=range(0, 3), payments=2, clock=3)
