"""Random walks: which events they take."""

from __future__ import annotations

from typing import Any, cast

from lawful import Clock, Machine, Nat, Scope, Timer, transition
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


class Kettle(Machine):
    clock: Clock = Clock()
    boils: Timer = Timer()

    @transition()
    def heat(self) -> None:
        self.boils.start(2)

    @transition(timer="boils")
    def whistle(self) -> None: ...

    deadlock_ok = True
    scope = Scope(clock=range(0, 4))


def test_a_view_says_in_how_many_ticks_a_timer_is_due() -> None:
    resolved = resolve(Kettle)
    walk = WalkedPath(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)
    path: tuple[int, ...] = (0,)
    told: list[object] = []
    for event in ("heat", "tick", "tick"):
        rows = cast(list[dict[str, Any]], walk.view(path)["enabled"])
        path = (*path, next(row["index"] for row in rows if row["event"] == event))
        told.append(walk.view(path)["timers"])
    assert told == [{"boils": "due in 2 ticks"}, {"boils": "due in 1 tick"}, {"boils": "due"}]
