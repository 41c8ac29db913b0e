"""The passes from a resolved machine to what engines explore, as one tuple.

    explored: ir.Machine --steps--> Timed --serial bits--> Narrowed --bounds--> Flat
                         --plans--> Flat --abstract machines--> Flat
    proved:   ir.Machine --steps--> Timed --sizes--> Sized
    replayed: ir.Machine --ghosts--> Erased

Each pass is a function from one stage to the next, and has the rules that its result keeps. An
engine that explores reads the last `Flat`; one that proves for all integers reads `Sized`, which
needs no bounds of integers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .. import ir
from .. import types as t
from ..analysis.ghosts import erased
from ..analysis.named_elements import named_elements
from ..errors import Problems
from ..flat import Erased, Flat, Timed
from ..quick_dataclass import dataclass
from ..words import Scope
from . import stage_rules
from .argument_plans import planned
from .proof_sizes import Sized, with_sizes
from .serial_bits import Narrowed, narrowed
from .stage_rules import StageRule
from .steps import with_all_steps
from .type_bounds import Named, with_bounds


@dataclass(frozen=True, slots=True)
class Request:
    """What passes are told beside the machine: its scope, those of what it refines, and the
    elements of sorts that the declaration names.

    With `all_bits` serial numbers keep the bits that they are declared with. `problems` are
    collected over several passes, so that one error names them all.
    """

    scope: Scope
    abstracts: Mapping[str, Scope]
    named: Named
    all_bits: bool
    problems: Problems


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of lowering: from a value of the class `reads` to one of the class `gives`.

    `rules` are true of all that it gives. A later pass may rely on them, and on those before.
    """

    name: str
    reads: Any
    gives: Any
    run: Callable[[Any, Request], Any]
    rules: tuple[StageRule, ...]


def _steps(machine: ir.Machine, _: Request) -> Timed:
    return with_all_steps(machine)


def _serial_bits(machine: Timed, asked: Request) -> Narrowed:
    if asked.all_bits:
        return Narrowed(machine, ())
    return narrowed(machine, asked.scope.bounds, asked.problems)


def _bounds(machine: Narrowed, asked: Request) -> Flat:
    return with_bounds(machine, asked.scope, asked.named, asked.problems)


def _plans(flat: Flat, _: Request) -> Flat:
    return planned(flat)


def _abstract_machines(flat: Flat, asked: Request) -> Flat:
    return dataclasses.replace(flat, abstracts=tuple(_abstracts(flat, asked)))


def _sizes(machine: Timed, asked: Request) -> Sized:
    return with_sizes(machine, asked.scope.bounds)


def _ghosts(machine: ir.Machine, _: Request) -> Erased:
    return erased(machine)


STEPS = Pass("steps", ir.Machine, Timed, _steps, stage_rules.TIMED)
PASSES = (
    STEPS,
    Pass("serial bits", Timed, Narrowed, _serial_bits, stage_rules.NARROWED),
    Pass("bounds", Narrowed, Flat, _bounds, stage_rules.BOUNDED),
    Pass("plans", Flat, Flat, _plans, stage_rules.PLANNED),
    Pass("abstract machines", Flat, Flat, _abstract_machines, stage_rules.REFINING),
)
REPLAY_PASSES = (Pass("ghosts", ir.Machine, Erased, _ghosts, stage_rules.ERASED),)
PROOF_PASSES = (STEPS, Pass("sizes", Timed, Sized, _sizes, stage_rules.SIZED))


def lower(
    machine: ir.Machine,
    scope: Scope,
    abstracts: Mapping[str, Scope] | None = None,
    *,
    all_bits: bool = False,
) -> Flat:
    """The machine within the scope; `DeclarationError` lists every missing or wrong bound.

    `abstracts` are the scopes of the machines that it refines; sizes are those of `scope`. With
    `all_bits` serial numbers keep the bits that they are declared with.
    """
    named = named_elements(machine, given(machine, scope))
    asked = Request(scope, abstracts or {}, named, all_bits, Problems())
    *_, (_, flat) = stages(PASSES, machine, asked)
    assert isinstance(flat, Flat)
    return flat


def given(machine: ir.Machine, scope: Scope) -> frozenset[str]:
    """The parameters to which a scope gives values."""
    names = (p.name for p in machine.parameters)
    return frozenset(n for n in names if n in scope.bounds or f"{machine.name}.{n}" in scope.bounds)


def sized(machine: ir.Machine, sizes: Mapping[str, int]) -> Sized:
    """The machine for provers, with these sizes of sorts and lengths of lists."""
    asked = Request(Scope(sizes), {}, {}, True, Problems())
    *_, (_, made) = stages(PROOF_PASSES, machine, asked)
    assert isinstance(made, Sized)
    return made


def stages(
    passes: Sequence[Pass], machine: ir.Machine, asked: Request
) -> Iterator[tuple[Pass, Any]]:
    """Each pass with what it gives, in order; raises `DeclarationError` as `lower` does."""
    made: Any = machine
    for each in passes:
        made = each.run(made, asked)
        yield each, made


def _abstracts(flat: Flat, asked: Request) -> Iterator[Flat]:
    for m in flat.machine.abstracts:
        # What the abstract machine refines itself is asked of it alone.
        alone = dataclasses.replace(m, abstracts=())
        own = {kind.name for kind in m.types if isinstance(kind, t.Sort | t.Opaque)}
        sizes: dict[str, object] = {name: size for name, size in flat.sizes if name in own}
        scope = asked.abstracts.get(m.name, Scope()).widened(sizes)
        of_abstract = dataclasses.replace(asked, scope=scope, abstracts={}, problems=Problems())
        *_, (_, made) = stages(PASSES, alone, of_abstract)
        yield made
