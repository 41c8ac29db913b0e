"""The names in a mapping that are the machine's: of events, arguments, variables and parameters.

A name that no machine has is a mistake in the mapping, and not one in the rows that it reads. So it
is refused before a row is read, with its place in the mapping and the name that is most like it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lawful.spec import ir
from lawful.spec.codec.as_json import is_object
from lawful.spec.errors import nearest

from ..mapping import TraceMapping


class MappingError(ValueError):
    """A mapping does not suit its machine."""


@dataclasses.dataclass(frozen=True)
class Names:
    """What these versions of a machine have: the arguments of each event and of each transition,
    variables, parameters."""

    arguments: Mapping[str, frozenset[str]]
    variables: frozenset[str]
    parameters: frozenset[str]


def names_of(machines: Iterable[ir.Machine]) -> Names:
    """The names of all of these machines."""
    arguments: dict[str, frozenset[str]] = {}
    variables: set[str] = set()
    parameters: set[str] = set()
    for machine in machines:
        told = [(each.name, each.params) for each in machine.events]
        told += [(each.name, each.function.params) for each in machine.transitions]
        for name, params in told:
            arguments[name] = arguments.get(name, frozenset()) | {of for of, _ in params}
        variables |= {each.name for each in machine.variables if not each.ghost}
        parameters |= {each.name for each in machine.parameters}
    return Names(arguments, frozenset(variables), frozenset(parameters))


def check_names(mapping: TraceMapping, machines: Sequence[ir.Machine]) -> None:
    """Raise MappingError for a name that none of these machines has."""
    wrong = next(_wrong(mapping, names_of(machines), machines[0].name), "")
    if wrong:
        raise MappingError(wrong)


def _wrong(mapping: TraceMapping, names: Names, machine: str) -> Iterator[str]:
    events, has = names.arguments, f"{machine} has no"
    for theirs, ours in mapping.events.items():
        if ours not in events:
            yield f'events.{theirs} is "{ours}": {has} event {ours}; {_instead(ours, events)}'
    for name, template in mapping.args.items():
        if name not in events:
            given = mapping.events.get(name)
            how = _instead(name, events) if given is None else f"write args.{given}"
            yield f"args.{name}: {has} event {name}; {how}"
            continue
        if not is_object(template):
            told = ", ".join(sorted(events[name])) or "it has none"
            yield f"args.{name} has to be a table with the arguments of {name} ({told})"
            continue
        for argument in template:
            if argument not in events[name]:
                how = _instead(argument, events[name])
                what = f"{name} of {machine} has no argument {argument}"
                yield f"args.{name}.{argument}: {what}; {how}"
    for path in mapping.observed:
        first = path.partition(".")[0]
        if first not in names.variables:
            how = _instead(first, names.variables)
            yield f"observed.{path}: {has} variable {first}; {how}"
    for name in mapping.parameters:
        if name not in names.parameters:
            yield f"parameters.{name}: {has} parameter {name}; {_instead(name, names.parameters)}"
    for name in mapping.hidden:
        if name not in events:
            yield f"hidden has {name}: {has} event {name}; {_instead(name, events)}"


def _instead(name: str, known: Iterable[str]) -> str:
    there = sorted(known)
    return nearest(name, there, f"it has {', '.join(there)}" if there else "it has none")


def without_unknown(mapping: TraceMapping, machines: Sequence[ir.Machine]) -> TraceMapping:
    """The mapping without what it says of things that these machines do not have: it is for other
    machines, too, or for another version."""
    names = names_of(machines)
    return dataclasses.replace(
        mapping,
        events={a: b for a, b in mapping.events.items() if b in names.arguments},
        args={
            name: {n: each for n, each in told.items() if n in names.arguments[name]}
            for name, told in mapping.args.items()
            if name in names.arguments and is_object(told)
        },
        observed={p: v for p, v in mapping.observed.items() if p.split(".")[0] in names.variables},
        parameters={n: v for n, v in mapping.parameters.items() if n in names.parameters},
        hidden=tuple(name for name in mapping.hidden if name in names.arguments),
    )
