"""The generated steps of the compiled engine beside the reference engine, on random states."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from random import Random

from lawful.checks.explore.expansion import successors
from lawful.checks.explore.expansion.successors import Stepping
from lawful.checks.explore.layout.forms import FORM, Form
from lawful.checks.explore.layout.layouts import (
    MOST_BITS,
    BagLayout,
    Index,
    Layout,
    ListLayout,
    MachineLayout,
    MapLayout,
    NotGenerated,
    Number,
    Product,
    SetLayout,
    SparseMap,
    SparseSet,
    Sum,
    blank,
    elements,
    inner,
    width,
)
from lawful.checks.explore.layout.numbering import code as code_of
from lawful.checks.explore.space import Space
from lawful.checks.reference import Done
from lawful.checks.reference.states import PartState, State
from lawful.checks.reference.time import at_tick
from lawful.spec import types as t
from lawful.spec.flat import Rule
from lawful.spec.values.time import clock_of
from tests.agree.counting import miscounted
from tests.agree.hits import Hits
from tests.agree.planning import combinations
from tests.agree.renaming import misfolded
from tests.checks.explore.compiled.both_engines import Both

MOST = 60  # Argument tuples of a rule: all are taken in every state.
ALONE = 256  # The same where every rule has more.
STATES = 2  # At most the first of them is reached.
SPARSE = Form(dense=0, room=3)  # As if every set and map had too many possible elements.


def stepping(space: Space, form: Form = FORM) -> Stepping:
    """The steps of the rules whose arguments are few enough, if need be with two values of each
    integer in them; NotGenerated names what cannot be generated."""
    rules = [r if _count(r) <= MOST else _with_less(r) for r in space.flat.rules]
    least = min(map(_count, rules))
    few = tuple(r for r in rules if _count(r) <= max(MOST, min(ALONE, least)))
    if not few:
        raise NotGenerated(f"more than {ALONE} arguments of every transition")
    less = Space(dataclasses.replace(space.flat, rules=few), space.world)
    return successors.stepping(less, form=form)


def _count(rule: Rule) -> int:
    return combinations(plan.type for plan in rule.plans)


def _with_less(rule: Rule) -> Rule:
    plans = tuple(dataclasses.replace(p, type=less(p.type)) for p in rule.plans)
    return dataclasses.replace(rule, plans=plans)


def less(kind: t.Type) -> t.Type:
    """The type with the two greatest of its integers."""
    match kind:
        case t.Int(low=int() as low, high=int() as high):
            return dataclasses.replace(kind, low=max(low, high - 1))
        case t.Record(fields=fields):
            return dataclasses.replace(kind, fields=tuple((n, less(of)) for n, of in fields))
        case t.Tuple(items=items):
            return dataclasses.replace(kind, items=tuple(map(less, items)))
        case t.Union(options=options):
            return dataclasses.replace(kind, options=tuple(map(less, options)))
        case _:
            return kind


def differences(space: Space, hits: Hits, count: int = STATES) -> list[str]:
    """What the generated steps say differently, as plain Python; of every other machine also with
    sparse sets and maps."""
    found = _differences(space, hits, FORM, count)
    if found or hits.rows["total packed machines"] % 2 == 0:
        return found
    return _differences(space, hits, SPARSE, count)


def _differences(space: Space, hits: Hits, form: Form, count: int) -> list[str]:
    kind = "" if form is FORM else "sparse "
    try:
        steps = stepping(space, form)
    except NotGenerated as reason:
        hits.add(f"not {kind}packed", str(reason))
        return []
    hits.add("total", f"{kind}packed machines")
    both = Both(steps.space, steps)
    chosen = [*states(steps, count)]
    for state in chosen:
        try:
            found = both.differences(state)
        except NotGenerated as reason:
            hits.add(f"not {kind}packed", f"a state with {reason}")
            continue
        hits.add("total", f"{kind}packed states")
        if found:
            return [f"{kind}packed: {found[0]}"]
    hits.add("total", f"{kind}packed states left to the reference", both.escaped)
    hits.add("total", "comparisons", both.comparisons)
    hits.add("total", f"comparisons of {kind}packed steps", both.comparisons)
    if form is not FORM:
        return []
    return miscounted(steps.space, chosen, hits) + misfolded(steps.space, chosen, hits)


def states(steps: Stepping, count: int) -> Iterator[State]:
    """An initial state, if one is within the scope, and any others: so many."""
    rng = Random(steps.program.source)
    left = count
    starts = steps.space.flat.initials
    few = all(combinations(p.type for p in rule.plans) <= MOST for rule in starts)
    try:
        for _, _, outcome in steps.space.initial() if few else ():
            made, away = steps.space.placed(outcome)
            if isinstance(made, Done) and away is None:
                left -= 1
                yield PartState(made.state)
                break
    except ValueError:
        pass  # An assumption without a value: there is no initial state.
    for _ in range(left):
        cells = random(steps.whole, rng)
        yield in_time(steps, PartState(steps.codec.decode(steps.whole, cells)))


def in_time(steps: Stepping, state: State) -> State:
    """The state where the clocks of its parts tell the time of the whole, as they always do."""
    machine = steps.machine
    clock = clock_of(machine)
    if clock is None:
        return state
    now = state[[v.name for v in machine.variables].index(clock.name)]
    machines = {m.name: m for m in (machine, *machine.parts)}
    return at_tick(machines, machine.name, state, now)


def random(layout: Layout, rng: Random) -> list[int]:
    """The cells of any value within the scope."""
    match layout:
        case Number(low=int() as low, high=int() as high):
            return [rng.randint(low, high)]
        case Index(count=count):
            return [rng.randrange(count)]
        case Product() | MachineLayout():
            return [cell for item in inner(layout) for cell in random(item, rng)]
        case Sum(options=options):
            which = rng.randrange(len(options))
            rows = (random(o, rng) if i == which else blank(o) for i, o in enumerate(options))
            return [which, *(cell for row in rows for cell in row)]
        case MapLayout(key=key, value=of):
            rows = (_entry(layout.total, of, rng) for _ in range(elements(key)))
            made = [cell for row in rows for cell in row]
            return made + [0] * (width(layout) - len(made))
        case _:
            return _held(layout, rng)


def _entry(total: bool, of: Layout, rng: Random) -> tuple[int, ...]:
    if total:
        return tuple(random(of, rng))
    return (1, *random(of, rng)) if rng.random() < 0.4 else (0, *blank(of))


def _held(layout: Layout, rng: Random) -> list[int]:
    made: list[int] = []
    match layout:
        case SetLayout(item=item):
            made = list(blank(layout))
            for _ in range(rng.randint(0, 3)):
                code = rng.randrange(elements(item))
                made[code // MOST_BITS] |= 1 << code % MOST_BITS
        case SparseSet(item=item):
            made = _rows([random(item, rng) for _ in range(rng.randint(0, 2))])
        case SparseMap(key=key, value=of):
            keys = _rows([random(key, rng) for _ in range(rng.randint(0, 2))])[1:]
            size = width(key)
            rows = [keys[i : i + size] + random(of, rng) for i in range(0, len(keys), size or 1)]
            made = [len(rows), *(cell for row in rows for cell in row)]
        case ListLayout(item=item, most=most):
            length = rng.randint(0, min(most, 3))
            made = [length, *(c for _ in range(length) for c in random(item, rng))]
        case BagLayout(item=item, most=most):
            size = width(item)
            cells = _rows([random(item, rng) for _ in range(rng.randint(0, min(most, 2)))])
            starts = range(1, len(cells), size or 1)
            empty: list[list[int]] = [[]] * cells[0]  # Of items without cells.
            rows = [cells[at : at + size] for at in starts] if size else empty
            if layout.room:
                rows = sorted([code_of(item, row)] for row in rows)
            made = [] if layout.room else [0]
            made += [len(rows), *(cell for row in rows for cell in (*row, 1))]
        case _:
            raise AssertionError(layout)
    return made + [0] * (width(layout) - len(made))


def _rows(rows: list[list[int]]) -> list[int]:
    """The cells of some elements, each once and in their order."""
    kept = sorted({tuple(row) for row in rows})
    return [len(kept), *(cell for row in kept for cell in row)]
