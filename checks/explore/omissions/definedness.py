"""Which parts of a test may have no value, if the tests before it were true."""

from __future__ import annotations

from collections.abc import Iterator

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.partiality import may_be_undefined
from lawful.spec.analysis.walk import children

from .inlining import inlined


class Defined:
    """Knows which expressions have a value, from the tests that are true."""

    def __init__(self, whole: ir.Machine) -> None:
        self.whole = whole
        self.known: frozenset[ir.Expr] = frozenset()
        self.filled: frozenset[ir.Expr] = frozenset()  # Collections that are not empty.

    def learn(self, test: ir.Expr) -> None:
        """The test is true, or nothing after it is evaluated."""
        match test:
            case ir.And(args=args):
                for arg in args:
                    self.learn(arg)
            case ir.IsA(of=of):
                self.known |= {of}
            case ir.Op(op="in", args=(key, ir.Expr(type=t.Map(value=value)) as of)):
                self.known |= {ir.Item(of.place, value, of, key)}
            case ir.Op(op="gt", args=(ir.Op(op="len", args=(of,)), ir.Const(value=0))):
                self.filled |= {of}
            case _:
                pass

    def partial(self, node: ir.Node) -> Iterator[ir.Expr]:
        """The expressions in a test that may have no value."""
        if node in self.known:
            return
        match node:
            case ir.And(args=args) | ir.Or(args=args):
                yield from self._in_turn(args, isinstance(node, ir.And))
            case ir.Call():
                inside = inlined(self.whole, node)
                for each in (node,) if inside is None else (*node.args, inside):
                    yield from (each,) if each is node else self.partial(each)
            case ir.Expr() if may_be_undefined(node) and not self._is_there(node):
                yield node
            case _:
                for inner in children(node):
                    yield from self.partial(inner)

    def _in_turn(self, args: tuple[ir.Expr, ...], every: bool) -> Iterator[ir.Expr]:
        """Each is evaluated where those before it are true, or where they are false."""
        before = self.known, self.filled
        for arg in args:
            yield from self.partial(arg)
            if every:
                self.learn(arg)
            elif isinstance(arg, ir.Op) and arg.op == "not":
                self.learn(arg.args[0])
        self.known, self.filled = before

    def _is_there(self, node: ir.Expr) -> bool:
        """Whether an item has a value whatever its key is, or is the first of what has one."""
        match node:
            case ir.Item(of=ir.Expr(type=t.Map(total=True)), key=key):
                return isinstance(key.type, t.Sort | t.Enum | t.Bool)
            case ir.Item(of=of, key=ir.Const(value=0)):
                return isinstance(of.type, t.Seq) and of in self.filled
            case _:
                return False
