"""The scope of a proof in words."""

from __future__ import annotations

from collections.abc import Mapping

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.growth import growing_sorts
from lawful.spec.analysis.named_elements import explored, named_elements
from lawful.spec.lower import Sized

from ..smt.encode.lengths import Lengths
from ..smt.encode.sorts import fields_of


def covers(lowered: Sized) -> tuple[str, bool]:
    """The values that the verdicts cover, in words; and whether a bound of the scope was used."""
    machine, sizes = lowered.machine, lowered.sizes
    kinds = types(machine)
    words: list[str] = []
    if any(isinstance(k, t.Int) and not isinstance(k, t.Serial) for k in kinds):
        words.append("all integers")
    widths = sorted({k.bits for k in kinds if isinstance(k, t.Serial)})
    words += [f"all serial numbers of {bits} bits" for bits in widths]
    if any(isinstance(k, t.Clock) for k in kinds):
        words.append("all ticks")
    timed = any(isinstance(k, t.Clock) for k in kinds)
    if any(isinstance(k, t.Timer) for k in kinds):
        urgent = any(isinstance(k, t.Timer) and k.urgent for k in kinds)
        fired = ", urgent ones fired when due" if timed and urgent else ""
        words.append("timers stopped or at any tick" + fired if timed else "timers armed or not")
    if any(m.parameters for m in (machine, *machine.parts)):
        assumed = " that @assume allows" if machine.of_kind("assume") else ""
        # Infinity has no number of ticks.
        finite = ", floats finite" if timed and any(isinstance(k, t.Float) for k in kinds) else ""
        words.append(f"all parameter values{assumed}{finite}")
    words += sorted({f"all values of {k}" for k in kinds if isinstance(k, t.Opaque)})
    sorts = sorted({k.name for k in kinds if isinstance(k, t.Sort)})
    words += [_elements(machine, name, sizes) for name in sorts]
    lengths = Lengths(machine, sizes).used
    words += [f"{name} <= {most}" for name, most in sorted(lengths.items())]
    return "; ".join(words) or "all states", bool(lengths) or any(name in sizes for name in sorts)


def _elements(machine: ir.Machine, sort: str, sizes: Mapping[str, int]) -> str:
    """The elements of a sort, in words."""
    growing = any(each.name == sort for each in growing_sorts(machine))
    if sort not in sizes:
        return f"any {sort}, growing" if growing else f"any {sort}"
    size = sizes[sort]
    named = explored(sort, size, named_elements(machine))[size:]
    many = " and ".join([f"{sort}={size}", *named])
    return f"{sort} growing up to {many}" if growing else many


def types(machine: ir.Machine) -> list[t.Type]:
    """Every type in the machine's variables, parameters and arguments, at any depth."""
    stack: list[t.Type] = []
    for m in (machine, *machine.parts):
        stack += [kind for _, kind in fields_of(m)]
        functions = [*(x.function for x in m.transitions), *m.initials]
        stack += [kind for f in functions for _, kind in f.params]
    return list(dict.fromkeys(each for kind in stack for each in t.inside(kind)))
