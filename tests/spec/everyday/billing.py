from typing import Annotated, Literal

from annotated_types import MaxLen

from lawful import Machine, Nat, Scope, State, invariant, require, transition

Plan = Literal["free", "basic", "pro"]
PRICE: dict[str, int] = {"free": 0, "basic": 1, "pro": 2}


class Sub(State):
    TRIAL = "trial"
    ACTIVE = "active"
    PAST_DUE = "past due"
    CANCELLED = "cancelled"


class Subscription(Machine):
    state: Sub = Sub.TRIAL
    plan: Plan = "basic"
    pending_plan: Plan | None = None
    failures: Nat = 0
    invoices: Annotated[list[tuple[Plan, bool]], MaxLen(2)] = []

    @property
    def is_paying(self) -> bool:
        return self.state in (Sub.ACTIVE, Sub.PAST_DUE) and self.plan != "free"

    def price(self) -> int:
        match self.plan:
            case "free":
                return 0
            case "basic":
                return 1
            case "pro":
                return 2

    def unpaid(self) -> list[Plan]:
        return [plan for plan, paid in self.invoices if not paid]

    @transition(source=[Sub.TRIAL, Sub.CANCELLED], target=Sub.ACTIVE)
    def subscribe(self, plan: Plan) -> None:
        self.plan = plan
        self.failures = 0
        self.invoices = []

    @transition(source=Sub.ACTIVE)
    def change(self, plan: Plan) -> str:
        require(plan != self.plan, f"already on {plan}")
        if PRICE[plan] > PRICE[self.plan]:
            self.plan = plan
            return "upgraded"
        self.pending_plan = plan
        return "will be downgraded"

    @transition(source=[Sub.ACTIVE, Sub.PAST_DUE])
    def renew(self, paid: bool) -> None:
        if self.pending_plan:
            self.plan, self.pending_plan = self.pending_plan, None
        if self.price() == 0:
            return
        if len(self.invoices) >= 2:
            self.invoices = self.invoices[1:]
        self.invoices.append((self.plan, paid))
        if paid:
            self.failures, self.state = 0, Sub.ACTIVE
        else:
            self.failures += 1
            self.state = Sub.PAST_DUE if self.failures < 3 else Sub.CANCELLED

    @transition(source=Sub.PAST_DUE)
    def settle(self) -> int:
        due = sum(PRICE[p] for p in self.unpaid())
        for i, (plan, paid) in enumerate(self.invoices):
            if not paid:
                self.invoices[i] = (plan, True)
        self.state = Sub.ACTIVE
        self.failures = 0
        return due

    @transition(source=[Sub.ACTIVE, Sub.PAST_DUE], target=Sub.CANCELLED)
    def cancel(self) -> None:
        self.pending_plan = None

    @invariant
    def past_due_has_failures(self) -> bool:
        if self.state == Sub.PAST_DUE:
            return self.failures > 0
        return True

    @invariant
    def last_invoice_unpaid_when_past_due(self) -> bool:
        match self.invoices:
            case [*_, (_, paid)]:
                return not paid or self.state != Sub.PAST_DUE
            case _:
                return self.state != Sub.PAST_DUE

    scope = Scope(Nat=range(0, 4))
