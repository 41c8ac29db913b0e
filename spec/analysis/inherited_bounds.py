"""The bounds that the scope of a subclass takes from the scope of its ancestor.

A scope replaces the ancestor's scope of its name. Only where it leaves something without a bound
that exploration needs, the ancestor's bound of that holds: so a scope that says everything means
what it says, and one that says what is new need not repeat the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from .. import ir
from .. import types as t
from .scope_keys import FEW_BITS, SERIAL, Keys, inside, places

Bounds = Mapping[str, object]
Need = tuple[Keys, Callable[[object], bool]]  # Keys that may give a bound, and what is one.


def taken(machine: ir.Machine, own: Bounds, older: Bounds) -> dict[str, object]:
    """The bounds of an ancestor that the machine needs and `own` does not give."""
    found: dict[str, object] = {}
    for keys, fits in needs(machine) if older else ():
        if not any(key in own and fits(own[key]) for key in keys):
            key = next((key for key in keys if key in older and fits(older[key])), None)
            found.update({} if key is None else {key: older[key]})
    return {key: bound for key, bound in found.items() if key not in own}


def needs(machine: ir.Machine) -> Iterator[Need]:
    """What a scope has to bound before the machine can be explored, once or more often each."""
    for kind in machine.types:
        if isinstance(kind, t.Sort | t.Opaque):
            yield (kind.name,), _any
    for p in machine.parameters:
        if p.default is None:
            yield (f"{machine.name}.{p.name}", p.name), _any
    serials: dict[t.Serial, Keys] = {}
    unserved = (e for e in machine.events if not machine.serving(e.name))  # They are ignored.
    arguments = [((f"{e.name}.{n}", n), kind) for e in unserved for n, kind in e.params]
    for names, kind in (*(row[:2] for row in places(machine)), *arguments):
        for each, keys in inside(kind, names):
            match each:
                case t.Serial(bits=bits) if bits > FEW_BITS:
                    serials[each] = (*serials.get(each, ()), *keys)
                case _ if not names:
                    pass  # A parameter has the values that are given, not all within bounds.
                case t.Int(low=low, high=high, name=name) if low is None or high is None:
                    yield (*keys, name, "int" if low is None else "Nat"), _is_range
                case t.Seq(most=None) | t.Bag(most=None):
                    yield keys, _is_length
                case t.Clock():
                    yield keys, _any
                case _:
                    pass
    yield from (((*keys, SERIAL), _is_length) for keys in serials.values())


def _any(_: object) -> bool:
    return True


def _is_range(bound: object) -> bool:
    return isinstance(bound, range)


def _is_length(bound: object) -> bool:
    return type(bound) is int
