"""What finding canonical states costs, as numbers of calls: what an optimisation saves shows in no
count of states, and no clock tells it from load."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore.compiled import plain
from lawful.checks.explore.compiled.orbit_search import search
from lawful.checks.explore.expansion import orbits
from lawful.checks.explore.expansion.orbits import OrbitSteps
from lawful.checks.explore.expansion.sorted_orbits import SortedSteps
from lawful.checks.explore.layout.layouts import Layout, elements
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from lawful.checks.explore.symmetry import Symmetry
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.explore.test_symmetry import LINKED
from tests.classics.two_phase import TwoPhase
from tests.spec import texts

STEPS = "<steps>"


@dataclass(frozen=True)
class Case:
    """A search of the orbits of a machine: the numbers of orbits and states that it finds, and what
    it costs; all renamings are tried of a state where there are no more than `most`."""

    made: Callable[[], type[Machine]]
    scope: Scope
    found: tuple[int, int]
    costs: Mapping[str, int]
    most: int = 1


def linked() -> type[Machine]:
    return texts.last_machine(texts.module(LINKED.replace("NODES", "4")))


# Four elements have 3 pairs of neighbours. Values are decoded only with these exchanged:
# for the table of renamings, and another time for that of signatures.
CASES = {
    # 102 states are made canonical; for 86 of them there is a second round of signatures.
    "chains and rings": Case(
        linked, Scope(Node=4), (20, 209), {"canonical": 102, "signed": 188, "renamed": 574}
    ),
    # Of managers in the same state it is seen once that exchanging them changes nothing.
    "managers in few states": Case(
        lambda: TwoPhase, Scope(RM=3), (80, 288), {"canonical": 478, "signed": 786, "renamed": 554}
    ),
    "tables of exchanges": Case(linked, Scope(Node=4), (20, 209), {"swapped": 6}),
    "tables of renamings": Case(
        linked, Scope(Node=4), (20, 209), {"canonical": 82, "renamed": 1_886, "swapped": 3}, most=24
    ),
}
Broken = tuple[str, Mapping[str, str]]
TEXTS: dict[str, Broken] = {
    "no element has a signature": ("chains and rings", {"    signed(w)\n": "    w[0] += 0\n"}),
    "signatures have one round": ("chains and rings", {"more = 1 if now > told": "more = 0 if 1"}),
    "rounds go on when all are told apart": (
        "chains and rings",
        {"if now > told and now < 4 else": "if now > told else"},
    ),
    "those that are alike are tried in all orders": (
        "managers in few states",
        {"    alike = 1\n": "    alike = 0\n"},
    ),
}


def renamed_one_by_one(steps: OrbitSteps, layout: Layout) -> list[int]:
    """Each renaming of each value is made by itself."""
    numbers = range(len(steps.renamings))
    rows = [steps.swapped(layout, steps.renaming(number)) for number in numbers]
    return [*itertools.chain.from_iterable(rows)]


def exchanged_one_by_one(steps: SortedSteps, layout: Layout) -> list[int]:
    """Those that are no neighbours are exchanged by themselves, too."""
    members = steps.members
    swaps = [{members[a]: members[b], members[b]: members[a]} for a, b in steps.pairs]
    rows = [range(elements(layout)), *(steps.swapped(layout, swap) for swap in swaps)]
    return [*itertools.chain.from_iterable(rows)]


TABLES: dict[str, tuple[str, type[OrbitSteps], Callable[..., list[int]]]] = {
    "each renaming by itself": ("tables of renamings", OrbitSteps, renamed_one_by_one),
    "each exchange by itself": ("tables of exchanges", SortedSteps, exchanged_one_by_one),
}


def searched(
    case: Case, monkeypatch: pytest.MonkeyPatch, changed: Mapping[str, str]
) -> tuple[dict[str, Any], Counter[str]]:
    """What a search with plain steps keeps, of whose text some parts are others; its calls by
    name."""
    calls = Counter[str]()

    def bytecode(source: str) -> CodeType:
        for part, instead in changed.items():
            assert source.count(part) == 1
            source = source.replace(part, instead)
        return compile(source, STEPS, "exec")

    def called(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and (code.co_filename == STEPS or code.co_name == "swapped"):
            calls[code.co_name] += 1

    monkeypatch.setattr(plain, "bytecode", bytecode)
    monkeypatch.setattr(orbits, "MOST_RENAMINGS", case.most)
    found = resolve(case.made())
    space = Space(lower(found.machine, case.scope), found.world)
    before = sys.getprofile()
    sys.setprofile(called)
    try:
        made = search((space, Symmetry(space)), Limits(), tier="generated")
    finally:
        sys.setprofile(before)
    assert (made.count, made.distinct, made.handed_back) == (*case.found, 0)
    return dict(made.store.kept(made.count)), calls


@pytest.mark.parametrize("name", CASES)
def test_orbits_cost_so_many_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    _, calls = searched(case, monkeypatch, {})
    assert {key: calls[key] for key in case.costs} == case.costs


@pytest.mark.one_in(2)
@pytest.mark.parametrize("broken", TEXTS)
def test_what_signatures_save_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the search finds as many states, and costs something else."""
    name, changed = TEXTS[broken]
    case = CASES[name]
    _, calls = searched(case, monkeypatch, changed)
    assert {key: calls[key] for key in case.costs} != case.costs


@pytest.mark.parametrize("broken", TABLES)
def test_what_tables_save_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the search finds the same, and costs something else."""
    name, steps, table = TABLES[broken]
    case = CASES[name]
    whole, _ = searched(case, monkeypatch, {})
    monkeypatch.setattr(steps, "_table", table)
    found, calls = searched(case, monkeypatch, {})
    assert found == whole
    assert {key: calls[key] for key in case.costs} != case.costs
