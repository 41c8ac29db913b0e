"""A warehouse with reservations."""

from typing import NewType

from lawful import Machine, Nat, Scope, Sort, invariant, require, transition

OrderId = NewType("OrderId", int)


class Sku(Sort): ...


class Stock(Machine):
    on_hand: dict[Sku, Nat] = {}
    reserved: dict[OrderId, Sku] = {}

    @transition
    def receive(self, sku: Sku, count: Nat = 1) -> Nat:
        require(count >= 1, "nothing received")
        self.on_hand[sku] = self.on_hand.get(sku, 0) + count
        return self.on_hand[sku]

    @transition
    def reserve(self, order: OrderId, sku: Sku) -> None:
        require(order not in self.reserved, f"order {order} has a reservation")
        require(self._free(sku) > 0, f"no {sku} left")
        self.reserved[order] = sku

    @transition
    def ship(self, order: OrderId) -> Sku:
        require(order in self.reserved, "unknown order")
        sku = self.reserved.pop(order)
        self.on_hand[sku] -= 1
        return sku

    @transition
    def cancel(self, order: OrderId) -> None:
        require(order in self.reserved, "unknown order")
        self.reserved.pop(order)

    def _free(self, sku: Sku) -> int:
        taken = sum(1 for s in self.reserved.values() if s == sku)
        return self.on_hand.get(sku, 0) - taken

    @invariant
    def covered(self) -> bool:
        return all(self._free(sku) >= 0 for sku in Sku)

    scope = Scope(Sku=2, Nat=range(0, 3), OrderId=range(0, 2))
