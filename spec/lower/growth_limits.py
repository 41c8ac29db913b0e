"""What of a growing sort runs and is replayed, but cannot be explored or proved: problems L305.

The variable with the elements belongs to the whole machine. A part cannot read it, nor a function
of a module or a machine that is refined.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import ir
from .. import types as t
from ..analysis.growth import growing_maps, growing_sorts, grows
from ..analysis.walk import everything
from ..errors import Place, Problems
from ..ops import RANKS
from ..verdicts import KINDS


def judge_growth(machine: ir.Machine) -> None:
    """`DeclarationError` with each use of a growing sort that no engine explores or proves."""
    problems = Problems()
    for place, found in _unknown(machine):
        problems.add(
            "L305",
            place,
            found,
            "the elements of a growing sort in the machine itself",
            "keep it in the machine itself, or declare the sort without growing=True",
        )
    problems.stop_if_any()


def _unknown(machine: ir.Machine) -> Iterator[tuple[Place, str]]:
    of_modules = {n.function for n in everything((machine,)) if isinstance(n, ir.Call) and not n.of}
    for f in machine.functions:
        if f.name in of_modules and _asks(f):
            name = f.name.rpartition(".")[2]  # Its key has the module, too.
            yield f.place, f"{name}, a function of a module that asks for the elements"
    for part in machine.parts:
        for v in growing_maps(part):
            yield v.place, f"{part.name}.{v.name}: {v.type} in a part"
        if _asks(part):
            yield part.place, f"{part.name}, a part that asks for the elements"
        for p in part.properties:
            if any(grows(kind) for _, kind in p.function.params[p.kind == "step_property" :]):
                yield p.place, f"{part.name}.{p.name}, a property of a part with such a parameter"
    for other in machine.abstracts:
        if growing_sorts(other):
            yield machine.place, f"{other.name}, which is refined and has such a sort"
    for p in machine.properties:
        # Nobody can say whether it is true for an element that never joins.
        always = KINDS[p.kind].over == "run" and KINDS[p.kind].gives == "bool"
        if always and any(grows(kind) for _, kind in p.function.params):
            yield p.place, f"{p.name}, for each element"
    for v in growing_maps(machine):
        assert isinstance(v.type, t.Map)
        if not isinstance(v.type.key, t.Sort) and isinstance(v.type.value, t.Part | t.Timer):
            yield v.place, f"{v.name}: {v.type}"


def _asks(node: ir.Node) -> bool:
    """Whether it asks which elements a growing sort has."""
    for each in everything((node,)):
        match each:
            case ir.Domain(type=t.Iter(item=item)) if grows(item):
                return True
            case ir.Op(op=op, type=kind) if op in RANKS and grows(kind):
                return True
            case _:
                pass
    return False
