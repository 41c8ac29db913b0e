"""Copy elision: a container that nobody else holds is updated in place, with an undo record.

Elsewhere a step copies a container before it changes it, because a view, an observer, a copy of
the instance or a traceback may still hold the old one. CPython's reference count says whether any
does. Where none does, the step changes one place of the container and keeps what was there, in
case the step fails later: by an undefined operation or a breach of bounds, since no guard follows.
Undoing restores an equal container; a map's key that was deleted comes back as the last one.

Undoing stands in the handler itself and calls no function by name: CPython delivers no interrupt
before it is done, and it needs no deeper stack than the change did. Only keys whose class hashes or
compares in Python run code meanwhile, which an interrupt may end; such undoing is repeated.

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
from .python_ast import assign, attribute, call, compare, if_, name, negated

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


def in_place_writes(
    body: Sequence[ir.Stmt], kinds: dict[str, t.Type]
) -> dict[int, tuple[str, bool]]:
    """The statements of a body that may update in place, by `id`: the variable of each, and
    whether it pops the first item of a list."""
    found: dict[int, tuple[str, bool]] = {}
    for i, stmt in enumerate(body if COUNTS else ()):
        variable = _changed(stmt)
        if variable is None or not _is_in_place(stmt, kinds[variable]):
            continue
        others = [s for s in body if s is not stmt]
        touched = any(variable == variable_of(p) for p in _places(others))
        if not touched and not any(isinstance(n, MAY_REFUSE) for n in everything(body[i:])):
            found[id(stmt)] = variable, isinstance(stmt, ir.Update) and stmt.op == "pop"
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
    """Emits the code around one update in place: the record before it, and its undoing.

    `error`: the local that has the exception. `pops`: a list loses its first item, and gets no new
    last one.
    """

    def __init__(
        self, names: GlobalNames, variable: str, kind: t.Type, error: str, pops: bool
    ) -> None:
        self.names = names
        self.variable = variable
        self.kind = kind
        self.error = error
        self.pops = pops
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
            length: ast.expr = call(self.use(len), name(self.old))
            if self.pops:
                one = ast.Slice(None, ast.Constant(1), None)
                out.append(assign(name(self.at), ast.Subscript(name(self.old), one, ast.Load())))
                length = ast.BinOp(length, ast.Sub(), ast.Constant(1))
            return [*out, assign(name(self.was), length)]
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
        return if_(compare(name(self.was), ast.IsNot(), unset), *self.repeated(3))

    def repeated(self, times: int) -> list[ast.stmt]:
        """The undoing, once more after each of so many interrupts."""
        back: list[ast.stmt] = [self.back()]
        if isinstance(self.kind, t.Seq) or not _runs_python(_key(self.kind)):
            return back
        for number in range(times):
            again = self.names.local(f"again{number}")
            told = assign(name(self.error), name(again))
            caught = ast.ExceptHandler(name("BaseException"), again, [told, *back])
            back = [ast.Try([self.back()], [caught], [], [])]
        return back

    def back(self) -> ast.stmt:
        """Put back what was at the place; doing it twice is doing it once."""
        at, was, old = name(self.at), name(self.was), name(self.old)
        match self.kind:
            case t.Set():
                one = ast.Set([at])
                add = ast.AugAssign(ast.Name(self.old, ast.Store()), ast.BitOr(), one)
                drop = ast.AugAssign(ast.Name(self.old, ast.Store()), ast.Sub(), one)
                return ast.If(was, [add], [drop])
            case t.Map():
                absent = name(self.names.put("ABSENT", ABSENT))
                gone = ast.Delete([ast.Subscript(old, at, ast.Del())])
                put = assign(ast.Subscript(old, at, ast.Load()), was)
                is_absent = compare(was, ast.Is(), absent)
                return ast.If(is_absent, [if_(compare(at, ast.In(), old), gone)], [put])
            case _:
                rest = ast.Subscript(old, ast.Slice(was, None, None), ast.Load())
                if not self.pops:
                    return ast.Delete([ast.Subscript(old, ast.Slice(was, None, None), ast.Del())])
                start = ast.Subscript(old, ast.Slice(None, ast.Constant(0), None), ast.Load())
                return if_(negated(rest), assign(start, at))


def _key(kind: t.Type) -> t.Type:
    """The type of what a set or map hashes."""
    return kind.key if isinstance(kind, t.Map) else t.element(kind) or t.Unknown()


def _runs_python(kind: t.Type) -> bool:
    """Whether hashing or comparing a value of this type runs Python code."""
    match kind:
        case t.Int() | t.Bool() | t.Nothing():
            return False
        case t.Tuple(items=inner) | t.Union(options=inner):
            return any(map(_runs_python, inner))
        case _:
            return True


ABSENT = object()
