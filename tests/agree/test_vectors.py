"""Arrays do what the reference engine does: random machines, as far as they are of fixed width.

Each event runs in a block whose rows are random states. A row that arrays do not leave to other
engines has the reference's next state, transition and output. What arrays leave is counted, so that
they do not pass by deciding nothing.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from lawful.checks.reference import Done
from lawful.checks.replay.columnar.components import components_of, dtypes
from lawful.checks.replay.columnar.layout import EventColumns, Fixed, Told, Unsupported
from lawful.checks.replay.columnar.vector_events import IGNORED, Block, VectorEvent
from lawful.spec import ir
from lawful.spec.errors import DeclarationError
from tests.agree.engines import Engines
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.hits import Hits
from tests.spec import texts

ROWS = 12
ARGUMENTS = 4  # Tuples of arguments for each event.


def engines_of(seed: int) -> Engines | None:
    """The engines of a random machine; None where there is no machine without a clock."""
    try:
        made = Engines(texts.machine(seeded(seed), HEAD), Random(seed), Hits())
    except (DeclarationError, ValueError):
        return None
    finally:
        forget()
    machine = made.machine
    plain = machine.name == made.resolved.machine.name and not machine.parts
    return made if plain and made.declared is not None else None


def examined(engines: Engines, event: ir.Event, hits: Counter[str]) -> None:
    """Compare one event in random states."""
    args = engines.args(event.params)
    states = [engines.state() for _ in range(ROWS)]
    outcomes = [engines.chosen(state, event, args) for state in states]
    done = [outcome for outcome in outcomes if outcome[0] == "done"]
    origins = tuple(Fixed(v, k) for v, (_, k) in zip(args, event.params, strict=True))
    constant = Fixed(done[0][2], event.output) if done else None
    told = Told("", constant, may_be_none=False) if done else None
    columns = EventColumns(event.name, (), (), (), None, origins, told)
    try:
        vector = VectorEvent(engines.machine, columns)
    except Unsupported:
        hits["unsupported events"] += 1
        return
    hits["events"] += 1
    symbols: dict[str, int] = {}
    kinds = {v.name: v.type for v in engines.machine.variables}
    kinds.update({p.name: p.type for p in engines.machine.parameters})
    names = [*kinds]
    fields: dict[str, Any] = {}
    for name in (*vector.fields, *vector.parameters):
        rows = [components_of(s[names.index(name)], kinds[name], symbols) for s in states]
        columns_of = zip(*rows, strict=True) if rows[0] else ()
        parts = zip(columns_of, dtypes(kinds[name]), strict=True)
        fields[name] = tuple(np.array(column, dtype) for column, dtype in parts)
    with np.errstate(all="ignore"):
        served = vector.served(fields, Block({}, symbols, 0, ROWS))
    failed = np.broadcast_to(served.failed, ROWS)
    taken = np.broadcast_to(served.taken, ROWS)
    for i, (kind, after, output) in enumerate(outcomes):
        right = kind in ("done", "ignored") and (constant is None or output == constant.value)
        hits[f"{'right' if right else 'other'}, {'left' if failed[i] else 'decided'}"] += 1
        if failed[i]:
            continue
        assert right, (event, args, states[i], outcomes[i])
        for at, name in enumerate(names):
            if name in served.written:
                wanted = components_of(after[at], kinds[name], symbols)
                given = tuple(np.broadcast_to(c, ROWS)[i] for c in served.written[name])
                assert given == wanted, (event, name, args, states[i], outcomes[i])
            else:
                assert after[at] == states[i][at], (event, name)
        if taken[i] != IGNORED:
            row = engines.machine.transition(vector.names[int(taken[i])])
            named = dict(zip((n for n, _ in row.function.params), args, strict=True))
            one = engines.reference.step(states[i], row.name, named)
            assert isinstance(one, Done) and one.state == after


def run(seeds: range) -> Counter[str]:
    hits: Counter[str] = Counter()
    for seed in seeds:
        engines = engines_of(seed)
        if engines is None:
            continue
        hits["machines"] += 1
        for event in engines.machine.events:
            if not event.choice:
                for _ in range(ARGUMENTS):
                    examined(engines, event, hits)
    return hits


def demanded(hits: Counter[str]) -> None:
    """Arrays decided most of what is right, of many events."""
    assert hits["other, decided"] == 0
    assert hits["right, decided"] > 5 * hits["right, left"]
    assert hits["other, left"]


def test_random_machines() -> None:
    demanded(run(range(45)))


@pytest.mark.nightly
def test_many_random_machines() -> None:
    demanded(run(range(45, 3000)))
