"""The rule for loops over unordered collections: whether the result could depend on the order.
Syntactic.

Accepted are assignments to a place indexed by the loop variable; commutative accumulation into
variables that the loop does not otherwise read, or one constant assigned to them; guards; calls
of a part's transition on the element; `if` over these; and locals assigned before use in the same
round. A helper is judged by its statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from .. import ir, ops
from .. import types as t
from ..errors import Place
from .places import holder
from .walk import everything, free_locals, inlined, own_expressions, statements

# The group of what an update of a set accumulates.
UPDATES = {"add": "union", "update": "union", "discard": "difference"}

Groups = frozenset[tuple[str, ir.Expr | None]]


def order_matters(loop: ir.Loop, functions: Sequence[ir.Function]) -> Place | None:
    """The first statement that could show the order of the rounds, or None."""
    rounds = _Rounds(loop, functions)
    return rounds.judge(rounds.body, set(loop.names)) or rounds.read_elsewhere()


def identity(names: tuple[str, ...], over: ir.Expr) -> frozenset[str]:
    """The names that together differ from round to round: of `items()`, the key alone."""
    if len(names) == 2 and isinstance(over, ir.Op) and over.op == "items":
        return frozenset(names[:1])
    return frozenset(names)


def injective(key: ir.Expr, names: frozenset[str]) -> bool:
    """Whether rounds that differ in these names have different keys."""
    return bool(names) and names <= _direct(key)


def _direct(key: ir.Expr) -> frozenset[str]:
    match key:
        case ir.Local(name=name):
            return frozenset({name})
        case ir.Make(args=args) | ir.Op(op="tuple", args=args):
            return frozenset(name for arg in args for name in _direct(arg)) | _whole(args)
        case _:
            return frozenset()


def _whole(args: Sequence[ir.Expr]) -> frozenset[str]:
    """The tuples of which every item is among these."""
    found: dict[ir.Local, set[object]] = {}
    for arg in args:
        match arg:
            case ir.Item(of=ir.Local(type=t.Tuple()) as of, key=ir.Const(value=index)):
                found.setdefault(of, set()).add(index)
            case _:
                pass
    return frozenset(
        of.name
        for of, given in found.items()
        if isinstance(of.type, t.Tuple) and given >= {*range(len(of.type.items))}
    )


def with_helpers(body: Iterable[ir.Stmt], functions: Sequence[ir.Function]) -> tuple[ir.Stmt, ...]:
    """The statements with the bodies of helpers in the place of their calls."""
    out: list[ir.Stmt] = []
    for stmt in body:
        if isinstance(stmt, ir.Do) and stmt.into is None:
            inside = inlined(stmt, functions)
            out += inside if stmt in inside else with_helpers(inside, functions)
        elif isinstance(stmt, ir.Branch):
            then, other = (with_helpers(b, functions) for b in (stmt.then, stmt.other))
            out.append(ir.Branch(stmt.place, stmt.test, then, other))
        else:
            out.append(stmt)
    return tuple(out)


def plain_locals(body: Iterable[ir.Stmt]) -> frozenset[str]:
    """The locals that the statements assign otherwise than by accumulating."""
    return frozenset(name for stmt in body for name in _assigned(stmt))


def _assigned(stmt: ir.Stmt) -> Iterator[str]:
    match stmt:
        case ir.Assign(target=ir.Local(name=name)):
            if accumulates(stmt) is None:
                yield name
        case ir.Unpack(names=names):
            yield from names
        case ir.Branch(then=then, other=other):
            yield from plain_locals((*then, *other))
        case ir.Loop(names=names, body=body):
            yield from names
            yield from plain_locals(body)
        case ir.Update(into=into) | ir.Step(into=into) | ir.Base(into=into) | ir.Do(into=into):
            if isinstance(into, ir.Local):
                yield into.name
        case _:
            pass


def accumulates(stmt: ir.Assign) -> str | None:
    """The group of a commutative accumulation `x = x + e`, or None; of one that begins with a
    default, `m[k] = m.get(k, 0) + 1`, the default belongs to the group."""
    match stmt.value:
        case ir.Op(op=op, args=args) if op in ops.TABLE and (first := _begun(stmt.target, args)):
            row, (at, default) = ops.TABLE[op], first
            if row.accumulates is None or (row.left_only and at):
                return None
            return f"{row.accumulates} from {default.value!r}"
        case ir.Op(op=op, args=args) if op in ops.TABLE and args.count(stmt.target) == 1:
            row = ops.TABLE[op]
            if not row.left_only or args[0] == stmt.target:
                return row.accumulates
        case _:
            pass
    return None


def _begun(target: ir.Expr, args: Sequence[ir.Expr]) -> tuple[int, ir.Const] | None:
    """Which operand is `m.get(k, default)`, where `m[k]` is assigned, and the default."""
    found = [
        (at, arg.args[2])
        for at, arg in enumerate(args)
        if isinstance(arg, ir.Op) and arg.op == "get" and isinstance(target, ir.Item)
        if len(arg.args) == 3 and arg.args[:2] == (target.of, target.key)
    ]
    match found:
        case [(at, ir.Const() as default)]:
            return at, default
        case _:
            return None


class _Rounds:
    """The rounds of one loop: the places that they change, and the reads that are part of these
    changes."""

    def __init__(self, loop: ir.Loop, functions: Sequence[ir.Function]) -> None:
        self.functions = {f.name: f for f in functions}
        self.body = with_helpers(loop.body, functions)
        self.locals = plain_locals(self.body)
        own = identity(loop.names, loop.over)
        self.own = frozenset[str]() if own & self.locals else own
        self.groups: dict[ir.Expr, Groups] = {}
        self.places: dict[ir.Expr, Place] = {}
        self.harmless: Counter[ir.Expr] = Counter()

    def judge(self, body: Iterable[ir.Stmt], known: set[str]) -> Place | None:
        """The first statement that is not accepted; `known` are the locals of this round so far."""
        for stmt in body:
            for name, place in free_locals(own_expressions(stmt)):
                if name in self.locals and name not in known:
                    return place
            if not self._accepted(stmt):
                return stmt.place
            if isinstance(stmt, ir.Branch):
                then, other = set(known), set(known)
                culprit = self.judge(stmt.then, then) or self.judge(stmt.other, other)
                if culprit is not None:
                    return culprit
                known |= then & other
            else:
                known.update(_assigned(stmt))
        return None

    def read_elsewhere(self) -> Place | None:
        """A place that the rounds change in two ways, or that other rounds read; None if there is
        none."""
        nodes = list(self._all_nodes(self.body, set()))
        for held, groups in self.groups.items():
            if not groups:
                return self.places[held]
            at = next((of for group, of in groups if group == "own"), None)
            harmless = self.harmless[held]
            if at is not None:
                harmless = sum(self._at_element(node, at) for node in nodes)
            if sum(node == held for node in nodes) > harmless or ANYTHING in nodes:
                return self.places[held]
        return None

    def _all_nodes(self, nodes: Iterable[object], seen: set[str]) -> Iterator[ir.Node]:
        """The nodes, and those of the helpers that are called in them."""
        for node in everything(nodes):
            yield node
            if isinstance(node, ir.Call) and node.function not in seen:
                seen.add(node.function)
                called = self.functions.get(node.function)
                if called is not None:
                    yield from self._all_nodes(called.body, seen)
                elif isinstance(node.of, ir.Self):
                    yield ANYTHING  # A property: it may read whatever there is.

    def _at_element(self, node: ir.Node, at: ir.Expr) -> bool:
        """Whether the node reads or changes the container only at the loop variable."""
        match node:
            case ir.Item(of=of, key=key):
                return of == at and injective(key, self.own)
            case ir.Op(op="in" | "not_in", args=(key, of)) | ir.Op(op="get", args=(of, key, *_)):
                return of == at and injective(key, self.own)
            case ir.Update(target=target, op=op, args=(key, *_)) if op in ops.ELEMENT_UPDATES:
                return target == at and injective(key, self.own)
            case _:
                return False

    def _accepted(self, stmt: ir.Stmt) -> bool:
        match stmt:
            case ir.Branch() | ir.Require() | ir.Refuse() | ir.Assert() | ir.Unpack():
                return True
            case ir.Assign(target=ir.Local(name=name)) if name in self.locals:
                return True
            case ir.Assign(target=ir.Field(of=ir.Self()) as target, value=ir.Const(value=value)):
                return self._change(target, f"= {value!r}", 1)
            case ir.Assign(target=target):
                group = accumulates(stmt)
                # An accumulator stands as the target and as an operand.
                return self._change(target, group, 1 + (group is not None))
            case ir.Update(target=target, op=op, args=args, into=None):
                group = UPDATES.get(op) if isinstance(target.type, t.Set) else None
                own = op in ops.ELEMENT_UPDATES and args and injective(args[0], self.own)
                return self._change(target, group, 1, target if own else None)
            case ir.Step(part=part, into=None):
                return self._change(part, None, 1)
            case _:
                return False

    def _change(
        self, target: ir.Expr, group: str | None, times: int, at: ir.Expr | None = None
    ) -> bool:
        """Note a change; false where no two rounds could make it in either order."""
        found: set[tuple[str, ir.Expr | None]] = set()
        if group is not None:
            found.add((group, None))
        at = at if at is not None else self._container(target)
        if at is not None:
            found.add(("own", at))
        if not found:
            return False
        held = holder(target)
        known = self.groups.get(held)
        self.groups[held] = frozenset(found) if known is None else known & found
        self.places.setdefault(held, target.place)
        self.harmless[held] += times
        return True

    def _container(self, target: ir.Expr) -> ir.Expr | None:
        """The container of which the path has the item at the loop variable, if it has."""
        while isinstance(target, ir.Item | ir.Narrow):
            if isinstance(target, ir.Item) and injective(target.key, self.own):
                return target.of
            target = target.of
        return None


ANYTHING = ir.Const(Place("", 0, 0, 0, 0), t.Unknown(), "anything")


def _flags(loop: ir.Loop) -> set[str]:
    """The locals that a loop assigns one constant, wherever it assigns them: which of the rounds
    does so last shows nowhere."""
    given: dict[str, set[ir.Expr | None]] = {}
    for stmt in statements(loop.body):
        match stmt:
            case ir.Assign(target=ir.Local(name=name), value=ir.Const() as value):
                given.setdefault(name, set()).add(value)
            case ir.Branch():
                pass
            case ir.Loop(names=names):
                given |= {name: {None} for name in names}
            case _:
                for name in _assigned(stmt):
                    given.setdefault(name, set()).add(None)
    return {n for n, v in given.items() if len(v) == 1 and None not in v} - {*loop.names}


def last_round_shown(body: Iterable[ir.Stmt]) -> Place | None:
    """The place where a body reads a local that the last round of an unordered loop assigned, or
    None."""
    return _read_stale(body, set())


def _read_stale(body: Iterable[ir.Stmt], stale: set[str]) -> Place | None:
    for stmt in body:
        for name, place in free_locals(own_expressions(stmt)):
            if name in stale:
                return place
        culprit = None
        if isinstance(stmt, ir.Branch):
            then, other = set(stale), set(stale)
            culprit = _read_stale(stmt.then, then) or _read_stale(stmt.other, other)
            stale.clear()
            stale.update(then | other)
        elif isinstance(stmt, ir.Loop):
            culprit = _read_stale_in_rounds(stmt, stale)
        else:
            stale -= set(_assigned(stmt))
        if culprit is not None:
            return culprit
    return None


def _read_stale_in_rounds(loop: ir.Loop, stale: set[str]) -> Place | None:
    ordered = t.ordered(loop.over.type)
    left = set[str]() if ordered else {*loop.names, *plain_locals(loop.body)} - _flags(loop)
    for _ in range(2):  # What one round leaves, the next may read.
        rounds = stale - set(loop.names)
        culprit = _read_stale(loop.body, rounds)
        if culprit is not None:
            return culprit
        stale |= rounds
    stale |= left
    return None
