from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen

from lawful import Machine, Nat, Scope, Sort, State, invariant, require, transition


class Sku(Sort): ...


@dataclass(frozen=True, order=True)
class Line:
    sku: Sku
    quantity: Nat
    price: Nat

    @property
    def total(self) -> int:
        return self.quantity * self.price


class Checkout(State):
    SHOPPING = "shopping"
    CHECKOUT = "checkout"
    ORDERED = "ordered"


class ShoppingCart(Machine):
    state: Checkout = Checkout.SHOPPING
    lines: Annotated[list[Line], MaxLen(2)] = []
    coupon: Nat = 0
    charged: Nat = 0

    def find(self, sku: Sku) -> Line | None:
        for line in self.lines:
            if line.sku == sku:
                return line
        return None

    def subtotal(self) -> int:
        return sum(line.total for line in self.lines)

    def total(self) -> int:
        return max(0, self.subtotal() - self.coupon)

    @transition(source=Checkout.SHOPPING)
    def add(self, sku: Sku, price: Nat) -> None:
        require(price > 0, "free goods are not sold")
        existing = self.find(sku)
        if existing is not None:
            require(existing.quantity < 2, "too many")
            index = self.lines.index(existing)
            self.lines[index] = Line(sku, existing.quantity + 1, existing.price)
            return
        require(len(self.lines) < 2, "the cart is full")
        self.lines.append(Line(sku, 1, price))

    @transition(source=Checkout.SHOPPING)
    def remove(self, sku: Sku) -> None:
        require(any(line.sku == sku for line in self.lines), "not in the cart")
        self.lines = [line for line in self.lines if line.sku != sku]

    @transition(source=Checkout.SHOPPING)
    def apply(self, coupon: Nat) -> None:
        require(0 < coupon <= 2)
        self.coupon = max(self.coupon, coupon)

    @transition(source=Checkout.SHOPPING, target=Checkout.CHECKOUT)
    def checkout(self) -> None:
        require(self.lines, "the cart is empty")

    @transition(source=Checkout.CHECKOUT, target=Checkout.SHOPPING)
    def back(self) -> None: ...

    @transition(source=Checkout.CHECKOUT, target=Checkout.ORDERED)
    def pay(self) -> Nat:
        self.charged = self.total()
        dearest = max(self.lines, key=lambda line: line.total)
        self.lines.sort(key=lambda line: (-line.total, line.quantity))
        assert self.lines[0].total == dearest.total
        return self.charged

    @transition(source=Checkout.ORDERED, target=Checkout.SHOPPING)
    def again(self) -> None:
        self.lines.clear()
        self.coupon = self.charged = 0

    @invariant
    def no_sku_twice(self) -> bool:
        skus = [line.sku for line in self.lines]
        return len(skus) == len(set(skus))

    scope = Scope(Nat=range(0, 3), Sku=2)
