"""The rules that hold after each pass of lowering: what an engine may rely on.

A rule yields a line for each thing that is wrong. The tests ask every rule of every machine of
the repository and of random ones; engines do not ask again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import ir, ops
from .. import types as t
from ..analysis.places import variable_of
from ..analysis.walk import everything, free_locals
from ..flat import Erased, Flat, Plan, Rule, Timed
from ..values.time import TICK, clock_of, is_tick
from .proof_sizes import Sized
from .serial_bits import Narrowed

StageRule = Callable[[Any], Iterator[str]]


# After `ticks`.


def time_passes_in_one_step(machine: Timed) -> Iterator[str]:
    """A machine with a clock has the step `tick` and its event once; another machine has none."""
    found = [row.name for row in machine.transitions if is_tick(row)]
    events = [event.name for event in machine.events if event.name in found]
    expected = [TICK] if clock_of(machine) is not None else []
    if found != expected or events != expected:
        yield f"{machine.name} has the steps of time {found}, not {expected}"


def timers_count_where_time_passes(machine: Timed) -> Iterator[str]:
    """Timers count ticks in a machine with a clock, those of its parts, too; else they do not."""
    counts = clock_of(machine) is not None
    for owner in (machine, *machine.parts):
        for v in owner.variables:
            if any(isinstance(k, t.Timer) and k.ticks != counts for k in t.inside(v.type)):
                yield f"the timer {owner.name}.{v.name} {'does not count' if counts else 'counts'}"


# After `serial bits`.


def serial_numbers_have_one_modulus(narrowed: Narrowed) -> Iterator[str]:
    """The modulus of an operation on serial numbers is that of the type of its operands."""
    for node in everything((narrowed.machine,)):
        match node:
            case ir.Op(op=op, args=(*sides, ir.Const(value=modulus))) if op in ops.SERIAL:
                kinds = {s.type for s in sides if isinstance(s.type, t.Serial)}
                if {kind.modulus for kind in kinds} != {modulus}:
                    yield f"{node.place}: {op} modulo {modulus}"
            case ir.Const(type=t.Serial(modulus=modulus), value=int() as value):
                if value >= modulus:
                    yield f"{node.place}: {value} is no serial number below {modulus}"
            case _:
                pass


def bits_only_get_fewer(narrowed: Narrowed) -> Iterator[str]:
    """No serial number has more bits than it is declared with."""
    for declared, explored in narrowed.serials:
        if not explored < declared:
            yield f"serial numbers of {declared} bits have {explored}"


# After `bounds`.


def every_variable_has_a_bounded_type(flat: Flat) -> Iterator[str]:
    """`fields` are the variables of the machine and its parts, in order, each of finite type."""
    m = flat.machine
    wanted = [(owner.name, v.name) for owner in (m, *m.parts) for v in owner.variables]
    if [(owner, name) for owner, name, _ in flat.fields] != wanted:
        yield f"the fields of {m.name} are not its variables"
    for owner, name, kind in flat.fields:
        if owner != m.name and isinstance(kind, t.Clock):
            continue  # A part's clock is that of the whole.
        yield from (f"{owner}.{name} has the type {k}" for k in _endless(kind))


def every_sort_has_a_size(flat: Flat) -> Iterator[str]:
    """A sort or opaque type has one element at least, and is named once."""
    wanted = [k.name for k in flat.machine.types if isinstance(k, t.Sort | t.Opaque)]
    if [name for name, _ in flat.sizes] != wanted or any(size < 1 for _, size in flat.sizes):
        yield f"the sizes are {dict(flat.sizes)}, of the sorts {wanted}"


def every_parameter_has_values(flat: Flat) -> Iterator[str]:
    """A parameter without a default has values to try."""
    for p, (name, values) in zip(flat.machine.parameters, flat.parameters, strict=True):
        if p.name != name or (p.default is None and not values):
            yield f"the parameter {p.name} has no values to try"


def every_rule_has_a_plan_for_each_parameter(flat: Flat) -> Iterator[str]:
    """Starts and transitions have rules in the order of the declaration; plans have finite
    types."""
    for rule, function in _rules(flat):
        if [plan.name for plan in rule.plans] != [name for name, _ in function.params]:
            yield f"the plans of {rule.name} are not its parameters"
    for rule in (*flat.initials, *flat.rules, *flat.properties):
        for plan in rule.plans:
            yield from (f"{rule.name}({plan.name}: {k})" for k in _endless(plan.type))


# After `plans`.


def plans_read_what_is_known(flat: Flat) -> Iterator[str]:
    """The guards of a plan, and what it goes through, read parameters before it alone."""
    for rule, _ in _rules(flat):
        known: set[str] = set()
        for plan in rule.plans:
            for name in _read(plan) - known:
                yield f"the plan of {rule.name}({plan.name}) reads {name}"
            known.add(plan.name)


def plans_are_tests_and_collections(flat: Flat) -> Iterator[str]:
    """Guards are true or false; what is gone through has elements."""
    for rule, _ in _rules(flat):
        for plan in rule.plans:
            if any(guard.type != t.BOOL for guard in plan.guards):
                yield f"a guard of {rule.name}({plan.name}) is no test"
            if plan.over is not None and t.element(plan.over.type) is None:
                yield f"{rule.name}({plan.name}) cannot go through {plan.over.type}"


# After `abstract machines`.


def every_abstract_machine_is_lowered(flat: Flat) -> Iterator[str]:
    """What the machine refines is lowered, too, with the same sizes, and refines nothing."""
    wanted = [m.name for m in flat.machine.abstracts]
    if [a.machine.name for a in flat.abstracts] != wanted:
        yield f"{flat.machine.name} refines {wanted}, which are not all lowered"
    for a in flat.abstracts:
        if not {*a.sizes} <= {*flat.sizes} or a.abstracts or a.machine.abstracts:
            yield f"{a.machine.name} is not the machine that {flat.machine.name} refines"


# After `sizes`.


def opaque_types_have_no_size(sized: Sized) -> Iterator[str]:
    """A proof is for any number of opaque values."""
    for kind in sized.machine.types:
        if isinstance(kind, t.Opaque) and kind.name in sized.sizes:
            yield f"the opaque type {kind.name} has a size"


# After `ghosts`.


def nothing_assigns_a_ghost(machine: Erased) -> Iterator[str]:
    """A ghost has the type of None, and no start or step assigns it."""
    for owner in (machine, *machine.parts):
        ghosts = {v.name for v in owner.variables if v.ghost}
        if any(v.type != t.NOTHING for v in owner.variables if v.ghost):
            yield f"a ghost of {owner.name} has a type"
        rows = (*owner.transitions, *owner.bases)
        for node in everything((*owner.initials, *(row.function for row in rows))):
            match node:
                case ir.Assign(target=target) | ir.Update(target=target):
                    if variable_of(target) in ghosts:
                        yield f"{node.place}: a ghost is assigned"
                case _:
                    pass


TIMED: tuple[StageRule, ...] = (time_passes_in_one_step, timers_count_where_time_passes)
NARROWED: tuple[StageRule, ...] = (serial_numbers_have_one_modulus, bits_only_get_fewer)
BOUNDED: tuple[StageRule, ...] = (
    every_variable_has_a_bounded_type,
    every_sort_has_a_size,
    every_parameter_has_values,
    every_rule_has_a_plan_for_each_parameter,
)
PLANNED: tuple[StageRule, ...] = (plans_read_what_is_known, plans_are_tests_and_collections)
REFINING: tuple[StageRule, ...] = (every_abstract_machine_is_lowered,)
ERASED: tuple[StageRule, ...] = (nothing_assigns_a_ghost,)
SIZED: tuple[StageRule, ...] = (opaque_types_have_no_size,)


def _rules(flat: Flat) -> Iterator[tuple[Rule, ir.Function]]:
    yield from zip(flat.initials, flat.machine.initials, strict=True)
    rows = [row.function for row in flat.machine.transitions]
    yield from zip(flat.rules, rows, strict=True)


def _endless(kind: t.Type) -> Iterator[t.Type]:
    """The types inside that have no last value, or no greatest length."""
    for each in t.inside(kind):
        match each:
            case t.Int(low=low, high=high) if low is None or high is None:
                yield each
            case t.Seq(most=None) | t.Bag(most=None) | t.Clock(most=None) | t.Unknown():
                yield each
            case _:
                pass


def _read(plan: Plan) -> set[str]:
    inside = (*plan.guards, *(() if plan.over is None else (plan.over,)))
    return {name for name, _ in free_locals(inside)}
