"""Symmetry: orbits and the states in them are counted exactly, and verdicts are the same."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from random import Random
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, Engine, Limits, NoEngine, explore
from lawful.checks.explore.compiled.orbit_search import search
from lawful.checks.explore.expansion import orbits, sorted_orbits
from lawful.checks.explore.expansion.orbits import OrbitSteps
from lawful.checks.explore.retrace import again
from lawful.checks.explore.space import Space
from lawful.checks.explore.symmetry import Symmetry
from lawful.checks.explore.traces import trace_json
from lawful.checks.reference import Done
from lawful.checks.reference.states import PartState
from lawful.checks.verdict import Verdict
from lawful.cli import main
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.values.world import FrozenMap
from tests.checks.declarations import liveness
from tests.classics.broken import AlternatingBitWithoutBit
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase
from tests.spec import texts


def explored(
    cls: type[Machine],
    symmetry: bool,
    limits: Limits | None = None,
    engine: Engine = "reference",
) -> CheckResult:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    result = explore(
        flat, found.world, found.expects, limits=limits, symmetry=symmetry, engine=engine
    )
    assert result.engine == engine
    return result


def alike(cls: type[Machine], engine: Engine) -> CheckResult:
    """The orbits that an engine finds: counts and verdicts are the reference engine's, and the
    counterexamples are runs of the machine."""
    mine, theirs = explored(cls, True, engine=engine), explored(cls, True)
    for name in ("distinct", "orbits", "generated", "depth", "cut_by", "complete"):
        assert getattr(mine, name) == getattr(theirs, name)
    enabled = [{n: row["enabled"] for n, row in r.transitions.items()} for r in (mine, theirs)]
    assert enabled[0] == enabled[1]
    new = [sum(row["new"] for row in r.transitions.values()) for r in (mine, theirs)]
    assert new[0] == new[1]
    found = resolve(cls)
    space = Space(lower(found.machine, found.scopes.get("scope", Scope())), found.world)
    for p, q in zip(mine.properties, theirs.properties, strict=True):
        assert (p.name, p.verdict) == (q.name, q.verdict)
        assert (p.trace and len(p.trace)) == (q.trace and len(q.trace))
        if p.trace is not None and p.verdict is Verdict.VIOLATED:
            rows: Any = trace_json(p.trace)
            assert again(space, p.name, rows) is not None
    return mine


@pytest.mark.parametrize(("managers", "orbits", "distinct"), [(3, 80, 288), (4, 166, 1568)])
def test_two_phase_commit_has_the_published_orbits(
    managers: int, orbits: int, distinct: int
) -> None:
    found = resolve(TwoPhase)
    flat = lower(found.machine, Scope(RM=managers))
    result = explore(flat, found.world, found.expects, symmetry=True)
    assert (result.orbits, result.distinct, result.verdict) == (orbits, distinct, Verdict.HOLDS)


@pytest.mark.nightly
@pytest.mark.parametrize(("managers", "orbits", "distinct"), [(5, 314, 8832), (7, 920, 296_448)])
def test_more_managers_too(managers: int, orbits: int, distinct: int) -> None:
    test_two_phase_commit_has_the_published_orbits(managers, orbits, distinct)


def same(whole: CheckResult, one_each: CheckResult) -> None:
    """The same is found of all states and of one of each orbit, where that is asked of them."""
    assert one_each.distinct == whole.distinct
    assert one_each.depth == whole.depth
    assert one_each.orbits is not None and one_each.orbits <= whole.distinct
    for p, q in zip(whole.properties, one_each.properties, strict=True):
        if q.why.startswith("not decided with symmetry"):
            continue
        assert (p.name, p.verdict) == (q.name, q.verdict)
        assert (p.trace and len(p.trace)) == (q.trace and len(q.trace)) or p.kind == "reachable"


SMALL = [c.machine for c in CLASSICS if c.counts[0] <= 700]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cls", [*SMALL, AlternatingBitWithoutBit], ids=lambda cls: cls.__name__)
def test_classics_are_the_same_with_and_without(cls: type[Machine]) -> None:
    same(explored(cls, symmetry=False), explored(cls, symmetry=True))


FOLDED = [c.machine for c in CLASSICS if c.counts[0] <= 300]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("cls", [*FOLDED, AlternatingBitWithoutBit], ids=lambda cls: cls.__name__)
def test_generated_steps_find_the_same_orbits(cls: type[Machine]) -> None:
    alike(cls, "generated")


def test_machine_code_finds_the_same_orbits() -> None:
    assert alike(AlternatingBitWithoutBit, "compiled").orbits == 820


VARIABLES = {
    "s": "set[Node] = set()",
    "r": "set[tuple[Node, Node]] = set()",
    "f": "dict[Node, Node] = {}",
    "o": "Node | None = None",
    "w": "list[Node] = []",
}
STEPS = {
    "s": ("self.s.add(a)", "self.s.discard(a)", "require(a in self.s)\n{}self.s = {{b}}"),
    "r": ("self.r.add((a, b))", "self.r.discard((b, a))", "self.r = {{(y, x) for x, y in self.r}}"),
    "f": ("self.f[a] = b", "self.f.pop(a, b)", "require(a in self.f)\n{}self.f[self.f[a]] = b"),
    "o": ("self.o = a", "self.o = None", "require(self.o == a)\n{}self.o = b"),
    "w": ("self.w.append(a)", "require(self.w == [a, b])\n{}self.w.pop(0)", "self.w.clear()"),
}
ASKED = {
    "s": "a not in self.s or len(self.s) < 3",
    "r": "(a, a) not in self.r or (a, b) not in self.r",
    "f": "a not in self.f or self.f[a] != b",
    "o": "self.o != a",
    "w": "self.w.count(a) < 2",
}


def drawn(rng: Random) -> str:
    """A machine whose state relates the elements of a sort in a few ways."""
    names = rng.sample(sorted(VARIABLES), 2)
    gap = "        "
    rows = [f"    {name}: {VARIABLES[name]}\n" for name in names]
    for i, name in enumerate(rng.choices(names, k=4)):
        body = "; ".join([rng.choice(STEPS[name])])
        guard = rng.choice(("", f"require({ASKED[rng.choice(names)]})\n{gap}"))
        rows.append(
            f"    @transition()\n    def t{i}(self, a: Node, b: Node) -> None:\n"
            f"{gap}{guard}{body.format(gap)}\n"
        )
    for name in names:
        rows.append(
            f"    @invariant\n    def asks_{name}(self, a: Node, b: Node) -> bool:\n"
            f"{gap}return {ASKED[name]}\n"
            f"    @reachable\n    def sees_{name}(self, a: Node) -> bool:\n"
            f"{gap}return any(not ({ASKED[name]}) for b in Node)\n"
        )
    scope = "    scope = Scope(Node=3, w=2)\n" if "w" in names else "    scope = Scope(Node=3)\n"
    head = "class Node(Sort): ...\n\nclass Drawn(Machine):\n    deadlock_ok = True\n"
    return "".join([head, *rows, scope])


@pytest.mark.nightly
def test_random_machines_are_the_same_with_and_without() -> None:
    compared = folded = 0
    for seed in range(40):
        cls = texts.last_machine(texts.module(drawn(Random(seed))))
        whole = explored(cls, symmetry=False, limits=Limits(states=120))
        if whole.complete:
            one_each = alike(cls, "generated")
            same(whole, one_each)
            compared += 1
            folded += one_each.orbits != whole.distinct
    assert (compared, folded) == (26, 17)


def test_renaming_does_not_change_the_canonical_state() -> None:
    found = resolve(TwoPhase)
    space = Space(lower(found.machine, Scope(RM=4)), found.world)
    symmetry, rng = Symmetry(space), Random(1)
    (elements,) = symmetry.groups.values()
    states = [o.state for _, _, o in space.initial() if isinstance(o, Done)]
    for _ in range(60):
        steps = [e.outcome for e in space.edges(states[-1]) if isinstance(e.outcome, Done)]
        if not steps:
            break
        states.append(rng.choice(steps).state)
        other = dict(zip(elements, rng.sample(elements, len(elements)), strict=True))
        renamed = symmetry.renamed(states[-1], other)
        assert symmetry.canonical(renamed) == symmetry.canonical(states[-1])


LINKED = """
class Node(Sort): ...

