"""IR expressions -> Python expressions, each at its own place in the user's file.

Values are Python's own: sets, dicts, lists and Counters inside a machine, frozensets, tuples and
`FrozenMap`s where the type is immutable. A timer is its deadline, or None while it is stopped.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.partiality import always_defined, mixed
from lawful.spec.sorting import in_order
from lawful.spec.syntax.declare import slot
from lawful.spec.text.reasons import spoken
from lawful.spec.values.world import FrozenMap

from ..kernel import dispatch, operators
from .global_names import GlobalNames
from .python_ast import attribute, call, located, name, target, without_places
from .templates import BUILTINS, TemplateFiller, template

PYTHON: dict[type[t.Type], type[Any]] = {
    t.Int: int,
    t.Bool: bool,
    t.Tuple: tuple,
    t.Seq: tuple,
    t.Set: frozenset,
    t.Map: FrozenMap,
}
# What is copied. A part or clock belongs to its variable, and a tuple of containers is never kept.
CONTAINER = t.Set | t.Map | t.Seq | t.Bag


COMPARED: dict[str, type[ast.cmpop]] = {
    "lt": ast.Lt,
    "le": ast.LtE,
    "gt": ast.Gt,
    "ge": ast.GtE,
}
KEYED: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "min_of": min,
    "max_of": max,
    "min_or": min,
    "max_or": max,
    "sorted": sorted,
}


class Expressions:
    """Emits the expressions of one function; `me` is the local that holds the state."""

    def __init__(self, names: GlobalNames, functions: dict[str, str], me: str) -> None:
        self.names = names
        self.functions = functions
        self.me = me

    def use(self, function: Callable[..., Any] | type[Any]) -> str:
        """The global name of a function of the runtime, or of a builtin."""
        return self.names.put(function.__name__, function)

    def expr(self, e: ir.Expr) -> ast.expr:
        """The expression as Python; a map that it makes is immutable, so that it can be a key."""
        made = located(EMIT[e.__class__](self, e), e.place)
        return located(call(self.use(FrozenMap), made), e.place) if _makes_map(e) else made

    def plainly(self, e: ir.Expr) -> ast.expr:
        """The expression as Python; a map that it makes stays a mutable dict."""
        return located(EMIT[e.__class__](self, e), e.place)

    def exprs(self, given: Iterable[ir.Expr]) -> list[ast.expr]:
        return [self.expr(e) for e in given]

    def value(self, e: ir.Expr, place: t.Type) -> ast.expr:
        """The expression as a value to keep in a place of this type: unshared, and immutable if the
        type is."""
        if _makes_map(e):
            return self.expr(e) if t.immutable(place) else self.plainly(e)
        made = self.expr(e)
        if isinstance(e.type, t.Map) and e.type.mutable and t.immutable(place):
            return located(call(self.use(FrozenMap), made), e.place)
        if isinstance(e.type, CONTAINER) and not t.immutable(e.type) and not _fresh(e):
            return located(call(self.use(copier(e.type)), made), e.place)
        if isinstance(e.type, t.Iter):
            return located(call(self.use(tuple), made), e.place)
        return made

    def given(self, e: ir.Expr) -> ast.expr:
        """The expression as an argument of a function that takes immutable values only."""
        made = self.expr(e)
        mutable = isinstance(e.type, t.Map) and e.type.mutable and not _makes_map(e)
        return located(call(self.use(FrozenMap), made), e.place) if mutable else made

    # One method for each kind of expression.

    def constant(self, e: ir.Const) -> ast.expr:
        match e.type, e.value:
            case t.Enum(name=kind), str(member):
                value = self.names.world.enums[kind][member]
                return name(self.names.put(f"{kind}_{member}", value))
            case t.Sort(name=kind), str(text):
                return call(self.use(self.names.world.sorts[kind]), ast.Constant(text))
            case t.Timer(), _:
                return ast.Constant(None)
            case t.Clock(tick=tick), _:
                return call(self.use(operators.ticking), name(self.me), ast.Constant(tick))
            case _, value:
                return ast.Constant(value)

    def local(self, e: ir.Local) -> ast.expr:
        return name(e.name)

    def myself(self, e: ir.Self) -> ast.expr:
        return name(self.me)

    def field(self, e: ir.Field) -> ast.expr:
        match e.of.type:
            case t.Part():
                return attribute(self.expr(e.of), slot(e.name))
            case t.Timer():
                return ast.Compare(self.expr(e.of), [ast.IsNot()], [ast.Constant(None)])
            case _:
                return attribute(self.expr(e.of), e.name)

    def item(self, e: ir.Item) -> ast.expr:
        return ast.Subscript(self.expr(e.of), self.given(e.key), ast.Load())

    def operation(self, e: ir.Op) -> ast.expr:
        if e.op == "map":
            return self._map(e)
        by_rank = self._by_rank(e)
        if by_rank is not None:
            return by_rank
        greater = self._greater(e)
        if greater is not None:
            return greater
        args = self._operands(e)
        if e.op == "counter_of" and isinstance(e.args[0].type, t.Map | t.Bag):
            return call(self.use(operators.counted), args[0])
        filled = TemplateFiller(args, self.names.put).visit(
            without_places(template(e.op, len(args)))
        )
        assert isinstance(filled, ast.expr)
        if e.op == "set" and isinstance(e.type, t.Set) and not e.type.mutable:
            return call(self.use(frozenset), filled)
        if e.op == "keys":
            # A view would change with the map. `in` looks into the map itself (see `_operands`).
            return call(self.use(frozenset), filled)
        return filled

    def _greater(self, e: ir.Op) -> ast.expr | None:
        """`max` or `min` of two integers that are read without a call; None for all others.

        Like Python's, it is the first of two equal ones."""
        compared = {"max": ast.Gt, "min": ast.Lt}.get(e.op)
        if compared is None or len(e.args) != 2 or not all(map(_is_read, e.args)):
            return None
        one, other = e.args
        test = ast.Compare(self.expr(other), [compared()], [self.expr(one)])
        return ast.IfExp(test, self.expr(other), self.expr(one))

    def _by_rank(self, e: ir.Op) -> ast.expr | None:
        """An operation that compares elements by rank; None for all others."""
        first = e.args[0].type if e.args else t.NOTHING
        if e.op in ops.RANKS:
            asked = self.use(getattr(operators, e.op))
            return call(asked, name(self.me), ast.Constant(str(first)), self.expr(e.args[0]))
        if e.op in COMPARED and t.by_rank(first):
            order = self._order(first)
            left, right = (call(order, each) for each in self.exprs(e.args))
            return ast.Compare(left, [COMPARED[e.op]()], [right])
        kind = first if e.op in ("min", "max") else t.element(first)
        if e.op not in KEYED or kind is None or not t.by_rank(kind):
            return None
        args, default = self.exprs(e.args), list[ast.keyword]()
        if e.op in ("min_or", "max_or"):
            default = [ast.keyword("default", args.pop())]
        made = call(self.use(KEYED[e.op]), *args)
        made.keywords = [*default, ast.keyword("key", self._order(kind))]
        return made

    def _order(self, kind: t.Type) -> ast.expr:
        """The sort key of values of this type, as Python."""
        of = name(self.names.number("type", kind))
        return call(self.use(operators.order), name(self.me), of)

    def _operands(self, e: ir.Op) -> list[ast.expr]:
        match e:
            case ir.Op(op="in" | "not_in", args=(one, ir.Op(op="keys", args=(map,)))):
                return [self.given(one), self.expr(map)]
            case ir.Op(op="in" | "not_in", args=(one, of)):
                return [self.given(one), self.expr(of)]
            case ir.Op(op="get" | "count" | "index", args=(of, key, *rest)):
                return [self.expr(of), self.given(key), *self.exprs(rest)]
            case ir.Op(op=op, args=args) if op in ops.DISPLAYS:
                kinds = _items(e.type, len(args))
                return [self.value(arg, kind) for arg, kind in zip(args, kinds, strict=True)]
            case _:
                return self.exprs(e.args)

    def _map(self, e: ir.Op) -> ast.expr:
        kind = e.type
        assert isinstance(kind, t.Map | t.Bag)
        to = kind.value if isinstance(kind, t.Map) else t.INT
        keys: list[ast.expr | None] = [*map(self.given, e.args[::2])]
        return ast.Dict(keys, [self.value(v, to) for v in e.args[1::2]])

    def conjunction(self, e: ir.And) -> ast.expr:
        return ast.BoolOp(ast.And(), self.exprs(e.args))

    def alternative(self, e: ir.Or) -> ast.expr:
        return ast.BoolOp(ast.Or(), self.exprs(e.args))

    def conditional(self, e: ir.If) -> ast.expr:
        arms = (e.then, e.other)
        if t.immutable(e.type):  # One arm may be a map that the machine changes later.
            return ast.IfExp(self.expr(e.test), *(self.value(arm, e.type) for arm in arms))
        return ast.IfExp(self.expr(e.test), *self.exprs(arms))

    def record(self, e: ir.Make) -> ast.expr:
        kind = e.type
        assert isinstance(kind, t.Record)
        cls = self.names.world.records[kind.name]
        fields = zip(e.args, kind.fields, strict=True)
        return call(self.use(cls), *(self.value(arg, of) for arg, (_, of) in fields))

    def new(self, e: ir.New) -> ast.expr:
        kind = e.type
        assert isinstance(kind, t.Part)
        made = call(self.names.maker(kind.machine), name(self.me))
        made.keywords = [ast.keyword(key, self.given(value)) for key, value in e.args]
        return made

    def view(self, e: ir.View) -> ast.expr:
        assert isinstance(e.type, t.Part)
        made = call(self.use(operators.view), name(self.me), ast.Constant(e.type.machine))
        made.keywords = [ast.keyword(key, self.given(value)) for key, value in e.args]
        return made

    def comprehension(self, e: ir.Comp) -> ast.expr:
        shown = e.kind == "map" or mixed((e,))  # The order of a map's keys shows from outside.
        generators = [self.clause(c, shown) for c in e.clauses]
        element = self.value(e.element, t.element(e.type) or e.element.type)
        match e.kind, e.type:
            case "map", t.Map(value=value):
                assert e.key is not None
                made: ast.expr = ast.DictComp(
                    self.given(e.key), self.value(e.element, value), generators
                )
                frozen = not e.type.mutable
                return call(self.use(FrozenMap), made) if frozen else made
            case "set", t.Set(mutable=mutable):
                made = ast.SetComp(element, generators)
                return made if mutable else call(self.use(frozenset), made)
            case "list", _:
                return ast.ListComp(element, generators)
            case "first", _:
                return ast.GeneratorExp(element, generators)
            case "all" | "any" as fold, _ if _all_count(e):
                return call(self.use(BUILTINS[fold]), ast.ListComp(element, generators))
            case fold, _:
                made = call(self.use(BUILTINS[fold]), ast.GeneratorExp(element, generators))
                if fold in ("min", "max") and t.by_rank(e.type):
                    made.keywords = [ast.keyword("key", self._order(e.type))]
                return made

    def clause(self, c: ir.Clause, shown: bool) -> ast.comprehension:
        over = self.iterated(c.over, shown)
        return ast.comprehension(
            located(target(c.names), c.place), over, self.exprs(c.conditions), 0
        )

    def iterated(self, e: ir.Expr, shown: bool) -> ast.expr:
        """The iterable of a loop: sorted if the order is visible; the map itself for a map's
        keys."""
        match e:
            case ir.Op(op="keys", args=(of,)):
                made = self.expr(of)
            case _:
                made = self.expr(e)
        return call(self.use(in_order), made) if shown and not t.ordered(e.type) else made

    def is_a(self, e: ir.IsA) -> ast.expr:
        of = self.expr(e.of)
        none = ast.Constant(None)
        if e.options == (t.NOTHING,):
            return ast.Compare(of, [ast.Is()], [none])
        wanted = set(e.options)
        if wanted == set(t.options(e.of.type)) - {t.NOTHING}:
            return ast.Compare(of, [ast.IsNot()], [none])
        classes: list[ast.expr] = [name(self.use(self.class_of(o))) for o in e.options]
        return call(
            self.use(isinstance),
            of,
            classes[0] if len(classes) == 1 else ast.Tuple(classes, ast.Load()),
        )

    def class_of(self, kind: t.Type) -> type[Any]:
        """The class whose instances the values of this type are."""
        match kind:
            case t.Record(name=key):
                return self.names.world.records[key]
            case t.Enum(name=key):
                return self.names.world.enums[key]
            case t.Sort(name=key):
                return self.names.world.sorts[key]
            case t.Nothing():
                return type(None)
            case _:
                return PYTHON[type(kind)]

    def narrow(self, e: ir.Narrow) -> ast.expr:
        return self.expr(e.of)

    def needed(self, e: ir.Needed) -> ast.expr:
        nothing = ast.arguments([], [], None, [], [], None, [])
        why: ast.expr = self.expr(e.why)
        if not isinstance(e.why, ir.Const):
            why = ast.Lambda(nothing, why)
        return call(self.use(operators.needed), self.expr(e.of), why)

    def can(self, e: ir.Can) -> ast.expr:
        args = [self.expr(e.part), ast.Constant(e.name), *map(self.given, e.args)]
        return call(self.use(dispatch.possible), *args)

    def helper(self, e: ir.Call) -> ast.expr:
        if e.of is None or isinstance(e.of, ir.Self):
            kinds = self.names.params[e.function]
            given = (self._passed(arg, k) for arg, k in zip(e.args, kinds, strict=True))
            return call(self.functions[e.function], name(self.me), *given)
        args = [self.expr(e.of), ast.Constant(e.function), *map(self.given, e.args)]
        return call(self.use(operators.ask), *args)

    def _passed(self, e: ir.Expr, kind: t.Type) -> ast.expr:
        return self.given(e) if t.immutable(kind) else self.expr(e)

    def domain(self, e: ir.Domain) -> ast.expr:
        item = t.element(e.type)
        match item:
            case t.Enum(name=key):
                return name(self.names.put(f"{key}_all", tuple(self.names.world.enums[key])))
            case t.Bool():
                return ast.Tuple([ast.Constant(False), ast.Constant(True)], ast.Load())
            case t.Sort(name=key):
                return call(self.use(operators.universe), name(self.me), ast.Constant(key))
            case _:
                kind = name(self.names.number("type", item))
                return call(self.use(operators.values), name(self.me), kind)

    def formatted(self, e: ir.Format) -> ast.expr:
        parts: list[ast.expr] = []
        for part in e.parts:
            if isinstance(part, ir.Const) and isinstance(part.value, str):
                parts.append(ast.Constant(part.value))
            else:
                kind = name(self.names.number("type", part.type))
                spoken_text = call(self.use(spoken), self.expr(part), kind)
                parts.append(ast.FormattedValue(spoken_text, -1, None))
        return ast.JoinedStr(parts)


