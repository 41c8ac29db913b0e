"""The symbolic meaning of expressions: what `meaning` does with values, done with terms."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from lawful.checks.smt.algebra.term import Term
from lawful.spec import ir
from lawful.spec import types as t

from .iteration import Rounds
from .lengths import erase
from .operators import OPERATORS
from .sequences import item
from .sorts import NotEncodable, fields_of
from .time import stopped
from .trail import (
    Composite,
    Element,
    Elements,
    OtherState,
    StatePath,
    Unencodable,
    Value,
)


class Evaluator(Rounds):
    """Evaluates expressions; a value is a term of its expression's type wherever there is one."""

    def eval(self, e: ir.Expr) -> Value:
        """The value; what it needs that has no value, or refuses, stops the execution."""
        try:
            return EVAL[e.__class__](self, e)
        except NotEncodable as error:
            raise error if error.place else NotEncodable(error.construct, e.place) from error

    @abstractmethod
    def call(self, e: ir.Call) -> Value:
        """The value of a helper."""

    @abstractmethod
    def can(self, e: ir.Can) -> Term:
        """Whether the step would not be refused."""

    def read(self, place: StatePath) -> Value:
        """What stands at a place of the state; its keys are known to be there."""
        value: Value = OtherState(self.state)
        for at in place:
            if at.key is not None:
                value = self.encoding.get(at.of, self.sure(value), at.key)[1]
            else:
                value = self.field_of(value, at.of, at.name)
        return value


# One small function for each kind of expression.


def _const(run: Evaluator, e: ir.Const) -> Value:
    logic = run.logic
    match e.type:
        case t.Bool():
            return logic.truth(bool(e.value))
        case t.Timer():
            return stopped(run.encoding)
        case t.Int() | t.Clock():
            return logic.number(int(e.value or 0))
        case t.Float() if isfinite(float(e.value or 0)):
            return logic.fraction(float(e.value or 0))
        case t.Enum() | t.Sort():
            return run.encoding.element(e.type, str(e.value))
        case t.Nothing():
            return logic.make(run.encoding.data(t.NOTHING), 0, [])
        case _:
            raise NotEncodable(f"a literal of type {e.type}")


def _local(run: Evaluator, e: ir.Local) -> Value:
    value, kind = run.frame.locals[e.name]
    return value if erase(kind) == erase(e.type) else run.fit(value, kind, e.type, e)


def _self(run: Evaluator, e: ir.Self) -> Value:
    own = run.frame.own
    if isinstance(own, tuple):
        return run.read(own)
    assert own is not None
    return own


def _field(run: Evaluator, e: ir.Field) -> Value:
    return run.field_of(run.eval(e.of), e.of.type, e.name)


def _item(run: Evaluator, e: ir.Item) -> Value:
    kind = e.of.type
    of = run.eval(e.of)
    match kind:
        case t.Map(key=key_type):
            key = run.to_term(e.key, key_type)
            there, value = run.held(kind, run.term(of, kind, e), key)
            run.stop("undefined", run.logic.negate(there), e)
            return value
        case t.Bag(item=element):
            key = run.to_term(e.key, element)
            return run.encoding.get(kind, run.term(of, kind, e), key)[1]
        case t.Seq():
            return item(run, run.opened(of, kind, e), run.to_term(e.key), e)
        case t.Tuple(items=items) if isinstance(e.key, ir.Const):
            return run.field_of(of, kind, str(int(e.key.value or 0) % len(items)))
        case _:
            raise NotEncodable(f"an item of a {kind}")


def _op(run: Evaluator, e: ir.Op) -> Value:
    values = [run.eval(arg) for arg in e.args]
    return OPERATORS[e.op](run, e, values)


def _and(run: Evaluator, e: ir.And) -> Term:
    holds = run.logic.true
    for arg in e.args:
        with run.where(holds):
            holds = run.logic.all((holds, run.to_term(arg)))
    return holds


def _or(run: Evaluator, e: ir.Or) -> Term:
    holds = run.logic.false
    for arg in e.args:
        with run.where(run.logic.negate(holds)):
            holds = run.logic.any((holds, run.to_term(arg)))
    return holds


def _if(run: Evaluator, e: ir.If) -> Value:
    test = run.to_term(e.test)
    with run.where(test):
        then = run.of_type(e.then, e.type)
    with run.where(run.logic.negate(test)):
        other = run.of_type(e.other, e.type)
    return run.merge(test, then, other, e)


def _make(run: Evaluator, e: ir.Make) -> Value:
    assert isinstance(e.type, t.Record)
    pairs = zip(e.args, e.type.fields, strict=True)
    return run.made(e.type, [run.of_type(arg, kind) for arg, (_, kind) in pairs])


def _new(run: Evaluator, e: ir.New) -> Value:
    assert isinstance(e.type, t.Part)
    machine = run.encoding.inner(e.type.machine)
    types = dict(fields_of(machine))
    given = {name: run.of_type(arg, types[name]) for name, arg in e.args}
    made = run.made(e.type, list(defaults(run, machine, given).values()))
    for p in machine.of_kind("assume"):
        run.frame.locals[NEW] = (made, e.type)
        call = ir.Call(e.place, t.BOOL, p.name, ir.Local(e.place, e.type, NEW), ())
        run.stop("undefined", run.logic.negate(run.sure(run.call(call))), e)
    return made


