"""`Abstract.lawful.state(...)`: the state of a machine, seen as a state of one that it refines."""

from __future__ import annotations

from .. import ir
from .. import types as t
from ..errors import Place, Problems, a, nearest
from ..syntax import tree
from ..syntax.declare import Declaration
from . import expressions
from .context import MISSING, Body
from .methods import refused


def is_view(b: Body, node: tree.Apply) -> bool:
    """Whether the call gives a state of a machine."""
    match node.function:
        case tree.Attribute(name="state", of=tree.Attribute(name="lawful", of=of)):
            found = b.static(of)
            return (
                found is not MISSING and isinstance(found, type) and issubclass(found, Declaration)
            )
        case _:
            return False


def view(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    """The state, as the value that a method under `@refines` returns, and nowhere else."""
    assert isinstance(node.function, tree.Attribute)
    assert isinstance(node.function.of, tree.Attribute)
    cls = b.static(node.function.of.of)
    machine = b.scene.abstracts.get(expected.machine) if isinstance(expected, t.Part) else None
    if expected is None or machine is None or expected != b.output or node.args:
        return refused(b, node, "a view that a method under @refines returns, by keyword")
    if (cls.__name__, cls.__module__) != (machine.name, machine.module):
        expressions.misfit(b, node.place, t.Part(cls.__name__), expected)
        return b.wrong(node.place)
    kinds: dict[str, t.Type] = {v.name: v.type for v in machine.variables}
    kinds.update((p.name, p.type) for p in machine.parameters)
    args: list[tuple[str, ir.Expr]] = []
    for name, value in node.keywords:
        if name in kinds:
            args.append((name, expressions.expr(b, value, kinds[name])))
        else:
            b.problem("L204", value.place, name, f"one of {', '.join(kinds)}", nearest(name, kinds))
    needed = [v.name for v in machine.variables if v.initial is None]
    needed += [p.name for p in machine.parameters if p.default is None]
    missing = [name for name in needed if name not in dict(node.keywords)]
    if missing:
        b.problem(
            "L204",
            node.place,
            f"{machine.name}.lawful.state(...) without {', '.join(missing)}",
            "a value for each variable that has no default",
            f"write {missing[0]}=...",
        )
    return ir.View(node.place, expected, tuple(args))


def judge_abstract(machine: ir.Machine, own: str, place: Place, problems: Problems) -> None:
    """Note why the machine cannot be one that `own` refines."""
    if machine.name == own:
        problems.add(
            "L202",
            place,
            f"two classes named {own}",
            "one name for one class",
            "rename one of them: values are written with the class's name",
        )
    for v in machine.variables:
        kind = v.type.value if isinstance(v.type, t.Map) else v.type
        if v.ghost or isinstance(kind, t.Part | t.Timer | t.Clock):
            what = "a ghost" if v.ghost else a(kind)
            problems.add(
                "L190",
                place,
                f"@refines({machine.name}), whose {v.name} is {what}",
                "an abstract machine of values alone",
                "refine one without ghosts, timers, clocks and parts",
            )
