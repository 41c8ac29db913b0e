"""Methods of text: `self.state.value.replace("_", " ")`, `str(n).upper()`.

A text that is written out, or is that of a member of an enum, is known when the declaration is
read, and Python computes the result. No engine but the runtime knows other text; there the methods
that give text again are operators.
"""

from __future__ import annotations

import dataclasses

from ... import ir, ops
from ... import types as t
from ...errors import a
from ...syntax import tree
from .. import tuples
from ..comprehensions import comprehension
from ..constants import constant
from ..context import Body
from ..expressions import iterable, unordered

KNOWN = ops.TEXTS.union(
    ("casefold", "lstrip", "rstrip", "replace", "removeprefix", "removesuffix"),
    ("startswith", "endswith", "isdigit", "isalpha", "center", "ljust", "rjust", "zfill"),
)


def text_method(b: Body, node: tree.Apply, of: ir.Expr, name: str) -> ir.Expr | None:
    """The result of a method of text; None for one that the language does not have."""
    if name == "join" and len(node.args) == 1 and not node.keywords:
        return _joined(b, node, of)
    given: list[object] = [arg.value for arg in node.args if isinstance(arg, tree.Literal)]
    if len(given) < len(node.args) or node.keywords:
        return None
    if name in KNOWN and (found := _known(b, node, of, (name, given))) is not None:
        return found
    if name in ops.TEXTS and not given:
        return ir.Op(node.place, t.TEXT, name, (of,))
    return None


def _joined(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
    """`", ".join(f"{n}" for n in ns)`, of texts in an order."""
    argument = node.args[0]
    if isinstance(argument, tree.Comprehension) and argument.kind in ("generator", "list"):
        texts = comprehension(b, argument, "tuple", None)
    else:
        texts, _ = iterable(b, argument)
    item = t.element(texts.type) or t.Unknown()
    if isinstance(texts.type, t.Tuple) and (whole := tuples.as_sequence(texts)):
        texts = whole[0]
    if isinstance(item, t.Unknown):
        return b.wrong(node.place)
    if not isinstance(item, t.Text):
        b.problem(
            "L203",
            argument.place,
            f"join of {a(item)}",
            "texts, as for Python's join",
            'write the text of each: ", ".join(f"{x}" for x in xs)',
        )
        return b.wrong(node.place)
    if not t.ordered(texts.type):
        unordered(b, node.place, "join of an unordered collection")
    return ir.Op(node.place, t.TEXT, "join", (of, texts))


def _known(
    b: Body, node: tree.Apply, of: ir.Expr, asked: tuple[str, list[object]]
) -> ir.Expr | None:
    match of:
        case ir.Const(value=str(text)):
            return _done(b, node, text, asked)
        case ir.Item(of=ir.Op(op="map", args=args, type=t.Map() as kind) as table):
            values = [v.value if isinstance(v, ir.Const) else None for v in args[1::2]]
            rows = [
                _done(b, node, text, asked) if isinstance(text, str) else None for text in values
            ]
            made = [row for row in rows if row is not None]
            if not made or len(made) < len(values):
                return None
            both = tuple(each for row in zip(args[::2], made, strict=True) for each in row)
            result = dataclasses.replace(kind, value=made[0].type)
            whole = dataclasses.replace(table, type=result, args=both)
            return ir.Item(node.place, result.value, whole, of.key)
        case _:
            return None


def _done(b: Body, node: tree.Apply, text: str, asked: tuple[str, list[object]]) -> ir.Expr | None:
    """What Python gives, as a constant; None where it gives something else or refuses."""
    name, given = asked
    try:
        found: object = getattr(text, name)(*given)
    except (TypeError, ValueError):
        return None
    return constant(b, found, node.place) if isinstance(found, str | bool) else None
