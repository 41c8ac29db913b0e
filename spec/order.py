"""The rule for loops over what has no order: whether a loop could show one. Syntactic.

Accepted are statements that assign a place indexed by the loop variable, that accumulate
commutatively into what the loop does not otherwise read, guards, calls of a part's transition on
the element; `if` over these; and locals assigned before use in the same round. A helper is judged
by its statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from . import ir
from .errors import Place
from .walk import everything, inlined, statements

COMMUTATIVE = frozenset({"add", "sub", "union", "intersection", "min", "max"})
COMMUTATIVE_UPDATES = frozenset({"add", "discard"})


def order_matters(loop: ir.Loop, functions: Sequence[ir.Function]) -> Place | None:
    """The first statement that could show the order of the rounds, or None."""
    body = _with_helpers(loop.body, functions)
    rounds = _Rounds(set(loop.names), body)
    culprit = rounds.judge(body)
    return culprit or rounds.read_elsewhere()


def _with_helpers(
    body: Iterable[ir.Stmt], functions: Sequence[ir.Function]
) -> tuple[ir.Stmt, ...]:
    out: list[ir.Stmt] = []
    for stmt in body:
        if isinstance(stmt, ir.Do) and stmt.into is None:
            out += _with_helpers(inlined(stmt, functions), functions)
        elif isinstance(stmt, ir.Branch):
            then, other = (_with_helpers(b, functions) for b in (stmt.then, stmt.other))
            out.append(ir.Branch(stmt.place, stmt.test, then, other))
        else:
            out.append(stmt)
    return tuple(out)


class _Rounds:
    """The rounds of one loop: what they change, and how often that is read harmlessly."""

    def __init__(self, own: set[str], body: tuple[ir.Stmt, ...]) -> None:
        self.own = own
        self.body = body
        self.changed: dict[ir.Expr, Place] = {}
        self.harmless: Counter[ir.Expr] = Counter()

    def judge(self, body: Iterable[ir.Stmt]) -> Place | None:
        """The first statement of a kind that is not accepted."""
        for stmt in body:
            if not self._accepted(stmt):
                return stmt.place
            if isinstance(stmt, ir.Branch):
                culprit = self.judge(stmt.then) or self.judge(stmt.other)
                if culprit is not None:
                    return culprit
        return None

    def read_elsewhere(self) -> Place | None:
        """Where something the rounds change is read other than at the loop variable."""
        for node in everything(self.body):
            self._note_harmless_read(node)
        seen = Counter(n for n in everything(self.body) if n in self.changed)
        for holder, place in self.changed.items():
            if seen[holder] > self.harmless[holder]:
                return place
        return None

    def _note_harmless_read(self, node: ir.Node) -> None:
        match node:
            case ir.Item(of=of, key=ir.Local(name=name)) if name in self.own:
                self.harmless[of] += of in self.changed
            case ir.Op(op="in" | "not_in", args=(ir.Local(name=name), of)) if name in self.own:
                self.harmless[of] += of in self.changed
            case _:
                pass

    def _accepted(self, stmt: ir.Stmt) -> bool:
        match stmt:
            case ir.Branch() | ir.Require() | ir.Refuse() | ir.Assert():
                return True
            case ir.Unpack(names=names):
                self.own.update(names)
                return True
            case ir.Assign(target=ir.Local() as local):
                return self._local(stmt, local)
            case ir.Assign(target=target):
                return self._indexed(target) or self._accumulates(stmt)
            case ir.Update(target=target, op=op, into=None):
                if op in COMMUTATIVE_UPDATES and not self._indexed(target):
                    self._change(target)
                    self.harmless[target] += 1
                    return True
                return self._indexed(target)
            case ir.Step(part=part, into=None):
                return self._indexed(part)
            case _:
                return False

    def _local(self, stmt: ir.Assign, local: ir.Local) -> bool:
        """A local of the round: assigned before any read of it in the body."""
        for other in statements(self.body):
            if other is stmt:
                self.own.add(local.name)
                return local not in set(everything((stmt.value,)))
            if local in set(everything((other,))) and not isinstance(other, ir.Branch):
                break
        return self._accumulates(stmt)

    def _indexed(self, target: ir.Expr) -> bool:
        """Whether the path is indexed by the loop variable: every round has its own place."""
        while isinstance(target, ir.Field | ir.Item | ir.Narrow):
            if isinstance(target, ir.Item) and isinstance(target.key, ir.Local):
                if target.key.name in self.own:
                    self._change(target.of)
                    return True
            target = target.of
        return False

    def _accumulates(self, stmt: ir.Assign) -> bool:
        match stmt.value:
            case ir.Op(op=op, args=(first, *rest)) if op in COMMUTATIVE and first == stmt.target:
                if any(stmt.target in set(everything((arg,))) for arg in rest):
                    return False
                self._change(stmt.target)
                self.harmless[stmt.target] += 2  # As target and as first operand.
                return True
            case _:
                return False

    def _change(self, holder: ir.Expr) -> None:
        self.changed.setdefault(holder, holder.place)
