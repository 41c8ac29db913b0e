"""The peer of replays: one machine of the library transitions for each instance, as anyone would
write it. It has a module of its own, so that Spark's workers can pickle it."""

from __future__ import annotations

from typing import Any


class OrderByHand:
    """The machine `Order` of `_traces`, with the library transitions."""

    def __init__(self, machine: type[Any]) -> None:
        self.price = self.paid = 0
        rows = [
            {"trigger": "OPEN", "source": "NEW", "dest": "OPEN"},
            {"trigger": "ADD", "source": "OPEN", "dest": None, "after": "more"},
            {
                "trigger": "PAY",
                "source": "OPEN",
                "dest": None,
                "conditions": "is_due",
                "after": "less",
            },
            {"trigger": "CLOSE", "source": "OPEN", "dest": "DONE", "conditions": "is_paid"},
        ]
        states = ["NEW", "OPEN", "DONE"]
        machine(self, states=states, transitions=rows, initial="NEW", auto_transitions=False)

    def more(self, number: int) -> None:
        self.price += number

    def is_due(self, number: int) -> bool:
        return self.paid + number <= self.price

    def less(self, number: int) -> None:
        self.paid += number

    def is_paid(self, _number: int) -> bool:
        return self.paid == self.price
