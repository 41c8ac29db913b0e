"""The values of parameters for which a guard is true: it narrows their extents."""

from __future__ import annotations

from dataclasses import replace

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.quick_dataclass import dataclass

from .extents import arithmetic, element, met, plus, unbounded, united
from .reach import Env, Reach

NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq", "not_in": "in"}
MIRRORED = {"gt": "lt", "ge": "le", "superset": "subset", "proper_superset": "proper_subset"}


@dataclass(frozen=True, slots=True)
class Guards:
    """Narrows the extents of parameters in place, by guards that are true."""

    reach: Reach

    def header(self, test: ir.Expr, env: Env) -> None:
        """A source or a timer of a family: its key exists, or the step is refused."""
        for node in everything((test,)):
            match node:
                case ir.Item(of=ir.Expr(type=t.Map()) as of, key=key):
                    held = self.reach.of(of, env)
                    if isinstance(held, t.Map):
                        self.narrow(key, held.key, env)
                case _:
                    pass

    def require(self, test: ir.Expr, env: Env) -> None:
        """Narrow the extents to values with which the test can be true."""
        match test:
            case ir.And(args=args):
                for arg in args:
                    self.require(arg, env)
            case ir.Or(args=args):
                self._any(args, env)
            case ir.Op(op="not", args=(inner,)):
                self._refused(inner, env)
            case ir.IsA(of=of, options=options):
                self.narrow(of, t.union(tuple(map(unbounded, options))), env)
            case ir.Comp(kind="all", clauses=(ir.Clause(conditions=()) as clause,)):
                self._all(test, clause, env)
            case ir.Op(op=op, args=(left, right)):
                if op in MIRRORED:
                    op, left, right = MIRRORED[op], right, left
                self._related(op, (left, right), env)
            case _:
                pass

    def _any(self, args: tuple[ir.Expr, ...], env: Env) -> None:
        ways: list[Env] = []
        for arg in args:
            ways.append(dict(env))
            self.require(arg, ways[-1])
        for name, kind in env.items():
            env[name] = united(way[name] for way in ways) or kind

    def _refused(self, test: ir.Expr, env: Env) -> None:
        """The same of a test that is false."""
        match test:
            case ir.Op(op="not", args=(inner,)):
                self.require(inner, env)
            case ir.Op(op=op) if op in NEGATED:
                self.require(replace(test, op=NEGATED[op]), env)
            case ir.Or(args=args):
                for arg in args:
                    self._refused(arg, env)
            case _:
                pass

    def _all(self, test: ir.Comp, clause: ir.Clause, env: Env) -> None:
        """Something is true of every element of a collection."""
        held = self.reach.of(clause.over, env)
        if len(clause.names) != 1 or not isinstance(held, t.Seq | t.Set | t.Bag):
            return
        inside = {**env, clause.names[0]: held.item}
        self.require(test.element, inside)
        self.narrow(clause.over, replace(held, item=inside[clause.names[0]]), env)

    def _related(self, op: str, sides: tuple[ir.Expr, ir.Expr], env: Env) -> None:
        left, right = sides
        one, other = self.reach.of(left, env), self.reach.of(right, env)
        match op, one, other:
            case "eq", _, _:
                self.narrow(left, other, env)
                self.narrow(right, one, env)
            case "lt" | "le", t.Int(), t.Int():
                apart = 1 if op == "lt" else 0
                self.narrow(left, t.Int(None, plus(other.high, -apart)), env)
                self.narrow(right, t.Int(plus(one.low, apart), None), env)
            case "in", _, _:
                held = element(other)
                if held is not None:
                    self.narrow(left, held, env)
            case "subset" | "proper_subset", t.Set(), t.Set():
                self.narrow(left, replace(one, item=other.item), env)
            case _:
                pass

    def narrow(self, e: ir.Expr, kind: t.Type, env: Env) -> None:
        """An expression has this extent: narrow the locals from which it is computed."""
        both = met(self.reach.of(e, env), kind)
        match e, both:
            case ir.Local(name=name), _ if name in env:
                env[name] = both
            case ir.Narrow(of=of), _:
                self.narrow(of, both, env)
            case ir.Field(of=of, name=name), _:
                self._field(of, name, both, env)
            case (ir.Make(args=args), t.Record(fields=fields)):
                for arg, (_, inner) in zip(args, fields, strict=True):
                    self.narrow(arg, inner, env)
            case ir.Op(op="tuple", args=args), t.Tuple(items=items):
                for arg, inner in zip(args, items, strict=True):
                    self.narrow(arg, inner, env)
            case ir.Op(), t.Int():
                self._number(e, both, env)
            case _:
                pass

    def _field(self, of: ir.Expr, name: str, kind: t.Type, env: Env) -> None:
        record = self.reach.of(of, env)
        if isinstance(record, t.Record):
            fields = tuple((n, kind if n == name else k) for n, k in record.fields)
            self.narrow(of, t.Record(record.name, fields), env)

    def _number(self, e: ir.Op, kind: t.Int, env: Env) -> None:
        """The result of an operation is within an interval: so are its operands."""
        match e.op, [(arg, self.reach.of(arg, env)) for arg in e.args]:
            case "add", [(a, t.Int() as one), (b, t.Int() as other)]:
                self.narrow(a, arithmetic("sub", (kind, other)) or one, env)
                self.narrow(b, arithmetic("sub", (kind, one)) or other, env)
            case "sub", [(a, t.Int() as one), (b, t.Int() as other)]:
                self.narrow(a, arithmetic("add", (kind, other)) or one, env)
                self.narrow(b, arithmetic("sub", (one, kind)) or other, env)
            case "neg", [(a, t.Int() as one)]:
                self.narrow(a, arithmetic("neg", (kind,)) or one, env)
            case "len" | "total", [(a, (t.Seq() | t.Bag()) as held)] if kind.high is not None:
                self.narrow(a, replace(held, most=max(0, kind.high)), env)
            case _:
                pass