def _is_read(e: ir.Expr) -> bool:
    """Whether it is an integer that no call gives: a constant, a local, or a field."""
    match e:
        case ir.Const(type=t.Int()) | ir.Local(type=t.Int()):
            return True
        case ir.Field(of=ir.Self() | ir.Local(type=t.Record()), type=t.Int()):
            return True
        case _:
            return False


def copier(kind: t.Type) -> type[Any]:
    """The class that copies a mutable container of this type."""
    match kind:
        case t.Set():
            return set
        case t.Map():
            return dict
        case t.Seq():
            return list
        case _:
            return Counter


def _items(kind: t.Type, count: int) -> tuple[t.Type, ...]:
    return kind.items if isinstance(kind, t.Tuple) else (t.element(kind) or t.Unknown(),) * count


def _makes_map(e: ir.Expr) -> bool:
    """Whether it makes a new map, which the caller of `value` may keep mutable or freeze."""
    return isinstance(e.type, t.Map) and e.type.mutable and _fresh(e)


def _fresh(e: ir.Expr) -> bool:
    """Whether its evaluation makes a new container, which nothing else holds."""
    return isinstance(e, ir.Comp | ir.New) or (isinstance(e, ir.Op) and e.op not in ops.HELD)


def _all_count(e: ir.Comp) -> bool:
    """Whether every element must be evaluated: one may be undefined, and no order says which
    elements come first."""
    if all(t.ordered(c.over.type) for c in e.clauses):
        return False
    inside = [e.element, *(test for c in e.clauses for test in c.conditions)]
    return not always_defined(*inside)


EMIT: dict[type[ir.Expr], Callable[[Expressions, Any], ast.expr]] = {
    ir.Const: Expressions.constant,
    ir.Local: Expressions.local,
    ir.Self: Expressions.myself,
    ir.Field: Expressions.field,
    ir.Item: Expressions.item,
    ir.Op: Expressions.operation,
    ir.And: Expressions.conjunction,
    ir.Or: Expressions.alternative,
    ir.If: Expressions.conditional,
    ir.Make: Expressions.record,
    ir.New: Expressions.new,
    ir.View: Expressions.view,
    ir.Comp: Expressions.comprehension,
    ir.IsA: Expressions.is_a,
    ir.Narrow: Expressions.narrow,
    ir.Needed: Expressions.needed,
    ir.Can: Expressions.can,
    ir.Call: Expressions.helper,
    ir.Domain: Expressions.domain,
    ir.Format: Expressions.formatted,
}