class Linked(Machine):
    next: dict[Node, Node] = {}

    @transition()
    def link(self, a: Node, b: Node) -> None:
        require(a not in self.next)
        require(all(self.next[c] != b for c in self.next))
        self.next[a] = b

    deadlock_ok = True
    scope = Scope(Node=NODES)
"""


@pytest.mark.parametrize(
    ("nodes", "orbits", "distinct"), [(3, 10, 34), (4, 20, 209), (5, 36, 1546)]
)
def test_chains_and_rings_are_told_apart(nodes: int, orbits: int, distinct: int) -> None:
    """Partial injections, and their cycle types (OEIS A002720 and A000712)."""
    text = LINKED.replace("NODES", str(nodes))
    result = explored(texts.last_machine(texts.module(text)), symmetry=True)
    assert (result.orbits, result.distinct) == (orbits, distinct)


def test_a_long_ring_costs_little() -> None:
    """Ten nodes have 3,628,800 orders; ten are tried."""
    found = resolve(texts.last_machine(texts.module(LINKED.replace("NODES", "10"))))
    space = Space(lower(found.machine, found.scopes["scope"]), found.world)
    symmetry = Symmetry(space)
    (nodes,) = symmetry.groups.values()
    ring = FrozenMap(dict(zip(nodes, [*nodes[1:], nodes[0]], strict=True)))
    (initial,) = [o.state for _, _, o in space.initial() if isinstance(o, Done)]
    assert symmetry.canonical(PartState([ring, *initial[1:]]))[1] == factorial(9)


TOLD = """
class Node(Sort): ...

