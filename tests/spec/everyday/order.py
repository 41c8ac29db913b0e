"""An order with payment."""

from decimal import Decimal
from enum import StrEnum

from lawful import Machine, Nat, Record, Scope, State, invariant, needed, require, transition


class Method(StrEnum):
    CARD = "card"
    CASH = "cash"


class OrderState(State):
    NEW = "new"
    PAID = "paid"
    SHIPPED = "shipped"
    CANCELLED = "cancelled"


class Receipt(Record):
    amount: Nat
    method: Method
    text: str


class Order(Machine):
    state: OrderState = OrderState.NEW
    total: Nat = 2
    paid: Nat = 0
    method: Method | None = None

    @transition(source=OrderState.NEW, target=OrderState.PAID)
    def pay(self, amount: Nat, method: Method = Method.CARD) -> Receipt:
        require(amount == self.total, f"expected {self.total}, got {amount}")
        self.paid += amount
        self.method = method
        return Receipt(amount, method, f"paid {amount} by {method.value}")

    @transition(source=OrderState.PAID, target=OrderState.SHIPPED)
    def ship(self) -> str:
        return f"shipped, paid by {needed(self.method, 'nobody paid')}"

    @transition(source=[OrderState.NEW, OrderState.PAID], target=OrderState.CANCELLED)
    def cancel(self) -> Nat:
        """Cancel; what is to be paid back."""
        refund, self.paid = self.paid, 0
        return refund

    @invariant
    def shipped_is_paid(self) -> bool:
        if self.state is OrderState.SHIPPED:
            return self.paid == self.total
        return True

    deadlock_ok = True
    scope = Scope(Nat=range(0, 4))


TAX = Decimal("0.19")
