"""The rule for text: outputs and reasons have it, and nothing depends on which text it is."""

from __future__ import annotations

from .. import ir, ops
from .. import types as t
from ..analysis.walk import everything
from ..errors import Problems
from ..syntax.members import Members

# Exploration and proofs have one value for all text (`checks/explore`, `checks/smt`).
NO_TEXT = "text is opaque: compare what it is made of, or the members of an Enum"


def texts_are_not_compared(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """Note each line that has a collection told apart by text, or compares text."""
    told: set[object] = {(problem.place.file, problem.place.line) for problem in problems.found}
    for node in everything([machine]):
        found, line = _compared(node), (node.place.file, node.place.line)
        kind = None if found is None else _kind(node, found)
        if found is not None and line not in told and kind not in told:
            told |= {line, *([] if kind is None else [kind])}
            problems.add("L203", node.place, found, "values without text", NO_TEXT)


def _kind(node: ir.Node, found: str) -> str | None:
    """What is noted once for a machine: a collection that text tells apart. Each comparison is
    noted."""
    return found if isinstance(node, ir.Expr) and _told_apart(node.type) is not None else None


def _compared(node: ir.Node) -> str | None:
    """What the node compares that has text inside; None where it compares none."""
    match node:
        case ir.Expr(type=type) if (item := _told_apart(type)) is not None:
            return f"{type}, which tells values of {item} apart"
        case ir.Op(op=op, args=args) if op in ops.TELLING_APART and _any_text(args):
            return ops.text(op, [str(arg.type) for arg in args])
        case ir.Update(target=target, op="remove", args=args) if _any_text(args):
            return f"{target.type}.remove({', '.join(str(arg.type) for arg in args)})"
        case _:
            return None


def _told_apart(found: t.Type) -> t.Type | None:
    """The type of its elements or keys if that has text inside; what holds such a collection is
    made of expressions of its type."""
    match found:
        case t.Set(item=item) | t.Bag(item=item) | t.Map(key=item) if t.contains(item, t.Text):
            return item
        case _:
            return None


def _any_text(args: tuple[ir.Expr, ...]) -> bool:
    return any(t.contains(arg.type, t.Text) for arg in args)
