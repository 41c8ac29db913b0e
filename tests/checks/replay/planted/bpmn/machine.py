"""A claim: tasks are scheduled, started and completed (XES lifecycle)."""

from typing import Literal

from lawful import Machine, Nat, require, terminal, transition

Task = Literal["Register", "Assess", "Pay"]


class Claim(Machine):
    open: set[Task] = set()
    done: list[Task] = []
    cost: Nat = 0

    @transition()
    def start(self, task: Task) -> None:
        require(task not in self.open, "started already")
        require(task != "Pay" or "Assess" in self.done, "paid before it is assessed")
        self.open.add(task)

    @transition()
    def complete(self, task: Task, cost: Nat) -> None:
        require(task in self.open, "completed and not started")
        self.open.remove(task)
        self.done = self.done + [task]
        self.cost += cost

    @terminal
    def over(self) -> bool:
        return len(self.open) == 0
