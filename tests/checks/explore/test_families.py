"""Families of machines, `dict[K, M]`, in every engine."""

from __future__ import annotations

import copy
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, PropertyViolated, Refused, Undefined
from lawful.checks.explore import CheckResult, explore
from lawful.checks.prove import prove
from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.verdict import Verdict
from lawful.runtime.journal import Journal
from lawful.runtime.timers import SimulatedClock
from lawful.spec.codec.as_json import canonical, from_json, to_json
from lawful.spec.lower import lower
from lawful.spec.text.statements import machine as shown
from tests.checks.declarations.families import Hub, Link, Node, Rack
from tests.checks.reference.agreement import agreement

A, B = Node("a"), Node("b")


def explored(cls: type[Machine], **changes: Any) -> CheckResult:
    resolved = cls.lawful.resolved
    scope = resolved.scopes["scope"].widened(changes)
    return explore(lower(resolved.machine, scope), resolved.world, {})


def hub() -> Hub:
    return Hub(universe={Node: ["a", "b"]}, clock=SimulatedClock())


def test_the_counts_are_those_of_the_product_of_the_members() -> None:
    """Each of four cells is absent or holds 0, 1 or 2: 4**4 states. Of its 10 pairs of a state
    and a step (adding; putting 0, 1 or 2, which is undefined where it is absent) each occurs with
    the 4**3 states of the others; and there is one start.
    """
    result = explored(Rack)
    assert (result.distinct, result.generated, result.depth) == (4**4, 4 * 10 * 4**3 + 1, 9)
    verdicts = {p.name: p.verdict for p in result.properties if p.kind != "built-in"}
    assert verdicts == {
        "first_is_empty": Verdict.HOLDS,
        "shelves.first.holds_few": Verdict.HOLDS,
        "shelves.cells.holds_few": Verdict.VIOLATED,
    }
    (few,) = (p for p in result.properties if p.name == "shelves.cells.holds_few")
    assert few.why == "shelves[Node1].cells[False]: held < 2 is false (held = 2)"
    assert few.trace is not None
    assert [dict(step.changed) for step in few.trace.steps] == [
        {"shelves[Node1].cells[False]": {"held": 0}},
        {"shelves[Node1].cells[False].held": 2},
    ]


def test_what_a_step_changed_is_told_member_by_member() -> None:
    result = explored(Hub, Node=1)
    found = {p.name: p for p in result.properties}
    assert found["peers.within_its_limit"].verdict is Verdict.HOLDS_WITHIN_SCOPE
    # A machine made anew under a key that had one is judged as a step of the one at that key.
    grows = found["peers.only_grows"]
    assert grows.verdict is Verdict.VIOLATED
    assert grows.why.startswith("peers[Node1]: after.sent >= sent is false")
    assert found["bounds"].why == "peers[Node1].limit: -2 is below 0"
    there = "self.peers[node] in families.py:97"
    assert found["undefined"].why == f"there is no item Node('Node1'): {there}"


@pytest.mark.nightly
@pytest.mark.parametrize("cls", [Hub, Rack], ids=lambda cls: cls.__name__)
def test_python_itself_agrees(cls: type[Machine]) -> None:
    compared = agreement(cls, 200)
    assert compared.differences == ()
    assert compared.comparisons > 2_000


@pytest.mark.nightly
def test_proofs_are_of_every_member() -> None:
    names = {p.name: p.verdict for p in prove(Hub.lawful.ir, sizes={"Node": 2}).properties}
    assert names["peers.within_its_limit"] is Verdict.PROVED_WITHIN
    assert names["spares.within_its_limit"] is Verdict.PROVED_WITHIN
    assert names["peers.only_grows"] is Verdict.UNKNOWN
    assert names["asserts"] is Verdict.PROVED_WITHIN


