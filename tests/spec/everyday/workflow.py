"""Order workflow of a shop."""

from __future__ import annotations

from enum import auto
from uuid import UUID

from lawful import Machine, Nat, Record, Scope, State, invariant, refuse, require, transition


class Status(State):
    CART = auto()
    PLACED = auto()
    PAID = auto()
    SHIPPED = auto()
    DELIVERED = auto()
    CANCELLED = auto()
    REFUNDED = auto()


class OrderLine(Record):
    sku: str
    quantity: Nat
    price_cents: Nat


class OrderEvent(Record):
    kind: str
    amount: Nat
    message: str


MAX_LINES = 3
CANCELLABLE = (Status.CART, Status.PLACED, Status.PAID)


class Order(Machine):
    """One order from cart to door."""

    state: Status = Status.CART
    lines: list[Nat] = []
    paid: Nat = 0
    refunded: Nat = 0
    payment_id: UUID | None = None
    notes: list[str] = []

    @property
    def total(self) -> int:
        return sum(self.lines)

    @property
    def is_open(self) -> bool:
        return self.state not in (Status.CANCELLED, Status.REFUNDED, Status.DELIVERED)

    @transition(source=Status.CART)
    def add_line(self, price: Nat, quantity: Nat = 1) -> None:
        if price <= 0:
            refuse("price must be positive")
        if len(self.lines) >= MAX_LINES:
            refuse(f"at most {MAX_LINES} lines")
        self.lines.append(price * quantity)

    @transition(source=Status.CART)
    def remove_last(self) -> int:
        require(len(self.lines) > 0, "cart is empty")
        return self.lines.pop()

    @transition(source=Status.CART, target=Status.PLACED)
    def place(self) -> OrderEvent:
        require(len(self.lines) > 0, "cart is empty")
        return OrderEvent(
            kind="placed", amount=self.total, message=f"order with {len(self.lines)} lines"
        )

    @transition(source=Status.PLACED, target=Status.PAID)
    def pay(self, amount: Nat, payment_id: UUID) -> OrderEvent:
        require(amount == self.total, "wrong amount")
        self.paid = amount
        self.payment_id = payment_id
        return OrderEvent(kind="paid", amount=amount, message="paid by " + str(payment_id))

    @transition(source=Status.PAID, target=Status.SHIPPED)
    def ship(self) -> None:
        pass

    @transition(source=Status.SHIPPED, target=Status.DELIVERED)
    def deliver(self) -> None:
        pass

    @transition(source=CANCELLABLE, target=Status.CANCELLED)
    def cancel(self) -> OrderEvent | None:
        if self.paid > 0:
            self.refunded = self.paid
            return OrderEvent("refund", self.paid, "cancelled")
        return None

    @transition(source=[Status.DELIVERED], target=Status.REFUNDED)
    def return_goods(self) -> None:
        self.refunded = self.paid

    @invariant
    def never_refund_more_than_paid(self) -> bool:
        return self.refunded <= self.paid

    @invariant
    def shipped_means_paid(self) -> bool:
        if self.state in {Status.SHIPPED, Status.DELIVERED}:
            return self.paid == self.total and self.payment_id is not None
        return True

    deadlock_ok = True
    scope = Scope(Nat=range(3), lines=2, UUID=2)
