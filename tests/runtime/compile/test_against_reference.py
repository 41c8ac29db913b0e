"""The compiled step against the reference engine: same outcomes, states, outputs and reasons."""

from __future__ import annotations

import random
from typing import Any

import pytest

from lawful import Machine, PropertyViolated, Refused, Undefined
from lawful.checks.reference import steps
from lawful.machines.unicast.as_seed import ReceiverEntryAsSeed, SenderEntryAsSeed
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.system import LinkAsSeed, LinkFixed
from lawful.runtime.instances.journal_rows import variables
from lawful.runtime.timers import SimulatedClock
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.values.world import World, encode
from tests.runtime.compile.test_against_python import Mill
from tests.runtime.kernel.test_atomicity import Store
from tests.runtime.kernel.test_parts import Rack
from tests.runtime.kernel.test_steps import Nobody, SenderEntry, Sorter, Twice

FAR = 1e9  # Seconds: whatever is armed is due after so long.
MACHINES: list[type[Machine]] = [
    *(Mill, Store, Rack, SenderEntry, Sorter, Twice, Nobody),
    *(SenderEntryFixed, ReceiverEntryFixed, SenderEntryAsSeed, ReceiverEntryAsSeed),
    *(LinkFixed, LinkAsSeed),
]


class Pool:
    """Random values of a type: few different ones, so that they meet again."""

    def __init__(self, seed: int, world: World) -> None:
        self.chance = random.Random(seed)
        self.world = world
        self.seen: dict[t.Type, list[Any]] = {}

    def value(self, kind: t.Type) -> Any:
        seen = self.seen.setdefault(kind, [])
        if seen and self.chance.random() < 0.5:
            return self.chance.choice(seen)
        seen.append(self.new(kind))
        return seen[-1]

    def new(self, kind: t.Type) -> Any:
        match kind:
            case t.Int(low=low):
                return self.chance.randint(-1 if low is None else low, 4)
            case t.Bool():
                return self.chance.random() < 0.5
            case t.Enum(name=name):
                return self.chance.choice(list(self.world.enums[name]))
            case t.Opaque():
                return self.chance.choice([b"x", b"y"])
            case t.Record(name=name, fields=fields):
                return self.world.records[name](*(self.value(of) for _, of in fields))
            case t.Union(options=options):
                return self.value(self.chance.choice(options))
            case t.Set(item=item):
                return frozenset(self.value(item) for _ in range(self.chance.randrange(3)))
            case t.Nothing():
                return None
            case _:
                raise TypeError(str(kind))


def told(machine: Machine, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the compiled machine makes of the transition."""
    way = machine.lawful.plan.ways[name]
    try:
        return "done", encode(machine.lawful.take(name, *args), way.output)
    except Refused as refused:
        return "refused", refused.reasons
    except Undefined:
        return "undefined", None
    except PropertyViolated as violated:
        return violated.name, None


def expected(outcome: steps.Outcome, tr: ir.Transition) -> tuple[Any, ...]:
    """What the reference engine makes of it."""
    match outcome:
        case steps.Done(output=output):
            return "done", encode(output, tr.function.output)
        case steps.Refusal(reason=reason):
            return "refused", (reason(),)
        case steps.Fault(name=name):
            return name, None


def shown(engine: steps.Reference, machine: ir.Machine, state: Any) -> dict[str, Any]:
    """The reference's state in the journal's form, without ghosts."""
    out: dict[str, Any] = {}
    for v in machine.variables:
        value = state[engine.layout[machine.name][v.name]]
        if isinstance(v.type, t.Part):
            part, at = engine.machines[v.type.machine], engine.layout[v.type.machine]
            out[v.name] = shown(engine, part, value) | {
                p.name: encode(value[at[p.name]], p.type) for p in part.parameters
            }
        elif not v.ghost:
            out[v.name] = encode(value, v.type)
    return out


@pytest.mark.one_in(8)
@pytest.mark.parametrize("cls", MACHINES)
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(n, marks=pytest.mark.nightly) for n in (2, 3))]
)
def test_the_compiled_step_is_the_reference_step(cls: type[Machine], seed: int) -> None:
    m = cls.lawful.ir
    engine = steps.Reference(m, cls.lawful.resolved.world)
    pool = Pool(seed, cls.lawful.resolved.world)
    for _ in range(8):
        clock = SimulatedClock()
        machine, state = cls(clock=clock), engine.initial({})
        for _ in range(40):
            tr = pool.chance.choice([tr for tr in m.transitions if len(m.serving(tr.name)) < 2])
            args = tuple(pool.value(kind) for _, kind in tr.function.params)
            clock.advance(FAR)
            named = dict(zip((n for n, _ in tr.function.params), args, strict=True))
            outcome = engine.step(state, tr.name, named)
            wanted = expected(outcome, tr)
            got = told(machine, tr.name, args)
            assert got == wanted or (_ignored(m, tr) and wanted[0] == "refused" and got[1] is None)
            if isinstance(outcome, steps.Done):
                state = outcome.state
            assert variables(machine) == shown(engine, m, state), (tr.name, args)


def _ignored(m: ir.Machine, tr: ir.Transition) -> bool:
    """The reference was asked for the transition, the instance for its event."""
    return any(row.event == tr.name for row in m.ignores)
