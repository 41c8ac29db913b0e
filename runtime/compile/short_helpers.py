"""Calls of short helpers, replaced by the statements of the helper.

    self.put(key, 1)       where put is      self.known.add(key)        self.known.add(key)
                                             self.counts[key] = n       self.counts[key] = 1

The note of a change in place that a helper makes takes longer than the change. So a method of an
event holds the statements themselves, under the lines of the helper, if the helper changes
containers and nothing but time and a debugger's stack show it: it stands in the same file, no
statement of it can fail, assigns a local or gives a value, and each argument is a constant or a
local.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.partiality import always_defined
from lawful.spec.analysis.walk import everything, replaced
from lawful.spec.ops import PARTIAL_UPDATES

from .helper_writes import callee

MOST = 8  # Statements; a longer helper costs more than its call.
# Other expressions may bind a name, which an argument may have, too.
EXPRESSIONS = (ir.Const, ir.Field, ir.Item, ir.Local, ir.Narrow, ir.Op, ir.Self)


def with_short_helpers(
    body: Sequence[ir.Stmt],
    function_of: Callable[[str], ir.Function],
    body_of: Callable[[str], Sequence[ir.Stmt]],
    file: str,
) -> tuple[ir.Stmt, ...]:
    """The statements, with those of short helpers of this file in the place of their calls."""

    def expanded(stmts: Sequence[ir.Stmt]) -> tuple[ir.Stmt, ...]:
        return tuple(made for each in stmts for made in put(each))

    def put(stmt: ir.Stmt) -> tuple[ir.Stmt, ...]:
        match stmt:
            case ir.Branch(then=then, other=other):
                both = expanded(then), expanded(other)
                same = both == (then, other)
                return (stmt if same else dataclasses.replace(stmt, then=both[0], other=both[1]),)
            case ir.Do(call=ir.Call(args=args), into=None) if callee(stmt) is not None:
                key = stmt.call.function
                helper, mine = function_of(key), expanded(body_of(key))
                if (
                    helper.place.file != file
                    or not _is_short(mine)
                    or not all(map(_is_plain, args))
                ):
                    return (stmt,)
                return _substituted(mine, helper, args)
            case _:
                return (stmt,)

    return expanded(body)


def _is_plain(arg: ir.Expr) -> bool:
    """Whether it has the same value wherever it stands."""
    return isinstance(arg, ir.Local | ir.Const) and t.immutable(arg.type)


def _is_short(body: Sequence[ir.Stmt]) -> bool:
    changes = any(isinstance(each, ir.Update) or _is_item(each) for each in body)
    return changes and len(body) <= MOST and all(map(_cannot_fail, body))


def _is_item(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.Assign) and isinstance(stmt.target, ir.Item)


def _cannot_fail(stmt: ir.Stmt) -> bool:
    match stmt:
        case ir.Assign(target=ir.Field(of=ir.Self()), value=value):
            read: tuple[ir.Expr, ...] = (value,)
        case ir.Assign(target=ir.Item(of=ir.Field(of=ir.Self()), key=key), value=value):
            read = value, key
        case ir.Update(target=ir.Field(of=ir.Self()), op=op, args=args, into=None):
            of_container = isinstance(stmt.target.type, t.Set | t.Seq | t.Map | t.Bag)
            if op in PARTIAL_UPDATES or not of_container:
                return False
            read = args
        case _:
            return False
    return always_defined(*read) and all(isinstance(n, EXPRESSIONS) for n in everything(read))


def _substituted(
    body: Sequence[ir.Stmt], helper: ir.Function, args: Sequence[ir.Expr]
) -> tuple[ir.Stmt, ...]:
    given = dict(zip((name for name, _ in helper.params), args, strict=True))

    def change(node: ir.Node) -> ir.Node | None:
        if not isinstance(node, ir.Local):
            return None
        return dataclasses.replace(given[node.name], place=node.place)

    made = [replaced(stmt, change) for stmt in body]
    return tuple(stmt for stmt in made if isinstance(stmt, ir.Stmt))