N1, N2, N3 = Node("Node1"), Node("Node2"), Node("Node3")

class Led(Machine):
    leader: Param[Node | None] = None
    seen: set[Node] = set()

    @transition()
    def see(self, n: Node) -> None:
        require(n not in self.seen, "seen")
        self.seen.add(n)

    @reachable
    def sees(self, n: Node) -> bool:
        return n in self.seen

    @recoverable
    def all_seen(self) -> bool:
        return len(self.seen) == 3

    @recoverable
    def this_seen(self, n: Node) -> bool:
        return n in self.seen

    deadlock_ok = True
    scope = Scope(Node=3, leader=(LEADERS))
"""


@pytest.mark.parametrize(("leaders", "orbits"), [("N2,", 8), ("N1, N2, N3,", 24), ("None,", 4)])
def test_a_parameter_may_tell_elements_apart(leaders: str, orbits: int) -> None:
    text = TOLD.replace("LEADERS", leaders)
    result = explored(texts.last_machine(texts.module(text)), symmetry=True)
    assert result.distinct == 8 * (leaders.count(",") if "N1" in leaders else 1)
    assert result.orbits is not None and result.orbits <= orbits
    verdicts = {p.name: p.verdict for p in result.properties}
    assert verdicts["sees"] is Verdict.HOLDS and verdicts["all_seen"] is Verdict.HOLDS
    told_apart = result.orbits == result.distinct
    assert verdicts["this_seen"] is (Verdict.HOLDS if told_apart else Verdict.UNKNOWN)


def test_what_happens_for_ever_is_not_decided() -> None:
    result = explored(liveness.Semaphore, symmetry=True)
    (found,) = [p for p in result.properties if p.name == "gets_in"]
    assert found.verdict is Verdict.UNKNOWN and found.trace is None
    assert found.why == "not decided with symmetry, which forgets which element is which"


def test_the_command_reports_orbits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["check", "tests.classics.two_phase", "--symmetry"]) == 0
    assert "288 distinct states in 80 orbits" in capsys.readouterr().out
    found = resolve(TwoPhase)
    flat = lower(found.machine, Scope(RM=7))
    monkeypatch.setattr(sorted_orbits, "MOST_COUNTED", 5040)
    with pytest.raises(NoEngine, match="does not know 5,040 renamings of a state"):
        explore(flat, found.world, {}, symmetry=True, engine="generated")
    limits = Limits(states=10)
    slow = explore(flat, found.world, {}, symmetry=True, limits=limits)
    assert (slow.engine, slow.not_generated) == ("reference", "5,040 renamings of a state")


CHASED = (
    LINKED.replace("NODES", "3")
    + """
    @invariant
    def never_a_ring(self) -> bool:
        return len(self.next) < 3 or any(self.next[a] == a for a in self.next)
"""
)


def code_as_it_is(_steps: OrbitSteps, _layout: object, number: str) -> str:
    return number


def nobody(steps: OrbitSteps, _number: int) -> dict[Any, Any]:
    return {e: e for e in steps.members}


def one_fewer(sizes: Sequence[int]) -> Any:
    found, ways = renamings(sizes)
    return found[:-1], ways[:-1]


renamings = orbits.renamings


@pytest.mark.parametrize(
    ("where", "name", "broken"),
    [
        (OrbitSteps, "_code", code_as_it_is),
        (OrbitSteps, "renaming", nobody),
        (orbits, "renamings", one_fewer),
    ],
    ids=["canonical", "trace", "orbit"],
)
def test_a_renaming_that_is_left_out_is_noticed(
    where: object, name: str, broken: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    cls = texts.last_machine(texts.module(CHASED))
    assert alike(cls, "generated").orbits == 10
    monkeypatch.setattr(where, name, broken)
    with pytest.raises(AssertionError):
        alike(cls, "generated")


def test_a_search_that_a_limit_ends_counts_the_states_of_all_its_orbits() -> None:
    found = resolve(texts.last_machine(texts.module(LINKED.replace("NODES", "3"))))
    space = Space(lower(found.machine, found.scopes["scope"]), found.world)
    symmetry = Symmetry(space)
    short = search((space, symmetry), Limits(states=6), None, "generated")
    sizes = [symmetry.canonical(state)[1] for state in short.states]
    assert (short.complete, short.distinct, sum(sizes), len(sizes)) == (False, 28, 28, 7)
