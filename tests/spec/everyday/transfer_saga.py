"""A money transfer as a saga: reserve, debit, credit, and compensation."""

from collections.abc import Sequence
from uuid import UUID

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    assume,
    ignore,
    invariant,
    require,
    step_property,
    terminal,
    total,
    transition,
)


class Acct(Sort):
    "An account."


class Step(State):
    NEW = "new"
    RESERVED = "reserved"
    DEBITED = "debited"
    DONE = "done"
    COMPENSATING = "compensating"
    FAILED = "failed"


class Debit(Record):
    account: Acct
    amount: Nat


class Credit(Record):
    account: Acct
    amount: Nat


class Release(Record):
    account: Acct


Command = Debit | Credit | Release
ORDER = [Step.NEW, Step.RESERVED, Step.DEBITED, Step.DONE]


class Transfer(Machine):
    step: Step = Step.NEW
    id: UUID | None = None
    src: Acct | None = None
    dst: Acct | None = None
    amount: Nat = 0
    balance: dict[Acct, Nat] = total(2)
    held: dict[Acct, Nat] = {}
    log: list[Step] = []
    attempts: Nat = 0
    max_attempts: Param[Nat] = 2
    deadline: Timer = Timer()

    @assume
    def tries(self) -> bool:
        return self.max_attempts >= 1

    def _enter(self, step: Step) -> None:
        self.step = step
        self.log.append(step)

    @transition(source=Step.NEW, target=Step.RESERVED)
    def begin(self, id: UUID, src: Acct, dst: Acct, amount: Nat) -> Command:
        require(src != dst, "same account")
        require(0 < amount <= self.balance[src] - self.held.get(src, 0), "not enough money")
        self.id, self.src, self.dst, self.amount = id, src, dst, amount
        self.held[src] = self.held.get(src, 0) + amount
        self.log += [Step.RESERVED]
        self.deadline.start(30)
        return Debit(src, amount)

    @transition(source=Step.RESERVED)
    def debited(self) -> list[Command]:
        assert self.src is not None and self.dst is not None
        self.balance[self.src] -= self.amount
        self.held.pop(self.src)
        self._enter(Step.DEBITED)
        return [Credit(self.dst, self.amount), Release(account=self.src)]

    @transition(source=Step.DEBITED)
    def credited(self, ok: bool) -> Command | None:
        if ok:
            if self.dst is not None:
                self.balance[self.dst] += self.amount
            self._enter(Step.DONE)
            self.deadline.stop()
            return None
        self.attempts += 1
        if self.attempts >= self.max_attempts:
            self._enter(Step.COMPENSATING)
            return None
        return Credit(self.dst, self.amount) if self.dst else None

    @transition(source=Step.COMPENSATING, target=Step.FAILED)
    def compensate(self) -> tuple[Acct, Nat]:
        assert self.src
        self.balance[self.src] += self.amount
        self.log.append(Step.FAILED)
        return self.src, self.amount

    @transition(source=(Step.RESERVED, Step.DEBITED), timer="deadline")
    def expired(self) -> Sequence[Command]:
        commands: list[Command] = []
        match self.step:
            case Step.RESERVED:
                if self.src is not None and self.src in self.held:
                    del self.held[self.src]
                    commands.append(Release(self.src))
                self._enter(Step.FAILED)
            case Step.DEBITED:
                self._enter(Step.COMPENSATING)
            case _:
                pass
        return commands

    dup = ignore("credited", source=[Step.DONE, Step.FAILED], because="late answer")

    @terminal
    def over(self) -> bool:
        return self.step in (Step.DONE, Step.FAILED)

    @invariant
    def money(self) -> bool:
        in_flight = self.amount if self.step in (Step.DEBITED, Step.COMPENSATING) else 0
        return sum(self.balance.values()) + in_flight == 2 * len(Acct)

    @invariant
    def log_in_order(self) -> bool:
        positions = [ORDER.index(s) for s in self.log if s in ORDER]
        return positions == sorted(positions)

    @invariant
    def log_ends_here(self) -> bool:
        return not self.log or self.log[-1] == self.step

    @step_property
    def log_only_grows(self, after: "Transfer") -> bool:
        return after.log[: len(self.log)] == self.log

    scope = Scope(Acct=2, UUID=1, Nat=range(0, 3), log=5, max_attempts=(1, 2))
