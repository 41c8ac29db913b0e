"""Random walks: which events they take."""

from __future__ import annotations

from lawful import Machine, Nat, Scope, transition
from lawful.checks.explorer.walked_path import WalkedPath
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve


class Uneven(Machine):
    turns: Nat = 0

    @transition()
    def turn(self) -> None:
        self.turns = (self.turns + 1) % 3

    @transition()
    def set(self, n: Nat) -> None:
        self.turns = n % 3

    @transition()
    def leave(self) -> None:
        """Leaves the scope, so no random walk takes it."""
        self.turns = 99

    deadlock_ok = True
    scope = Scope(Nat=range(0, 50))


def test_each_transition_is_as_likely_however_many_arguments_it_has() -> None:
    resolved = resolve(Uneven)
    walk = WalkedPath(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)
    path = walk.random_walk((0,), 1, 200)
    taken = [step.transition for step in walk.trace(path).steps]
    assert len(taken) == 200 and set(taken) == {"turn", "set"}
    assert 70 < taken.count("turn") < 130
    # Of the arguments, too, each is taken.
    args = {str(step.args["n"]) for step in walk.trace(path).steps if step.args}
    assert len(args) > 30
