"""Liveness: verdicts and lassos of machines decided by hand, and components by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, Limits, explore
from lawful.checks.explore.compiled import engine as packed
from lawful.checks.explore.liveness import fair_components as components
from lawful.checks.explore.liveness import violations as liveness
from lawful.checks.explore.liveness.fairness import Groups
from lawful.checks.explore.liveness.graph import Graph
from lawful.checks.explore.search import search
from lawful.checks.explore.space import Space
from lawful.checks.explore.verdicts import judge
from lawful.checks.report.exploration import check_text
from lawful.checks.report.lines import counterexample
from lawful.checks.verdict import Trace, Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.declarations import liveness as lively
from tests.classics.fifo import Fifo
from tests.spec import texts

MACHINES = [
    cls
    for cls in vars(lively).values()
    if isinstance(cls, type) and issubclass(cls, Machine) and cls is not Machine
]


FIFO = resolve(Fifo)
NO_GROUPS = Groups(lower(FIFO.machine, FIFO.scopes["scope"]))


def checked(cls: type[Machine]) -> CheckResult:
    found = resolve(cls)
    scope = found.scopes.get("scope", Scope())
    return explore(lower(found.machine, scope), found.world, found.expects)


@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
def test_verdicts_are_those_decided_by_hand(cls: type[Machine]) -> None:
    result = checked(cls)
    wrong = [
        (p.name, p.verdict.value, p.trace and len(p.trace), p.trace and p.trace.loop)
        for p in result.properties
        if not p.as_expected
    ]
    assert not wrong


def said(cls: type[Machine], name: str) -> list[str]:
    return counterexample(next(p for p in checked(cls).properties if p.name == name))


def test_a_lasso_says_where_it_goes_round_and_why_that_is_fair() -> None:
    assert said(lively.Semaphore, "gets_in") == [
        "gets_in is violated: for p = Lock1: what is asked at the start never comes",
        "  start",
        "         waits = {Lock1: True, Lock2: True}",
        "         inside = None",
        "    1  enter(p=Lock2)",
        "         waits[Lock2] = False",
        "         inside = Lock2",
        "    2  leave(p=Lock2)",
        "         waits[Lock2] = True",
        "         inside = None",
        "  then events 1 to 2 repeat forever, which is fair",
        "         weak fairness of enter for p = Lock1: not enabled after event 1",
        "         weak fairness of enter for p = Lock2: event 1 takes it",
        "         weak fairness of leave for p = Lock2: event 2 takes it",
    ]


def test_a_behaviour_may_stop_where_nothing_forbids_it() -> None:
    assert said(lively.HalfFair, "red") == [
        "red is violated: from some point on it is never true again",
        "  start",
        "         state = RED",
        "    1  go()",
        "         state = GREEN",
        "  then nothing more happens, which is fair",
        "         no fair group is enabled there, so nothing forbids to stop",
    ]
    assert said(lively.Unfair, "once")[-1].strip() == (
        "no fairness is declared, so a behaviour may stop anywhere"
    )


def test_a_promise_is_asked_for_on_the_way_or_on_the_loop() -> None:
    assert "it is false again and again" in said(lively.Fair, "settled")[0]
    assert said(lively.Beyond, "zero")[-2:] == [
        "  then events 2 to 3 repeat forever, which is fair",
        "         weak fairness of more: event 2 takes it",
    ]


def test_what_was_not_finished_is_unknown_unless_violated() -> None:
    found = resolve(lively.Semaphore)
    flat = lower(found.machine, found.scopes["scope"])
    few = explore(flat, found.world, found.expects, limits=Limits(states=2))
    assert [p.verdict for p in few.properties if p.name == "gets_in"] == [Verdict.UNKNOWN]
    assert not few.complete


def test_what_a_part_promises_is_asked_of_it_in_the_whole() -> None:
    assert said(lively.Crew, "two.comes_back") == [
        "two.comes_back is violated: what is asked after event 1 never comes",
        "  start",
        "         one = {state: RED}",
        "         two = {state: RED}",
        "    1  go_two()",
        "         two.state = GREEN",
        "    2  go_one()",
        "         one.state = GREEN",
        "    3  stop_one()",
        "         one.state = RED",
        "  then events 2 to 3 repeat forever, which is fair",
        "         weak fairness of go_one: event 2 takes it",
        "         weak fairness of stop_one: event 3 takes it",
    ]
    assert said(lively.Staff, "workers.green")[0] == (
        "workers.green is violated: for workers[Lock1]: from some point on it is never true again"
    )
    why = {p.name: p.why for p in checked(lively.Passers).properties}["workers.green"]
    assert why == "members come and go: it is not known of whom it is asked for ever"


def test_what_parts_have_to_reach_is_named_as_not_asked() -> None:
    text = check_text(checked(Fifo))
    assert "checked only for parts by themselves, not here: " in text
    assert checked(lively.Crew).unjudged == ()


def test_what_takes_too_long_or_is_asked_to_end_is_unknown() -> None:
    found = resolve(lively.Semaphore)
    space = Space(lower(found.machine, found.scopes["scope"]), found.world)
    for explored in (search(space, Limits()), packed.search(space, Limits())):
        for limits in (Limits(seconds=0.001), Limits(stop=lambda: True)):
            rows = {p.name: p for p in judge(explored, {}, limits.over(0.0))}
            assert rows["gets_in"].verdict is Verdict.UNKNOWN
            assert rows["gets_in"].why == "not decided in the time that there was"
            assert rows["deadlock"].verdict is Verdict.HOLDS


def test_the_compiled_engine_finds_the_same() -> None:
    found = resolve(lively.Semaphore)
    flat = lower(found.machine, found.scopes["scope"])
    compiled = explore(flat, found.world, found.expects, engine="compiled")
    assert compiled.engine == "compiled"
    assert compiled.properties == checked(lively.Semaphore).properties


# Small random graphs, against every walk through them.

Edge = tuple[int, int]  # To OUT it leaves the scope.
OUT = 9
KINDS = ("eventually", "eventually_always", "infinitely_often", "leads_to")


@dataclass(frozen=True)
class Drawn:
    """A machine of few states: its steps, which of them each group has, and where p and q are."""

    size: int
    edges: tuple[Edge, ...]
    weak: tuple[frozenset[int], ...]
    strong: tuple[frozenset[int], ...]
    p: frozenset[int]
    q: frozenset[int]

    def text(self) -> str:
        rows = [
            f"    @transition()\n    def e{i}(self) -> None:\n"
            f"        require(self.at == {a}, 'elsewhere')\n        self.at = {b}\n"
            for i, (a, b) in enumerate(self.edges)
        ]
        groups = [
            f"{word}({', '.join(repr(f'e{i}') for i in sorted(group))})"
            for word, all_of in (("Weak", self.weak), ("Strong", self.strong))
            for group in all_of
        ]
        p, q = (f"self.at in {tuple(sorted(s)) or (OUT,)}" for s in (self.p, self.q))
        rows += [
            f"    @{kind}\n    def {kind}_p(self) -> {'tuple[bool, bool]' if two else 'bool'}:\n"
            f"        return {f'{p}, {q}' if two else p}\n"
            for kind in KINDS
            for two in [kind == "leads_to"]
        ]
        return (
            f"class Drawn(Machine):\n    at: Nat = 0\n    deadlock_ok = True\n{''.join(rows)}"
            f"    fairness = Fairness({', '.join(groups)})\n"
            f"    scope = Scope(Nat=range({self.size}))\n"
        )

    def enabled(self, group: frozenset[int], at: int) -> bool:
        return any(self.edges[i][0] == at != self.edges[i][1] for i in group)

    def fair(self, loop: Sequence[int], taken: Sequence[int]) -> bool:
        """Whether going round these states by these steps for ever is fair."""
        weak = all(
            any(not self.enabled(g, at) for at in loop) or g.intersection(taken) for g in self.weak
        )
        return weak and all(
            not any(self.enabled(g, at) for at in loop) or g.intersection(taken)
            for g in self.strong
        )

    def violated(self, kind: str, stem: Sequence[int], loop: Sequence[int]) -> bool:
        """Whether the behaviour that goes along the stem and round the loop violates it."""
        match kind:
            case "eventually":
                return not self.p.intersection([*stem, *loop])
            case "infinitely_often":
                return not self.p.intersection(loop)
            case "eventually_always":
                return not self.p.issuperset(loop)
            case _:
                run = [*stem, *loop]
                late = max((i for i, at in enumerate(run) if at in self.q), default=-1)
                asked = self.p.intersection(run[late + 1 :])
                return not self.q.intersection(loop) and bool(asked)

    def shortest(self, kind: str, most: int) -> int | None:
        """The events of the shortest violation of at most so many, by trying all walks."""
        walks: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((0,), ())]
        for length in range(most + 1):
            for states, taken in walks:
                for i in (i for i, at in enumerate(states) if at == states[-1]):
                    loop = states[i:-1] or states[-1:]
                    if self.fair(loop, taken[i:]) and self.violated(kind, states[:i], loop):
                        return length
            walks = [
                ((*states, b), (*taken, e))
                for states, taken in walks
                for e, (a, b) in enumerate(self.edges)
                if a == states[-1] and b not in (a, OUT)
            ]
        return None


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    size = draw(st.integers(2, 4))
    ends = st.tuples(st.integers(0, size - 1), st.sampled_from([*range(size), OUT]))
    edges = tuple(draw(st.lists(ends, min_size=1, max_size=6)))
    some = st.frozensets(st.integers(0, len(edges) - 1), min_size=1, max_size=2)
    groups = st.lists(some, max_size=2).map(tuple)
    places = st.frozensets(st.integers(0, size - 1))
    return Drawn(size, edges, draw(groups), draw(groups), draw(places), draw(places))


@settings(max_examples=25, deadline=None)
@given(drawn())
def test_lassos_are_the_shortest_and_none_is_missed(graph: Drawn) -> None:
    result = checked(texts.last_machine(texts.module(graph.text())))
    for kind in KINDS:
        found = next(p for p in result.properties if p.name == f"{kind}_p")
        if found.verdict is Verdict.VIOLATED:
            assert found.trace is not None
            assert graph.shortest(kind, len(found.trace)) == len(found.trace)
            assert is_violated(graph, kind, found.trace)
        else:
            assert graph.shortest(kind, 6) is None


def is_violated(graph: Drawn, kind: str, trace: Trace) -> bool:
    """Whether the trace is a walk of the graph, fair, and violates the property."""
    at = trace.initial["at"]
    assert isinstance(at, int) and trace.loop is not None
    states, taken = [at], [int(step.event[1:]) for step in trace.steps]
    for e in taken:
        assert graph.edges[e][0] == states[-1]
        states.append(graph.edges[e][1])
    assert states[trace.loop] == states[-1]
    loop = states[trace.loop : -1] or states[-1:]
    fair = graph.fair(loop, taken[trace.loop :])
    return fair and graph.violated(kind, states[: trace.loop], loop)


def test_states_on_no_loop_are_found_once_for_all_questions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten states in a row, the last three of them in a loop."""
    graph, looked, strong = Graph(NO_GROUPS), list[int](), components.strong_components

    def noted(graph: Graph, inside: set[int]) -> Iterator[set[int]]:
        looked.append(len(inside))
        return strong(graph, inside)

    monkeypatch.setattr(components, "strong_components", noted)
    for target in (*range(1, 10), 7):
        graph.leads(0, target)
        graph.close()
    everywhere, ends = (
        [sorted(components.fair_components(graph, of)) for _ in range(3)]
        for of in (range(10), range(5, 9))
    )
    assert everywhere == [[*([n] for n in range(7)), [7, 8, 9]]] * 3
    assert ends == [[[5], [6], [7], [8]]] * 3
    assert looked == [10, 10, 3, 3, 2, 2, 2]  # The second question looks at all, the others do not.


