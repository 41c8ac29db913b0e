"""The rule for loops over what has no order: whether a loop could show one. Syntactic.

Accepted: statements that assign a place indexed by the loop variable, that accumulate
commutatively into what the loop does not otherwise read, guards, calls of a part's transition on
the element; `if` over these; and locals assigned before use in the same round.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import ir
from .context import root
from .errors import Place
from .walk import everything

COMMUTATIVE = frozenset({"add", "sub", "union", "intersection", "min", "max"})


def order_matters(loop: ir.Loop) -> Place | None:
    """The first statement that could show the order of the rounds, or None."""
    own: set[str] = set(loop.names)
    accumulated = [s.target for s in everything(loop.body) if isinstance(s, ir.Assign)]
    return _judge(loop.body, own, loop, accumulated)


def _judge(
    body: Iterable[ir.Stmt], own: set[str], loop: ir.Loop, targets: list[ir.Expr]
) -> Place | None:
    for stmt in body:
        culprit = stmt.place if not _harmless(stmt, own, loop) else None
        if culprit is None and isinstance(stmt, ir.Branch):
            culprit = _judge(stmt.then, own, loop, targets) or _judge(stmt.other, own, loop, targets)
        if culprit is not None:
            return culprit
    return None


def _harmless(stmt: ir.Stmt, own: set[str], loop: ir.Loop) -> bool:
    match stmt:
        case ir.Branch() | ir.Require() | ir.Refuse() | ir.Assert():
            return True
        case ir.Assign(target=ir.Local(name=name), value=value):
            if not _reads_place(value, stmt.target) and name not in _read_outside(loop, stmt, own):
                own.add(name)
                return True
            return _accumulates(stmt, loop)
        case ir.Assign(target=target):
            return _indexed(target, own) or _accumulates(stmt, loop)
        case ir.Unpack(names=names):
            own.update(names)
            return True
        case ir.Update(target=target, op="add" | "discard" | "update"):
            return not _read_elsewhere(loop, target, stmt)
        case ir.Update(target=target):
            return _indexed(target, own)
        case ir.Step(part=part):
            return _indexed(part, own)
        case _:
            return False


def _read_outside(loop: ir.Loop, stmt: ir.Assign, own: set[str]) -> set[str]:
    """Locals of the loop that are read before they are assigned in the same round."""
    seen: set[str] = set(own)
    early: set[str] = set()
    for node in everything(loop.body):
        if isinstance(node, ir.Local) and node.name not in seen:
            if node is not stmt.target and not _is_target(node, loop):
                early.add(node.name)
        if isinstance(node, ir.Assign) and isinstance(node.target, ir.Local):
            if not _reads_place(node.value, node.target):
                seen.add(node.target.name)
    return early


def _is_target(node: ir.Local, loop: ir.Loop) -> bool:
    return any(isinstance(s, ir.Assign) and s.target is node for s in everything(loop.body))


def _indexed(target: ir.Expr, own: set[str]) -> bool:
    """Whether the path is indexed by the loop's variable itself."""
    while isinstance(target, ir.Field | ir.Item | ir.Narrow):
        if isinstance(target, ir.Item) and isinstance(target.key, ir.Local):
            if target.key.name in own:
                return True
        target = target.of
    return False


def _accumulates(stmt: ir.Assign, loop: ir.Loop) -> bool:
    match stmt.value:
        case ir.Op(op=op, args=args) if op in COMMUTATIVE and stmt.target in args:
            rest = [arg for arg in args if arg != stmt.target]
            first = args[0] == stmt.target or op not in ("sub",)
            inside = any(_reads_place(arg, stmt.target) for arg in rest)
            return first and not inside and not _read_elsewhere(loop, stmt.target, stmt)
        case _:
            return False


def _reads_place(expr: ir.Expr, target: ir.Expr) -> bool:
    return any(node == target for node in everything((expr,)))


def _read_elsewhere(loop: ir.Loop, target: ir.Expr, stmt: ir.Stmt) -> bool:
    """Whether another statement of the loop reads or writes the place or what holds it."""
    holder = target
    while isinstance(holder, ir.Item | ir.Narrow):
        holder = holder.of
    inside = {id(node) for node in everything((stmt,))}
    return any(
        node == holder and id(node) not in inside
        for node in everything((*loop.body, loop.over))
        if isinstance(root(holder), ir.Self | ir.Local)
    )
