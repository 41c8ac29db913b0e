"""Labels of transitions: what is shown of locals that a body changes, and of what it takes."""

from __future__ import annotations

from lawful import Machine, Nat, needed, transition
from lawful.diagrams.transition_labels import label_of
from lawful.spec.resolve import resolve


class Stock(Machine):
    held: dict[Nat, Nat] = {}

    @transition
    def low(self) -> dict[Nat, Nat]:
        found: dict[Nat, Nat] = {}
        for k, n in self.held.items():
            if n < 2:
                found[k] = n
        return found

    @transition
    def some(self, k: Nat) -> list[Nat]:
        out: list[Nat] = []
        if k in self.held:
            out.append(k)
        return out

    @transition
    def take(self, k: Nat) -> Nat:
        return needed(self.held.pop(k, None), "is not held")

    @transition
    def none(self) -> list[Nat]:
        out: list[Nat] = []
        return out


def full(name: str) -> str:
    machine = resolve(Stock).machine
    return label_of(machine, machine.transition(name)).full


def test_a_local_that_is_filled_is_not_shown_as_it_began() -> None:
    assert full("low") == "low() / found"
    assert full("some") == "some(k) / out"
    assert full("none") == "none() / []"


def test_what_is_taken_is_shown_by_its_place() -> None:
    assert full("take") == "take(k) [held.get(k, None) is not None] / held.get(k, None)"
