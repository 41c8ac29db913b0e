"""Copy elision: a container that nobody else holds is updated in place, with an undo record.

Elsewhere a step copies a container before it changes it, because a view, an observer, a copy of
the instance or a traceback may still hold the old one. CPython's reference count says whether any
does. Where none does, the step changes one place of the container and keeps what was there, in
case the step fails later. Undoing restores an equal container.

    if self._counts is old_counts and getrefcount(old_counts) > 3:
        self._counts = old_counts.copy()
    at_counts = key
    was_counts = old_counts.get(at_counts, ABSENT)
    self._counts[at_counts] = count

A step may replace the container before: it then changes what it made itself, and the record says
of the old one what is true of it, so that undoing changes nothing. For a container in a map, the
record has both places.

Undoing stands in the handler itself and calls no function by name: CPython delivers no interrupt
before it is done, and it needs no deeper stack than the change did. Only keys whose class hashes or
compares in Python run code meanwhile, which an interrupt may end; such undoing is repeated.

The statements that may update in place, outside loops: `s.add(x)`, `s.discard(x)`, `s.remove(x)`,
`m[k] = v`, `q.append(x)` and `q.pop(0)`; and `del m[k]` and `m.pop(k)` with nothing after them that
may refuse, since a key that comes back is the last one. The container is a variable, or an item of
one that is a map.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.partiality import always_defined
from lawful.spec.analysis.places import variable_of
from lawful.spec.analysis.walk import everything, statements, written
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.syntax.declare import slot

from ..kernel.before_images import ABSENT
from ..kernel.commit import limited
from ..kernel.dispatch import UNSET
from .expressions import copier
from .global_names import GlobalNames
from .python_ast import all_of, assign, attribute, call, compare, if_, name, negated

# Without the lock counts may lag; what later versions count is not known.
COUNTS = (
    sys.implementation.name == "cpython"
    and sys.version_info < (3, 15)
    and getattr(sys, "_is_gil_enabled", lambda: True)()
)
# The count of a container that one slot and one local hold. It is at least so much before 3.14,
# where the argument of `getrefcount` counts, too; since then a call borrows it from the local.
ALONE = 2 if sys.version_info >= (3, 14) else 3


@dataclass(frozen=True, slots=True)
class PlaceChanged:
    """A statement that changes one place of a container: of a variable, or of the container at
    `key` of a variable, whose type is `outer`.

    `pops`: a list loses its first item. `first`: nothing before it may have replaced the
    variable's container.
    """

    variable: str
    outer: t.Type
    kind: t.Type
    key: ir.Expr | None
    pops: bool
    first: bool


def in_place_writes(
    body: Sequence[ir.Stmt],
    kinds: dict[str, t.Type],
    may_refuse: Callable[[Sequence[ir.Stmt]], bool],
) -> dict[int, PlaceChanged]:
    """The statements of a body that may update in place, by `id`, in the order of the text."""
    found: dict[int, PlaceChanged] = {}
    for i, stmt in enumerate(body if COUNTS else ()):
        for each in outside_loops(stmt):
            change = place_changed(each, kinds)
            if change is not None and not (loses_a_key(each) and may_refuse(body[i:])):
                found[id(each)] = change
    calls = any(isinstance(n, ir.Do | ir.Base | ir.Step) for n in everything(body))
    touched = Counter(variable_of(p) for stmt in statements(body) for p in written(stmt))
    return {
        key: dataclasses.replace(change, first=not calls and touched[change.variable] == 1)
        for key, change in found.items()
    }


def outside_loops(stmt: ir.Stmt) -> Iterator[ir.Stmt]:
    """The statement, or those in its branches."""
    match stmt:
        case ir.Branch(then=then, other=other):
            for each in (*then, *other):
                yield from outside_loops(each)
        case ir.Loop():
            pass
        case _:
            yield stmt


def place_changed(stmt: ir.Stmt, kinds: dict[str, t.Type]) -> PlaceChanged | None:
    """What the statement changes; None where it may not do so in place."""
    match stmt:
        case ir.Assign(target=ir.Item(of=place, key=at)):
            given: tuple[ir.Expr, ...] = (at,)
        case ir.Update(target=place, args=given):
            pass
        case _:
            return None
    pops = isinstance(stmt, ir.Update) and isinstance(place.type, t.Seq) and stmt.op == "pop"
    if not _is_in_place(stmt, place.type):
        return None
    match place:
        case ir.Field(of=ir.Self(), name=variable):
            return PlaceChanged(variable, place.type, place.type, None, pops, True)
        case ir.Item(of=ir.Field(of=ir.Self(), name=variable), key=key):
            kind = kinds[variable]
            # The inner container is looked up before what is put into it is evaluated.
            if not isinstance(kind, t.Map) or limited(kind) or not always_defined(key, *given):
                return None
            return PlaceChanged(variable, kind, place.type, key, pops, True)
        case _:
            return None


def loses_a_key(stmt: ir.Stmt) -> bool:
    """Whether a map loses a key."""
    return (
        isinstance(stmt, ir.Update)
        and isinstance(stmt.target.type, t.Map)
        and stmt.op in ("delete", "pop")
    )


def _is_in_place(stmt: ir.Stmt, kind: t.Type) -> bool:
    match kind, stmt:
        case t.Set(mutable=True), ir.Update(op="add" | "discard" | "remove"):
            return True
        case t.Map(mutable=True, value=value), ir.Update(op="pop"):
            return t.immutable(value) and not limited(kind)
        case t.Map(mutable=True, value=value), (ir.Assign() | ir.Update(op="delete")):
            inner = isinstance(value, t.Map | t.Set | t.Seq | t.Part)
            return (inner or t.immutable(value)) and not limited(kind)
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

    `error`: the local that has the exception. `number` tells the locals of a method's updates
    apart. `holder`: the container that is changed. `earlier`: the updates before it in the method.
    """

    def __init__(
        self,
        names: GlobalNames,
        change: PlaceChanged,
        error: str,
        number: int,
        earlier: Sequence[InPlaceWrite],
    ) -> None:
        self.names = names
        # The locals that may hold the same container as the holder of this one.
        self.others = [each.holder for each in earlier if each.is_inside(change.variable)]
        self.change = change
        self.kind = change.kind
        self.error = error
        self.old = names.local(f"old_{change.variable}")
        mine = f"{change.variable}{number or ''}"
        self.at = names.local(f"at_{mine}")
        self.was = names.local(f"was_{mine}")
        self.holder: str = self.old if change.key is None else names.local(f"inner_{mine}")
        self.key = names.local(f"key_{mine}")
        self.replaced = names.local(f"replaced_{mine}")
        self.mine = names.local(f"is_old_{mine}")

    def is_inside(self, variable: str) -> bool:
        """Whether a container inside this variable is changed."""
        return self.change.key is not None and self.change.variable == variable

    def use(self, function: Callable[..., Any]) -> str:
        return self.names.put(function.__name__, function)

    def unset(self) -> ast.expr:
        return name(self.names.put("UNSET", UNSET))

    def container(self, held: ast.expr) -> ast.expr:
        """The container that is changed, where `held` is that of the variable."""
        return held if self.change.key is None else name(self.holder)

    def begin(self) -> list[ast.stmt]:
        """Mark the record as empty: nothing was changed yet."""
        inner = () if self.change.key is None else (self.replaced, self.holder)
        return [assign(name(each), self.unset()) for each in (self.was, *inner)]

    def before(self, me: str, key: ast.expr | None, at: ast.expr | None) -> list[ast.stmt]:
        """Copy the container if another reference to it exists; record the old value of the place.

        `key` is that of the inner container."""
        held = functools.partial(attribute, name(me), slot(self.change.variable))
        shared: ast.expr = self.shared(self.old)
        if not self.change.first:
            shared = all_of([compare(held(), ast.Is(), name(self.old)), shared])
        own = assign(held(), call(attribute(name(self.old), "copy")))
        out: list[ast.stmt] = [if_(shared, own)]
        if key is not None:
            out += self.entered(held, key)
        if at is None:
            length: ast.expr = call(self.use(len), name(self.holder))
            if self.change.pops:
                one = ast.Slice(None, ast.Constant(1), None)
                items = ast.Subscript(name(self.holder), one, ast.Load())
                out.append(assign(name(self.at), items))
                length = ast.BinOp(length, ast.Sub(), ast.Constant(1))
            return [*out, assign(name(self.was), length)]
        out.append(assign(name(self.at), at))
        if isinstance(self.kind, t.Set):
            was: ast.expr = compare(name(self.at), ast.In(), name(self.holder))
        else:
            absent = name(self.names.put("ABSENT", ABSENT))
            was = call(attribute(name(self.holder), "get"), name(self.at), absent)
        return [*out, assign(name(self.was), was)]

    def shared(self, container: str) -> ast.expr:
        """The test that something else holds the container of this local, too."""
        count = call(self.names.put("getrefcount", sys.getrefcount), name(container))
        known: ast.expr = ast.Constant(ALONE)
        for other in self.others if container == self.holder else ():
            same = compare(name(other), ast.Is(), name(container))
            known = ast.BinOp(known, ast.Add(), same)
        return compare(count, ast.Gt(), known)

    def entered(self, held: Callable[[], ast.expr], key: ast.expr) -> list[ast.stmt]:
        """Take the inner container; if another reference to it exists, a copy replaces it."""
        item = functools.partial(ast.Subscript, ctx=ast.Load())
        copied = call(self.use(copier(self.kind)), name(self.holder))
        return [
            assign(name(self.key), key),
            assign(name(self.holder), item(held(), name(self.key))),
            if_(
                self.shared(self.holder),
                assign(name(self.mine), compare(held(), ast.Is(), name(self.old))),
                assign(name(self.replaced), name(self.holder)),
                assign(name(self.holder), copied),
                assign(item(held(), name(self.key)), name(self.holder)),
            ),
        ]

    def after(self) -> list[ast.stmt]:
        """Nothing is left to do."""
        return []

    def recorded(self) -> ast.expr:
        """What was recorded, for a before-image; see `kernel.before_images.Recorded`."""
        at: ast.expr = name(self.at)
        if isinstance(self.kind, t.Seq) and not self.change.pops:
            at = ast.Constant(None)
        row: list[ast.expr] = [ast.Constant(self.change.variable), ast.Constant(self.change.pops)]
        row += [at, name(self.was)]
        if self.change.key is not None:
            # Where the inner container is the old one, `is_old` has no value.
            same = compare(name(self.replaced), ast.Is(), self.unset())
            mine = ast.IfExp(same, ast.Constant(True), name(self.mine))
            row += [name(self.key), name(self.holder), name(self.replaced), mine]
        untouched = compare(name(self.was), ast.Is(), self.unset())
        return ast.IfExp(untouched, ast.Constant(None), ast.Tuple(row, ast.Load()))

    def undo(self) -> list[ast.stmt]:
        """Restore what the record says; a container that was copied has not changed."""
        changed = compare(name(self.was), ast.IsNot(), self.unset())
        out: list[ast.stmt] = [if_(changed, *self.repeated(self.back, self.kind))]
        if self.change.key is not None:
            mine = [compare(name(self.replaced), ast.IsNot(), self.unset()), name(self.mine)]
            out.append(if_(all_of(mine), *self.repeated(self.outer, self.change.outer)))
        return out

    def outer(self) -> ast.stmt:
        """Put back the inner container that a copy has replaced."""
        place = ast.Subscript(name(self.old), name(self.key), ast.Load())
        return assign(place, name(self.replaced))

    def repeated(self, back: Callable[[], ast.stmt], kind: t.Type) -> list[ast.stmt]:
        """The undoing; again after an interrupt where it runs code of Python."""
        if isinstance(kind, t.Seq) or not _runs_python(_key(kind)):
            return [back()]
        return repeated(self.names, self.error, back)

    def back(self) -> ast.stmt:
        """Put back what was at the place; doing it twice is doing it once."""
        at, was, old = name(self.at), name(self.was), name(self.holder)
        match self.kind:
            case t.Set():
                one = ast.Set([at])
                add = ast.AugAssign(ast.Name(self.holder, ast.Store()), ast.BitOr(), one)
                drop = ast.AugAssign(ast.Name(self.holder, ast.Store()), ast.Sub(), one)
                return ast.If(was, [add], [drop])
            case t.Map():
                absent = name(self.names.put("ABSENT", ABSENT))
                gone = ast.Delete([ast.Subscript(old, at, ast.Del())])
                put = assign(ast.Subscript(old, at, ast.Load()), was)
                is_absent = compare(was, ast.Is(), absent)
                return ast.If(is_absent, [if_(compare(at, ast.In(), old), gone)], [put])
            case _:
                rest = ast.Subscript(old, ast.Slice(was, None, None), ast.Load())
                if not self.change.pops:
                    return ast.Delete([ast.Subscript(old, ast.Slice(was, None, None), ast.Del())])
                start = ast.Subscript(old, ast.Slice(None, ast.Constant(0), None), ast.Load())
                return if_(negated(rest), assign(start, at))


def repeated(names: GlobalNames, error: str, back: Callable[[], ast.stmt]) -> list[ast.stmt]:
    """The undoing, once more after each of three interrupts; the local `error` has the last."""
    out: list[ast.stmt] = [back()]
    for number in range(3):
        again = names.local(f"again{number}")
        told = assign(name(error), name(again))
        caught = ast.ExceptHandler(name("BaseException"), again, [told, *out])
        out = [ast.Try([back()], [caught], [], [])]
    return out


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
