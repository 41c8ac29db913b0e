"""How many bits serial numbers have when explored: the scope says it, and the types then have it.

All serial numbers of one declared width have one number of bits, for they may meet: the key of
any of them gives it, or `Serial` for all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from .. import ir, ops
from .. import types as t
from ..analysis.scope_keys import FEW_BITS, SERIAL, Keys, inside, places
from ..analysis.walk import everything
from ..errors import Place, Problems
from ..flat import Timed
from ..quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The machine with the scope's bits in its types; `serials`: the numbers of bits that are
    declared, and explored, where these are fewer."""

    machine: Timed
    serials: tuple[tuple[int, int], ...]


def narrowed(machine: Timed, bounds: Mapping[str, object], problems: Problems) -> Narrowed:
    """The machine with the scope's bits.

    Problems are noted where a width has no bits, or two numbers of them, or constants beyond.
    """
    made = Timed(_with_bits(machine, bounds, problems))
    return Narrowed(made, tuple(sorted(fewer_bits(_kinds(machine), _kinds(made)))))


def _with_bits(machine: ir.Machine, bounds: Mapping[str, object], problems: Problems) -> ir.Machine:
    where: dict[t.Serial, Place] = {}
    given: dict[t.Serial, list[tuple[str, object]]] = {}
    for names, kind, place in places(machine):
        for serial, keys in _serials(kind, names):
            where.setdefault(serial, place)
            # A range under the name of what only contains them bounds what else is in it.
            named = (k for k in keys if k in bounds and (kind is serial or is_int(bounds[k])))
            key = next(named, SERIAL if SERIAL in bounds else None)
            given.setdefault(serial, []).extend([] if key is None else [(key, bounds[key])])
    if not where:
        return machine
    types: dict[t.Type, t.Serial] = {
        s: t.serial(_bits(s, at, given[s], problems)) for s, at in where.items()
    }
    made = _Narrowing(types).node(machine)
    assert isinstance(made, ir.Machine)
    for node in everything((made,)):
        match node:
            case ir.Const(type=t.Serial() as kind, value=int() as value) if value >= kind.modulus:
                problems.add(
                    "L303",
                    node.place,
                    f"{value}, with {kind.bits} bits in the scope",
                    f"a number from 0 to {kind.modulus - 1}",
                    "give more bits, or make the constant a Param and let the scope give values",
                )
            case _:
                pass
    return made


def _bits(kind: t.Serial, place: Place, given: list[tuple[str, object]], problems: Problems) -> int:
    """The bits that the scope gives the numbers of one width; the full ones where it is wrong."""
    for key, bits in given:
        if not is_int(bits) or not t.LEAST_BITS <= bits <= kind.bits:
            problems.add(
                "L303",
                place,
                f"{key}={bits!r}",
                f"a number of bits from {t.LEAST_BITS} to {kind.bits}",
                f"Scope({SERIAL}=3)",
            )
            return kind.bits
    if not given and kind.bits <= FEW_BITS:
        return kind.bits
    if not given:
        problems.add(
            "L301",
            place,
            str(kind),
            "the number of its bits when explored",
            f"Scope({SERIAL}=3), or the name of a field for all serial numbers of its width",
        )
        return kind.bits
    key, bits = given[0]
    other = next((row for row in given if row[1] != bits), None)
    if other is not None:
        problems.add(
            "L303",
            place,
            f"{key}={bits} and {other[0]}={other[1]}",
            f"one number of bits for all serial numbers of {kind.bits}",
            f"Scope({SERIAL}={bits}): they may meet",
        )
    return bits if is_int(bits) else kind.bits


def is_int(value: object) -> TypeGuard[int]:
    """Whether it is an integer, and no bool."""
    return type(value) is int


def _serials(kind: t.Type, names: Keys) -> list[tuple[t.Serial, Keys]]:
    """The serial numbers inside a type, and the keys that may say their bits."""
    return [(each, keys) for each, keys in inside(kind, names) if isinstance(each, t.Serial)]


def fewer_bits(declared: Iterable[t.Type], explored: Iterable[t.Type]) -> set[tuple[int, int]]:
    """The serial numbers in types that have fewer bits in exploration: both numbers of bits."""
    pairs = zip(declared, explored, strict=True)
    inside = ((_serials(one, ()), _serials(other, ())) for one, other in pairs)
    return {
        (one.bits, other.bits)
        for row in inside
        for (one, _), (other, _) in zip(*row, strict=True)
        if one != other
    }


def _kinds(m: ir.Machine) -> list[t.Type]:
    return [kind for _, kind, _ in places(m)]


class _Narrowing:
    """Puts other types in the place of serial numbers, and their moduli."""

    def __init__(self, types: Mapping[t.Type, t.Serial]) -> None:
        self.types = types

    def node(self, node: ir.Node) -> ir.Node:
        """The node with everything inside it."""
        given = {f.name: self.value(getattr(node, f.name)) for f in dataclasses.fields(node)}
        made = dataclasses.replace(node, **given)
        match made:
            case ir.Op(op=op, args=(*sides, ir.Const() as last)) if op in ops.SERIAL:
                kind = next(s.type for s in sides if isinstance(s.type, t.Serial))
                known = dataclasses.replace(last, value=kind.modulus)
                return dataclasses.replace(made, args=(*sides, known))
            case _:
                return made

    def value(self, value: Any) -> Any:
        match value:
            case ir.Node():
                return self.node(value)
            case t.Type():
                return self.type(value)
            case _ if value.__class__ is tuple:
                return tuple(self.value(each) for each in value)
            case _:
                return value

    def type(self, kind: t.Type) -> t.Type:
        if kind in self.types:
            return self.types[kind]
        given = {f.name: self.value(getattr(kind, f.name)) for f in dataclasses.fields(kind)}
        return dataclasses.replace(kind, **given)