def _view(run: Evaluator, e: ir.View) -> Value:
    assert isinstance(e.type, t.Part)
    machine = run.encoding.inner(e.type.machine)
    types = dict(fields_of(machine))
    given = {name: run.of_type(arg, types[name]) for name, arg in e.args}
    return run.made(e.type, list(defaults(run, machine, given).values()))


NEW = "_new"  # No local of a declaration has this name.


def defaults(run: Evaluator, machine: ir.Machine, given: Mapping[str, Value]) -> dict[str, Value]:
    """The fields of a new machine: defaults, and what is given; the rest is arbitrary."""
    out: dict[str, Value] = {}
    for name, kind, initial in [
        *((v.name, v.type, v.initial) for v in machine.variables),
        *((p.name, p.type, p.default) for p in machine.parameters),
    ]:
        try:
            if name in given:
                out[name] = given[name]
            elif isinstance(kind, t.Clock) and machine is not run.encoding.machine:
                out[name] = run.now()
            elif initial is not None:
                out[name] = run.of_type(initial, kind)
            elif isinstance(kind, t.Part):
                inner = run.encoding.inner(kind.machine)
                out[name] = run.made(kind, list(defaults(run, inner, {}).values()))
            else:
                out[name] = run.encoding.fresh(f"{name}_unset", kind)
        except NotEncodable as error:
            out[name] = Unencodable(f"{machine.name}.{name}: {error.construct}")
    return out


def _comp(run: Evaluator, e: ir.Comp) -> Value:
    sorted_elements = all(t.ordered(clause.over.type) for clause in e.clauses)
    quit = e.kind if e.kind in ("all", "any", "first") and sorted_elements else None
    key_type = e.type.key if isinstance(e.type, t.Map) else t.NOTHING
    folded = e.kind in ("all", "any", "sum", "min", "max")
    item = e.type if folded else t.element(e.type) or t.NOTHING
    if isinstance(e.type, t.Map):
        item = e.type.value

    def body() -> Value:
        if e.key is None:
            return run.of_type(e.element, item)
        return Composite((run.to_term(e.key, key_type), run.to_term(e.element, item)))

    kept = dict(run.frame.locals)
    many = Elements(tuple(run.expand(e.clauses, body, quit)), item)
    run.frame.locals = kept
    if folded:
        return run.fold(e.kind, many, e)
    if isinstance(e.type, t.Map):
        return _map_of(run, e.type, many, e)
    return run.settle(many, e.type, e)


def _map_of(run: Evaluator, kind: t.Map, many: Elements, node: ir.Node) -> Term:
    """The map of these pairs; of equal keys the last counts."""
    logic, encoding = run.logic, run.encoding
    key = logic.fresh("k", encoding.shape(kind.key))
    entry: Term | None = None if kind.total else encoding.absent(kind.value)
    for row in many.rows:
        assert isinstance(row.value, Composite)
        given, value = row.value.fields
        solved, rest = logic.solve(key, run.sure(given), row.names)
        if len(solved) < len(row.names):
            raise NotEncodable("a map of computed keys that may coincide", node.place)
        when = logic.replace(logic.all((row.when, rest)), solved)
        new = logic.replace(run.sure(value), solved)
        new = new if kind.total else encoding.present(kind.value, new)
        entry = new if entry is None else logic.choose(when, new, entry)
    if entry is None:
        raise NotEncodable("a total map without keys", node.place)
    return logic.by_cases(key, entry)


def _is_a(run: Evaluator, e: ir.IsA) -> Term:
    value = run.eval(e.of)
    if not isinstance(e.of.type, t.Union):
        return run.logic.truth(any(t.fits(e.of.type, option) for option in e.options))
    return run.encoding.is_option(run.term(value, e.of.type, e), e.of.type, e.options)


def _narrow(run: Evaluator, e: ir.Narrow) -> Value:
    return run.fit(run.eval(e.of), e.of.type, e.type, e)


def _needed(run: Evaluator, e: ir.Needed) -> Value:
    value = run.eval(e.of)
    if isinstance(e.of.type, t.Union):
        none = run.encoding.is_option(run.term(value, e.of.type, e), e.of.type, (t.NOTHING,))
        run.stop("refused", none, e)
    return run.fit(value, e.of.type, e.type, e)


def _domain(run: Evaluator, e: ir.Domain) -> Elements:
    item = t.element(e.type)
    assert item is not None
    whole = t.Map(item, t.BOOL, mutable=False, total=True)
    values = run.encoding.keys(whole)
    if values is not None:
        return Elements(tuple(Element((), run.logic.true, v) for v in values), item)
    name = run.logic.fresh("q", run.encoding.shape(item))
    return Elements((Element((name,), run.encoding.bounds(name, item), name),), item)


def _format(run: Evaluator, e: ir.Format) -> Value:
    raise NotEncodable("text outside a reason")


EVAL: Mapping[type[ir.Expr], Callable[[Any, Any], Value]] = {
    ir.Const: _const,
    ir.Local: _local,
    ir.Self: _self,
    ir.Field: _field,
    ir.Item: _item,
    ir.Op: _op,
    ir.And: _and,
    ir.Or: _or,
    ir.If: _if,
    ir.Make: _make,
    ir.New: _new,
    ir.View: _view,
    ir.Comp: _comp,
    ir.IsA: _is_a,
    ir.Narrow: _narrow,
    ir.Needed: _needed,
    ir.Can: lambda run, e: run.can(e),
    ir.Call: lambda run, e: run.call(e),
    ir.Domain: _domain,
    ir.Format: _format,
}
