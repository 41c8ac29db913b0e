"""A shopping cart with a voucher."""

from enum import auto

from lawful import Machine, Nat, Scope, Sort, State, invariant, require, transition


class Item(Sort): ...


class Phase(State):
    SHOPPING = auto()
    CHECKED_OUT = auto()


PRICES = (3, 5, 8)


class Cart(Machine):
    state: Phase = Phase.SHOPPING
    items: dict[Item, Nat] = {}
    discount: Nat = 0

    @transition(source=[Phase.SHOPPING])
    def add(self, item: Item, count: Nat = 1) -> Nat:
        require(count > 0, f"cannot add {count} of {item}")
        self.items[item] = self.items.get(item, 0) + count
        return self._count()

    @transition(source=[Phase.SHOPPING])
    def remove(self, item: Item) -> Nat:
        require(item in self.items, "not in the cart")
        return self.items.pop(item) + self._count()

    @transition(source=[Phase.SHOPPING])
    def voucher(self, level: Nat) -> Nat:
        require(level < len(PRICES), "no such voucher")
        self.discount = PRICES[level]
        return self.discount

    @transition(source=[Phase.SHOPPING], target=Phase.CHECKED_OUT)
    def check_out(self) -> Nat:
        require(self._count() > 0, "the cart is empty")
        return self._count()

    def _count(self) -> Nat:
        return sum(self.items.values())

    @invariant
    def bought_something(self) -> bool:
        return self.state is not Phase.CHECKED_OUT or len(self.items) > 0

    deadlock_ok = True
    scope = Scope(Item=2, Nat=range(0, 3), discount=range(0, 9))