def test_a_step_of_a_member_is_atomic() -> None:
    h = hub()
    h.join(A, 2)
    assert h.send(A) == 1
    before, snapshot = copy.deepcopy(h), h.lawful.snapshot()
    with pytest.raises(Refused, match="the first round comes first"):
        h.send(A)
    with pytest.raises(Undefined, match="KeyError: Node\\('b'\\)"):
        h.send(B)
    with pytest.raises(PropertyViolated, match=r"peers\[a\].limit: -2 is below 0"):
        h.over(A)
    assert h.lawful.snapshot() == snapshot
    h.everyone()
    assert before.lawful.snapshot() == snapshot
    assert h != before
    assert Hub.lawful.restore(snapshot, universe={Node: ["a", "b"]}) == before


def test_an_assumption_that_is_false_of_a_new_part_makes_the_step_undefined() -> None:
    h = hub()
    with pytest.raises(Undefined, match="the assumption has_room is false"):
        h.join(A, 3)
    assert h.peers == {}
    reference = explored(Hub, **{"Node": 1, "join.limit": range(3, 4)})
    (undefined,) = (p for p in reference.properties if p.name == "undefined")
    assert "the assumption has_room of Peer is false" in undefined.why


def test_members_are_read_from_outside_and_changed_by_their_whole_alone() -> None:
    h = hub()
    h.join(A, 2)
    assert (h.peers[A].limit, h.peers[A].room(), h.spares[B].limit) == (2, 2, 1)
    with pytest.raises(RuntimeError, match="by the transitions of its whole"):
        h.peers[A].send()
    with pytest.raises(TypeError):
        h.peers[B] = h.peers[A]
    assert repr(h.peers[A]) == (
        "Peer(state=<Link.OPEN: 'open'>, sent=0, acked=set(), idle=stopped, limit=2)"
    )


def pickled(h: Hub) -> Hub:
    made: Hub = pickle.loads(pickle.dumps(h))
    return made


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_copies_share_no_member(copied: Callable[[Hub], Hub]) -> None:
    h = hub()
    h.join(A, 2)
    other = copied(h)
    assert other == h
    h.send(A)
    assert other != h
    assert (other.peers[A].sent, h.peers[A].sent) == (0, 1)


def test_a_timer_of_a_member_fires_its_transition() -> None:
    clock = SimulatedClock()
    h = Hub(universe={Node: ["a", "b"]}, clock=clock)
    h.join(A, 2)
    h.send(A)
    assert h.lawful.next_deadline() == 1.0
    (fired,) = h.lawful.fire_due(1.0)
    assert (fired.event, h.peers[A].state, h.peers[A].idle.armed) == ("expire", Link.SHUT, False)
    assert h.leave(A) == 1
    assert not h.peers
    with pytest.raises(Refused, match="peers has no a"):
        h.expire(A)


def test_observers_hear_which_family_changed() -> None:
    h, seen = hub(), list[dict[str, Any]]()
    h.lawful.observe(lambda done: seen.append(dict(done.changed)))
    h.join(A, 1)
    h.everyone()
    assert [sorted(each) for each in seen] == [["peers"], ["peers", "rounds", "spares"]]
    assert seen[1]["peers"][A].sent == 1


def test_the_ir_survives_json() -> None:
    ir = Hub.lawful.ir
    assert from_json(json.loads(canonical(to_json(ir)))) == ir
    assert "for peer_key in self.peers:" in shown(ir)
    assert "self.spares[node].shut()" in shown(ir)


def test_what_a_hub_did_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "hub.jsonl"
    with Journal(path) as journal:
        h = hub()
        journal.attach(h, instance="h")
        h.join(A, 2)
        h.send(A)
        h.everyone()
        with pytest.raises(Refused):
            h.leave(A)
        h.swap()
    rows = path.read_text(encoding="utf-8")
    found = replay([path], ReplayProgram((Hub.lawful.ir,)))
    assert (found.verdicts["fits"] + found.verdicts["open"], found.exit_code) == (1, 0)
    unsealed = re.sub(r',"sum":"[0-9a-f]{16}"', "", rows)
    path.write_text(unsealed.replace('"sent":2', '"sent":1'), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != unsealed
    assert replay([path], ReplayProgram((Hub.lawful.ir,))).exit_code == 2
