"""The scope of a proof in words: what its verdicts cover."""

from __future__ import annotations

from collections.abc import Mapping

from lawful.spec import ir
from lawful.spec import types as t

from ..smt.encode.lengths import Lengths
from ..smt.encode.sorts import fields_of


def covers(machine: ir.Machine, sizes: Mapping[str, int]) -> tuple[str, bool]:
    """What the verdicts cover, in words; and whether a bound of the scope was used."""
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
    if any(m.parameters for m in _machines(machine)):
        assumed = " that @assume allows" if machine.of_kind("assume") else ""
        # Of infinitely many seconds there are no ticks.
        finite = ", floats finite" if timed and any(isinstance(k, t.Float) for k in kinds) else ""
        words.append(f"all parameter values{assumed}{finite}")
    words += sorted({f"all values of {k}" for k in kinds if isinstance(k, t.Opaque)})
    sorts = sorted({k.name for k in kinds if isinstance(k, t.Sort)})
    words += [f"{name}={sizes[name]}" if name in sizes else f"any {name}" for name in sorts]
    lengths = Lengths(machine, sizes).used
    words += [f"{name} <= {most}" for name, most in sorted(lengths.items())]
    return "; ".join(words) or "all states", bool(lengths) or any(name in sizes for name in sorts)


def sorts(machine: ir.Machine, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes without those of opaque types, which always have any number of values."""
    opaque = {k.name for k in types(machine) if isinstance(k, t.Opaque)}
    return {name: size for name, size in sizes.items() if name not in opaque}


def _machines(machine: ir.Machine) -> list[ir.Machine]:
    return [machine, *(inner for part in machine.parts for inner in _machines(part))]


def types(machine: ir.Machine) -> list[t.Type]:
    """Every type in the machine's variables, parameters and arguments, at any depth."""
    stack: list[t.Type] = []
    for m in _machines(machine):
        stack += [kind for _, kind in fields_of(m)]
        functions = [*(x.function for x in m.transitions), *m.initials]
        stack += [kind for f in functions for _, kind in f.params]
    return list(dict.fromkeys(each for kind in stack for each in t.inside(kind)))