@settings(max_examples=20, deadline=None)
@given(drawn())
def test_without_a_budget_lassos_are_true_all_the_same(graph: Drawn) -> None:
    cls = texts.last_machine(texts.module(graph.text()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(liveness, "BUDGET", 0)
        result = checked(cls)
    for kind in KINDS:
        found = next(p for p in result.properties if p.name == f"{kind}_p")
        if found.trace is not None:
            assert is_violated(graph, kind, found.trace)
        else:
            assert graph.shortest(kind, 4) is None


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_the_way_on_is_the_shortest_one(data: st.DataObject) -> None:
    """Against the definition: distances that no step makes less."""
    count = data.draw(st.integers(3, 7))
    numbers = st.integers(0, count - 1)
    steps = data.draw(st.sets(st.tuples(numbers, numbers), min_size=6, max_size=16))
    met = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    starts = data.draw(st.dictionaries(numbers, st.integers(0, 4), max_size=3))
    graph = Graph(NO_GROUPS)
    for number in range(count):
        for _, target in sorted(s for s in steps if s[0] == number):
            graph.leads(0, target)
        graph.close()
    least = dict(starts)
    for _ in range(count):
        for before, after in steps:
            if before in least and not met[after]:
                least[after] = min(least.get(after, 99), least[before] + 1)
    distance, via = liveness.onward(graph, starts, met)
    assert distance == least
    assert via == {
        n: min(b for b, a in steps if a == n and least.get(b, 99) + 1 == least[n])
        for n in least
        if starts.get(n) != least[n]
    }
