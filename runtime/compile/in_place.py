"""Copy elision: a container that nobody else holds is updated in place, with an undo record.

Elsewhere a step copies a container before it changes it, because a view, an observer, a copy of
the instance or a traceback may still hold the old one. CPython's reference count says whether any
does. Where none does, the step changes one place of the container and keeps what was there, in
case the step fails later: by an undefined operation or a breach of bounds, since no guard follows.
Undoing restores an equal container; a map's key that was deleted comes back as the last one.

The statements that may update in place: `s.add(x)`, `s.discard(x)`, `s.remove(x)`, `m[k] = v`,
`del m[k]`, `q.append(x)` and `q.pop(0)`, on a variable that the step changes there and nowhere
else, with nothing after it that may refuse.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.places import variable_of
from lawful.spec.analysis.walk import everything
from lawful.spec.syntax.declare import slot

from ..kernel.commit import limited
from ..kernel.dispatch import UNSET
from .expressions import GlobalNames
from .python_ast import assign, attribute, call, compare, if_, name

MAY_REFUSE = (
    ir.Require,
    ir.Refuse,
    ir.Assert,
    ir.Needed,
    ir.Step,
    ir.Base,
    ir.Do,
    ir.Call,
    ir.Can,
)
# Later versions do not count borrowed references, and without the lock counts may lag.
COUNTS = (
    sys.implementation.name == "cpython"
    and sys.version_info < (3, 14)
    and getattr(sys, "_is_gil_enabled", lambda: True)()
)


class _Holder:
    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held = set[int]()


def _alone() -> int:
    """The reference count of a container that one slot and one local hold."""
    holder = _Holder()
    old = holder.held
    return sys.getrefcount(old)


ALONE = _alone()


def in_place_writes(body: Sequence[ir.Stmt], kinds: dict[str, t.Type]) -> dict[int, str]:
    """The statements of a body that may update in place, by `id`, and the variable of each."""
    found: dict[int, str] = {}
    for i, stmt in enumerate(body if COUNTS else ()):
        variable = _changed(stmt)
        if variable is None or not _is_in_place(stmt, kinds[variable]):
            continue
        others = [s for s in body if s is not stmt]
        touched = any(variable == variable_of(p) for p in _places(others))
        if not touched and not any(isinstance(n, MAY_REFUSE) for n in everything(body[i:])):
            found[id(stmt)] = variable
    return found


def _places(body: Sequence[ir.Stmt]) -> list[ir.Expr]:
    """The places that the statements assign or change."""
    return [node.target for node in everything(body) if isinstance(node, ir.Assign | ir.Update)] + [
        node.into
        for node in everything(body)
        if isinstance(node, ir.Update) and node.into is not None
    ]


def _changed(stmt: ir.Stmt) -> str | None:
    """The variable of which the statement changes one place."""
    match stmt:
        case ir.Assign(target=ir.Item(of=ir.Field(of=ir.Self(), name=variable))):
            return variable
        case ir.Update(target=ir.Field(of=ir.Self(), name=variable)):
            return variable
        case _:
            return None


def _is_in_place(stmt: ir.Stmt, kind: t.Type) -> bool:
    match kind, stmt:
        case t.Set(mutable=True), ir.Update(op="add" | "discard" | "remove"):
            return True
        case t.Map(mutable=True, value=value), (ir.Assign() | ir.Update(op="delete")):
            return t.immutable(value) and not limited(kind)
        case t.Seq(mutable=True, item=item), ir.Update(op="append"):
            return t.immutable(item)
        case t.Seq(mutable=True, item=item), ir.Update(op="pop", args=args):
            first = len(args) == 1 and isinstance(args[0], ir.Const) and args[0].value == 0
            return t.immutable(item) and first
        case _:
            return False


# Code.


class InPlaceWrite:
    """Emits the code around one update in place: the record before it, and its undoing."""

    def __init__(self, names: GlobalNames, variable: str, kind: t.Type) -> None:
        self.names = names
        self.variable = variable
        self.kind = kind
        self.old = names.local(f"old_{variable}")
        self.at = names.local(f"at_{variable}")
        self.was = names.local(f"was_{variable}")

    def use(self, function: Callable[..., Any]) -> str:
        return self.names.put(function.__name__, function)

    def begin(self) -> ast.stmt:
        """Mark the record as empty: nothing was changed yet."""
        return assign(name(self.was), name(self.names.put("UNSET", UNSET)))

    def before(self, me: str, at: ast.expr | None) -> list[ast.stmt]:
        """Copy the container if another reference to it exists; record the old value of the
        place."""
        held = attribute(name(me), slot(self.variable))
        count = call(self.names.put("getrefcount", sys.getrefcount), name(self.old))
        shared = compare(count, ast.Gt(), ast.Constant(ALONE))
        out: list[ast.stmt] = [if_(shared, assign(held, call(attribute(name(self.old), "copy"))))]
        if at is None:
            first = call(self.use(_ends), name(self.old))
            return [*out, assign(name(self.was), first)]
        out.append(assign(name(self.at), at))
        if isinstance(self.kind, t.Set):
            was: ast.expr = compare(name(self.at), ast.In(), name(self.old))
        else:
            absent = name(self.names.put("ABSENT", ABSENT))
            was = call(attribute(name(self.old), "get"), name(self.at), absent)
        return [*out, assign(name(self.was), was)]

    def undo(self) -> ast.stmt:
        """Restore what the record says; a container that was copied has not changed."""
        unset = name(self.names.put("UNSET", UNSET))
        args = [name(self.old), name(self.was)]
        if isinstance(self.kind, t.Set):
            back = call(self.use(_back_in_set), *args, name(self.at))
        elif isinstance(self.kind, t.Map):
            back = call(self.use(_back_in_map), *args, name(self.at))
        else:
            back = call(self.use(_back_in_list), *args)
        return if_(compare(name(self.was), ast.IsNot(), unset), ast.Expr(back))


ABSENT = object()


def _ends(held: list[Any]) -> tuple[int, Any]:
    """The length of a list, and its first item."""
    return len(held), held[0] if held else ABSENT


def _back_in_set(held: set[Any], was: bool, at: Any) -> None:
    (held.add if was else held.discard)(at)


def _back_in_map(held: dict[Any, Any], was: Any, at: Any) -> None:
    if was is ABSENT:
        held.pop(at, None)
    else:
        held[at] = was


def _back_in_list(held: list[Any], was: tuple[int, Any]) -> None:
    length, first = was
    del held[length:]
    if len(held) < length:
        held.insert(0, first)
