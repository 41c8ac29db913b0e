"""Headers as terms do what the reference engine does, in states with and without the key."""

from __future__ import annotations

from typing import Any

import pytest

from lawful.checks.prove import prove
from lawful.checks.verdict import Verdict
from lawful.spec import types as t
from lawful.spec.resolve import resolve
from lawful.spec.values.world import FrozenMap
from tests.checks.smt.both_engines import Both
from tests.spec import texts

HUB = """\
    class Node(Sort): ...
    class Phase(State):
        IDLE = "idle"
        BUSY = "busy"
        DONE = "done"
    class Hub(Machine):
        phase: dict[Node, Phase] = {}
        late: dict[Node, Timer] = {}
        members: set[Node] = set()
        woken: bool = False
        @transition(of="phase[n]")
        def ask(self, n: Node) -> None:
            self.woken = True
        @transition(target=Phase.BUSY, of="phase[n]")
        def wake(self, n: Node) -> None:
            self.woken = True
        @transition(target=(Phase.BUSY, Phase.DONE), of="phase[n]")
        def stay(self, n: Node) -> None:
            self.woken = True
        @transition(source=(Phase.IDLE, Phase.DONE), target=Phase.BUSY, of="phase[n]")
        def begin(self, n: Node) -> None:
            self.woken = True
        @transition(target=Phase.IDLE, of="phase[n]", timer="late[n]")
        def expire(self, n: Node) -> None:
            self.woken = True
        @transition()
        def join(self, n: Node) -> None:
            self.phase[n] = Phase.IDLE
            self.members.add(n)
        @invariant
        def members_only(self, n: Node) -> bool:
            return n not in self.phase or n in self.members
        @invariant
        def not_woken_by_nobody(self) -> bool:
            return len(self.members) > 0 or not self.woken
    """


@pytest.fixture(scope="module")
def hub() -> Any:
    return texts.last_machine(texts.module(HUB))


@pytest.mark.parametrize("step", ["ask", "wake", "stay", "begin", "expire"])
def test_a_header_refuses_where_its_key_is_missing(hub: Any, step: str) -> None:
    both = Both(hub, {"Node": 2})
    kind = both.fields["phase"]
    assert isinstance(kind, t.Map)
    one, other = both.reference.domains(kind.key)
    idle, busy, done = both.reference.domains(kind.value)
    row = both.machine.transition(step)
    empty = both.reference.initial({})
    for phase in ({}, {other: idle}, {one: idle}, {one: busy}, {one: done, other: busy}):
        for late in ({}, {one: True}, {one: False}):
            state = (FrozenMap(phase), FrozenMap(late), *empty[2:])
            both.compare(row, state, {"n": one}, late=False)


def test_what_a_missing_key_refuses_is_proved(hub: Any) -> None:
    found = {p.name: p.verdict for p in prove(resolve(hub).machine, sizes={"Node": 2}).properties}
    good = Verdict.PROVED_WITHIN
    assert (found["members_only"], found["not_woken_by_nobody"]) == (good, good)
