"""Order workflow, shopping cart, feature rollout."""

from __future__ import annotations

from enum import Enum, auto

from lawful import (
    Machine,
    Nat,
    Record,
    Scope,
    Sort,
    State,
    invariant,
    refuse,
    require,
    terminal,
    transition,
)


class OrderStatus(State):
    DRAFT = "draft"
    SUBMITTED = "submitted"
    PAID = "paid"
    PACKED = "packed"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in (OrderStatus.DELIVERED, OrderStatus.CANCELLED)

    def can_cancel(self) -> bool:
        return self in {OrderStatus.DRAFT, OrderStatus.SUBMITTED, OrderStatus.PAID}

    @classmethod
    def active(cls) -> tuple[OrderStatus, ...]:
        return tuple(s for s in cls if not s.is_final)


class Sku(Sort):
    pass


class Line(Record):
    sku: Sku
    quantity: Nat = 1
    unit_price: Nat = 1

    @property
    def amount(self) -> int:
        return self.quantity * self.unit_price


def discount(total: int, vip: bool) -> int:
    if total < 2:
        return 0
    elif vip:
        return total // 5
    return total // 10


class Order(Machine):
    MAX_LINES = 2

    state: OrderStatus = OrderStatus.DRAFT
    lines: dict[Sku, Line] = {}
    paid: Nat = 0
    vip: bool = False
    note: Sku | None = None

    @property
    def total(self) -> int:
        return sum(line.amount for line in self.lines.values())

    @property
    def amount_due(self) -> int:
        return max(0, self.total - discount(self.total, self.vip) - self.paid)

    @transition(source=OrderStatus.DRAFT)
    def add_line(self, sku: Sku, quantity: Nat) -> int:
        require(quantity > 0, "quantity must be positive")
        if sku in self.lines:
            line = self.lines[sku]
            self.lines[sku] = line.replace(quantity=line.quantity + quantity)
        elif len(self.lines) >= self.MAX_LINES:
            refuse("too many lines")
        else:
            self.lines[sku] = Line(sku, quantity)
        return len(self.lines)

    @transition(source=OrderStatus.DRAFT)
    def remove_line(self, sku: Sku) -> Line | None:
        removed = self.lines.pop(sku, None)
        if removed is None:
            return None
        if not self.lines:
            self.vip = False
        return removed

    @transition(source=OrderStatus.DRAFT, target=OrderStatus.SUBMITTED)
    def submit(self, vip: bool = False) -> str:
        require(self.lines, "the order is empty")
        self.vip = vip
        return f"{len(self.lines)} lines, total {self.total}"

    @transition(source=OrderStatus.SUBMITTED)
    def pay(self, amount: Nat) -> int:
        require(0 < amount <= self.amount_due, "wrong amount")
        self.paid += amount
        if self.amount_due == 0:
            self.state = OrderStatus.PAID
        return self.amount_due

    @transition(source=OrderStatus.PAID, target=OrderStatus.PACKED)
    def pack(self) -> list[Sku]:
        return [sku for sku, line in self.lines.items() if line.quantity > 0]

    @transition(source=OrderStatus.PACKED, target=OrderStatus.SHIPPED)
    def ship(self) -> None:
        pass

    @transition(source=OrderStatus.SHIPPED, target=OrderStatus.DELIVERED)
    def deliver(self) -> None:
        pass

    @transition(target=OrderStatus.CANCELLED)
    def cancel(self) -> int:
        require(self.state.can_cancel(), f"cannot cancel in {self.state}")
        refund, self.paid = self.paid, 0
        return refund

    @terminal
    def done(self) -> bool:
        return self.state.is_final

    @invariant
    def never_overpaid(self) -> bool:
        return self.paid <= self.total

    @invariant
    def active_is_not_final(self) -> bool:
        return (self.state in OrderStatus.active()) != self.state.is_final

    scope = Scope(Sku=2, Nat=range(0, 3), paid=range(0, 9))


