"""Random machines whose sorts grow: exploration, runtime and replay agree on what growth does.

The modules are those of the generator, with `growing=True` behind both of their sorts. Explored,
growth is a step of a machine in which total maps are partial ones (`spec.lower.growth`); at run
time it is a call that changes the universe; a replay asks the reference engine. The three know
nothing of one another.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lawful.checks.conform.instances import InstanceDriver
from lawful.checks.conform.runtime_check import compare
from lawful.checks.explore.check import NoEngine, explore
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from lawful.checks.reference import Done
from lawful.checks.replay.fold import fold
from lawful.checks.replay.program import ReplayProgram
from lawful.checks.replay.rows import Row, journal_row
from lawful.runtime.journal import Journal, read
from lawful.spec import types as t
from lawful.spec.analysis.growth import grown_by
from lawful.spec.errors import DeclarationError
from lawful.spec.resolve import resolve
from tests.agree import planning
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.test_resuming import many
from tests.spec import texts

STATES = 25  # In which the runtime is compared.
STEPS = 12  # Of a walk that a journal tells.
FIXED = ("class Node(Sort): ...", "class Step(OrderedSort): ...")
GROWING = ("class Node(Sort, growing=True): ...", "class Step(OrderedSort, growing=True): ...")


def machine(seed: int) -> type[Any] | str:
    """The machine of a seed with growing sorts, or why there is none."""
    text = seeded(seed)
    for fixed, growing in zip(FIXED, GROWING, strict=True):
        assert fixed in text
        text = text.replace(fixed, growing)
    try:
        cls = texts.machine(text, HEAD)
        resolve(cls)
    except DeclarationError as error:
        return min(problem.number for problem in error.problems)
    except ValueError:
        return "no instance can be made"
    finally:
        forget()
    return cls


def within(cls: type[Any]) -> Space | str:
    """The machine within a small scope, with the steps that have few arguments."""
    found = resolve(cls)
    if not any(isinstance(k, t.Sort) for k in found.machine.types):
        return "no sort"
    space = planning.space(found)
    if space is None or any(map(many, space.flat.initials)):
        return "not explored"
    few = tuple(rule for rule in space.flat.rules if not many(rule))
    return Space(dataclasses.replace(space.flat, rules=few), space.world)


def walk(cls: type[Any], space: Space, rng: Random, path: Path) -> tuple[int, str]:
    """A random run, on an instance with a journal; how often it grew, and the verdict of replay."""
    sorts = [kind for kind in space.machine.types if isinstance(kind, t.Sort)]
    universe = {space.world.sorts[kind.name]: space.values.of(kind) for kind in sorts}
    running = InstanceDriver(cls, resolve(cls), space.machine, universe)
    made = next(iter(space.parameters()), None)
    starts = [] if made is None else [s for s in space.starts(made) if isinstance(s[2], Done)][:40]
    if made is None or not starts:
        return 0, "no start"
    name, args, outcome = rng.choice(starts)
    function = next((f for f in space.machine.initials if f.name == name), None)
    entry, seen = running.begin(made, function, args)
    assert seen[0] == "done" and isinstance(outcome, Done)
    state, grown = outcome.state, 0
    with Journal(path) as journal:
        journal.attach(entry, "a")
        for _ in range(STEPS):
            edges = [e for e in space.edges(state) if isinstance(e.outcome, Done)]
            if not edges:
                break
            growth = [e for e in edges if grown_by(space.machine, space.rules[e.rule][1].name)]
            edge = rng.choice(growth if growth and rng.random() < 0.4 else edges)
            row = space.rules[edge.rule][1]
            if running.take(entry, row.name, edge.args)[0] != "done":
                break  # An `ignore`, or a timer that is not due here.
            grown += edge in growth
            assert isinstance(edge.outcome, Done)
            state = edge.outcome.state
    rows = [journal_row(row, "") for row in read(path)]
    path.unlink()
    told = [row for row in rows if isinstance(row, Row)]
    assert len(told) == len(rows)
    verdict = fold(ReplayProgram((resolve(cls).machine,)), "a", told)
    assert verdict.verdict in ("fits", "open", "inconclusive"), verdict.finding
    return grown, verdict.verdict


def differences(seeds: range, folder: Path) -> Counter[str]:
    """What was compared. Fails where engines disagree."""
    hits: Counter[str] = Counter()
    for seed in seeds:
        cls = machine(seed)
        space = cls if isinstance(cls, str) else within(cls)
        if isinstance(cls, str) or isinstance(space, str):
            hits[str(space)] += 1
            continue
        hits["machines"] += 1
        found = resolve(cls)
        if len(space.rules) == len(space.machine.transitions):
            runtime = compare(space, cls, Limits(states=STATES))
            assert runtime.disagreements == [], (seed, runtime.disagreements[0])
            hits["calls"] += sum(runtime.outcomes.values())
        limits = Limits(states=60, workers=1)
        try:
            slow = explore(space.flat, found.world, {}, limits=limits, engine="reference")
            fast = explore(space.flat, found.world, {}, limits=limits, engine="generated")
        except (NotGenerated, NoEngine, ValueError) as error:
            hits[type(error).__name__] += 1
        else:
            both = [(p.name, p.verdict) for p in slow.properties]
            assert both == [(p.name, p.verdict) for p in fast.properties], seed
            counts = (slow.distinct, slow.generated, slow.depth)
            assert counts == (fast.distinct, fast.generated, fast.depth), seed
            hits["searches"] += 1
        grown, verdict = walk(cls, space, Random(seed), folder / "journal.jsonl")
        hits["growths told"] += grown
        hits[f"replay {verdict}"] += 1
    return hits


def test_growing_machines_agree(tmp_path: Path) -> None:
    hits = differences(range(14), tmp_path)
    assert hits["machines"] >= 4 and hits["searches"] >= 3
    assert hits["calls"] >= 200 and hits["growths told"] >= 1


@pytest.mark.nightly
def test_many_growing_machines_agree(tmp_path: Path) -> None:
    hits = differences(range(300), tmp_path)
    print(dict(hits))
    assert hits["growths told"] >= 30