class Cart(Machine):
    FREE_SHIPPING_FROM = 4
    items: dict[Sku, Nat] = {}
    saved: set[Sku] = set()
    coupon: Nat | None = None
    checked_out: bool = False

    def _price(self, sku: Sku) -> int:
        return 2

    @property
    def subtotal(self) -> int:
        return sum(self._price(sku) * n for sku, n in self.items.items())

    @transition
    def add(self, sku: Sku, count: Nat = 1) -> None:
        require(not self.checked_out and count >= 1, "closed")
        self.items.setdefault(sku, 0)
        self.items[sku] += count
        self.saved.discard(sku)

    @transition
    def save_for_later(self, sku: Sku) -> None:
        require(sku in self.items, "not in cart")
        del self.items[sku]
        self.saved |= {sku}

    @transition
    def restore_all(self) -> int:
        restored = len(self.saved)
        for sku in self.saved:
            self.items[sku] = self.items.get(sku, 0) + 1
        self.saved = set()
        return restored

    @transition
    def apply_coupon(self, percent: Nat) -> None:
        require(self.coupon is None, "only one coupon")
        self.coupon = percent

    @transition
    def checkout(self) -> tuple[int, bool]:
        require(any(n > 0 for n in self.items.values()), "empty")
        total = self.subtotal
        if self.coupon is not None:
            total -= min(total, self.coupon)
        free = total >= self.FREE_SHIPPING_FROM
        self.checked_out = True
        return total, free

    @transition
    def merge(self, other: frozenset[Sku]) -> None:
        require(not self.checked_out, "closed")
        new = other - self.items.keys() - self.saved
        self.items.update({sku: 1 for sku in new})

    @invariant
    def disjoint(self) -> bool:
        return self.saved.isdisjoint(self.items)

    @invariant
    def positive(self) -> bool:
        return all(n >= 1 for n in self.items.values())

    scope = Scope(Sku=2, Nat=range(0, 3))
    deadlock_ok = True


class Stage(Enum):
    OFF = auto()
    CANARY = auto()
    HALF = auto()
    FULL = auto()

    def next(self) -> Stage:
        order = list(Stage)
        i = order.index(self)
        return order[min(i + 1, len(order) - 1)]

    @property
    def percent(self) -> int:
        match self:
            case Stage.OFF:
                return 0
            case Stage.CANARY:
                return 5
            case Stage.HALF:
                return 50
            case _:
                return 100


class Region(Sort):
    pass


class Rollout(Machine):
    ERROR_BUDGET = 2

    stages: dict[Region, Stage] = {}
    errors: dict[Region, Nat] = {}
    frozen: bool = False
    history: list[Stage] = []

    @transition
    def enable(self, region: Region) -> Stage:
        require(not self.frozen, "rollout is frozen")
        current = self.stages.get(region, Stage.OFF)
        require(current is not Stage.FULL, "already full")
        self.stages[region] = current.next()
        self.history = [*self.history, self.stages[region]][-3:]
        return self.stages[region]

    @transition
    def report_error(self, region: Region) -> bool:
        require(self.stages.get(region, Stage.OFF) != Stage.OFF, "not enabled")
        self.errors[region] = count = self.errors.get(region, 0) + 1
        if count > self.ERROR_BUDGET:
            self.stages[region] = Stage.OFF
            self.errors.pop(region)
            self.frozen = True
            return True
        return False

    @transition
    def unfreeze(self) -> None:
        require(self.frozen)
        self.frozen = False

    @transition
    def summary(self) -> tuple[int, int]:
        enabled = [r for r in self.stages if self.stages[r] != Stage.OFF]
        percents = {s.percent for s in self.stages.values()}
        return len(enabled), max(percents, default=0)

    @invariant
    def errors_within_budget(self) -> bool:
        return not any(v > self.ERROR_BUDGET for v in self.errors.values())

    @invariant
    def errors_only_where_known(self) -> bool:
        return set(self.errors) <= set(self.stages)

    scope = Scope(Region=2, Nat=range(0, 4), history=3)
    deadlock_ok = True
