"""Expressions as terms: one function for each node; the reference engine defines the meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.partiality import always_defined

from ..algebra.term import Term
from .conversion import (
    as_term,
    convert,
    eval_as,
    eval_term,
    field_of,
    make_product,
    merge,
    now,
    sequence_elements,
    settle,
    to_term,
)
from .emptiness import asked, some_element
from .iteration import expand, fold
from .lengths import erase
from .operators import OPERATORS
from .places import read
from .sequences import item
from .sorts import NotEncodable, fields_of
from .symbolic import Args, Composite, Element, Elements, LocalValue, Unencodable, Value
from .time import stopped
from .trail import Trail


def _const(run: Trail, e: ir.Const) -> Value:
    logic = run.logic
    match e.type:
        case t.Bool():
            return logic.truth(bool(e.value))
        case t.Text():
            return logic.true  # All text is one value: nothing compares it.
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


def _local(run: Trail, e: ir.Local) -> Value:
    if e.name not in run.frame.locals:  # What would assign it never runs.
        run.stop("undefined", run.logic.true, e)
        return run.encoding.fresh(e.name, e.type)
    value, kind, there = run.frame.locals[e.name]
    if there is not None:
        run.stop("undefined", run.logic.negate(there), e)
    return value if erase(kind) == erase(e.type) else convert(run, value, kind, e.type, e)


def _self(run: Trail, e: ir.Self) -> Value:
    own = run.frame.own
    if isinstance(own, tuple):
        return read(run, own)
    assert own is not None
    return own


def _field(run: Trail, e: ir.Field) -> Value:
    return field_of(run, run.eval(e.of), e.of.type, e.name)


def _item(run: Trail, e: ir.Item) -> Value:
    kind = e.of.type
    of = run.eval(e.of)
    match kind:
        case t.Map(key=key_type):
            key = eval_term(run, e.key, key_type)
            there, value = run.lookup(kind, to_term(run, of, kind, e), key)
            run.stop("undefined", run.logic.negate(there), e)
            return value
        case t.Bag(item=element):
            key = eval_term(run, e.key, element)
            return run.encoding.get(kind, to_term(run, of, kind, e), key)[1]
        case t.Seq():
            return item(run, sequence_elements(run, of, kind, e), eval_term(run, e.key), e)
        case t.Tuple(items=items) if isinstance(e.key, ir.Const):
            return field_of(run, of, kind, str(int(e.key.value or 0) % len(items)))
        case _:
            raise NotEncodable(f"an item of a {kind}")


def _op(run: Trail, e: ir.Op) -> Value:
    if e.op == "join" and always_defined(e):  # Nothing but whether it has a value is asked.
        return run.logic.true
    question = asked(e)
    if question is not None:
        length, some = question
        of = run.eval(length.args[0])
        there = some_element(run, length, of)
        if there is not None:
            return there if some else run.logic.negate(there)
        size = OPERATORS["len"](run, length, [of])
        return OPERATORS[e.op](run, e, [size if a is length else run.eval(a) for a in e.args])
    return OPERATORS[e.op](run, e, [run.eval(arg) for arg in e.args])


def _and(run: Trail, e: ir.And) -> Term:
    holds = run.logic.true
    for arg in e.args:
        with run.where(holds):
            holds = run.logic.all((holds, eval_term(run, arg)))
    return holds


def _or(run: Trail, e: ir.Or) -> Term:
    holds = run.logic.false
    for arg in e.args:
        with run.where(run.logic.negate(holds)):
            holds = run.logic.any((holds, eval_term(run, arg)))
    return holds


def _if(run: Trail, e: ir.If) -> Value:
    test = eval_term(run, e.test)
    with run.where(test):
        then = eval_as(run, e.then, e.type)
    with run.where(run.logic.negate(test)):
        other = eval_as(run, e.other, e.type)
    return merge(run, test, then, other, e)


def _make(run: Trail, e: ir.Make) -> Value:
    assert isinstance(e.type, t.Record)
    pairs = zip(e.args, e.type.fields, strict=True)
    return make_product(run, e.type, [eval_as(run, arg, kind) for arg, (_, kind) in pairs])


def _new(run: Trail, e: ir.New) -> Value:
    assert isinstance(e.type, t.Part)
    machine = run.encoding.inner(e.type.machine)
    types = dict(fields_of(machine))
    given = {name: eval_as(run, arg, types[name]) for name, arg in e.args}
    made = make_product(run, e.type, list(defaults(run, machine, given).values()))
    for p in machine.of_kind("assume"):
        run.frame.locals[NEW] = LocalValue(made, e.type)
        call = ir.Call(e.place, t.BOOL, p.name, ir.Local(e.place, e.type, NEW), ())
        run.stop("undefined", run.logic.negate(as_term(run.eval(call))), e)
    return made


def _view(run: Trail, e: ir.View) -> Value:
    assert isinstance(e.type, t.Part)
    machine = run.encoding.inner(e.type.machine)
    types = dict(fields_of(machine))
    given = {name: eval_as(run, arg, types[name]) for name, arg in e.args}
    return make_product(run, e.type, list(defaults(run, machine, given).values()))


NEW = "_new"  # No local of a declaration has this name.


def defaults(run: Trail, machine: ir.Machine, given: Args) -> dict[str, Value]:
    """The fields of a new machine: given values, defaults; the others are arbitrary."""
    out: dict[str, Value] = {}
    for name, kind, initial in [
        *((v.name, v.type, v.initial) for v in machine.variables),
        *((p.name, p.type, p.default) for p in machine.parameters),
    ]:
        try:
            if name in given:
                out[name] = given[name]
            elif isinstance(kind, t.Clock) and machine is not run.encoding.machine:
                out[name] = now(run)
            elif initial is not None:
                out[name] = eval_as(run, initial, kind)
            elif isinstance(kind, t.Part):
                inner = run.encoding.inner(kind.machine)
                out[name] = make_product(run, kind, list(defaults(run, inner, {}).values()))
            else:
                out[name] = run.encoding.fresh(f"{name}_unset", kind)
        except NotEncodable as error:
            why = f"{machine.name}.{name}: {error.construct}"
            out[name] = Unencodable(why)
            run.skipped.append(why)
    return out


def _comp(run: Trail, e: ir.Comp) -> Value:
    sorted_elements = all(t.ordered(clause.over.type) for clause in e.clauses)
    quit = e.kind if e.kind in ("all", "any", "first") and sorted_elements else None
    key_type = e.type.key if isinstance(e.type, t.Map) else t.NOTHING
    folded = e.kind in ("all", "any", "sum", "min", "max")
    item = e.type if folded else t.element(e.type) or t.NOTHING
    if isinstance(e.type, t.Map):
        item = e.type.value

    def body() -> Value:
        if e.key is None:
            return eval_as(run, e.element, item)
        return Composite((eval_term(run, e.key, key_type), eval_term(run, e.element, item)))

    kept = dict(run.frame.locals)
    many = Elements(tuple(expand(run, e.clauses, body, quit)), item)
    run.frame.locals = kept
    if folded:
        return fold(run, e.kind, many, e)
    if isinstance(e.type, t.Map):
        return _map_of(run, e.type, many, e)
    return settle(run, many, e.type, e)


def _map_of(run: Trail, kind: t.Map, many: Elements, node: ir.Node) -> Term:
    """The map of these pairs; of equal keys the last one counts."""
    logic, encoding = run.logic, run.encoding
    key = logic.fresh("k", encoding.shape(kind.key))
    entry: Term | None = None if kind.total else encoding.absent(kind.value)
    for row in many.rows:
        assert isinstance(row.value, Composite)
        given, value = row.value.fields
        solved, rest = logic.solve(key, as_term(given), row.names)
        if len(solved) < len(row.names):
            raise NotEncodable("a map of computed keys that may coincide", node.place)
        when = logic.replace(logic.all((row.when, rest)), solved)
        new = logic.replace(as_term(value), solved)
        new = new if kind.total else encoding.present(kind.value, new)
        entry = new if entry is None else logic.choose(when, new, entry)
    if entry is None:
        raise NotEncodable("a total map without keys", node.place)
    return logic.by_cases(key, entry)


def _is_a(run: Trail, e: ir.IsA) -> Term:
    value = run.eval(e.of)
    if not isinstance(e.of.type, t.Union):
        return run.logic.truth(any(t.fits(e.of.type, option) for option in e.options))
    return run.encoding.is_option(to_term(run, value, e.of.type, e), e.of.type, e.options)


def _narrow(run: Trail, e: ir.Narrow) -> Value:
    return convert(run, run.eval(e.of), e.of.type, e.type, e)


def _needed(run: Trail, e: ir.Needed) -> Value:
    value = run.eval(e.of)
    if isinstance(e.of.type, t.Union):
        none = run.encoding.is_option(to_term(run, value, e.of.type, e), e.of.type, (t.NOTHING,))
        run.stop("refused", none, e)
    return convert(run, value, e.of.type, e.type, e)


def _domain(run: Trail, e: ir.Domain) -> Elements:
    item = t.element(e.type)
    assert item is not None
    whole = t.Map(item, t.BOOL, mutable=False, total=True)
    values = run.encoding.keys(whole)
    if values is not None:
        return Elements(tuple(Element((), run.logic.true, v) for v in values), item)
    name = run.logic.fresh("q", run.encoding.shape(item))
    return Elements((Element((name,), run.encoding.bounds(name, item), name),), item)


def _format(run: Trail, e: ir.Format) -> Value:
    for part in e.parts:  # Its text does not matter, but whether it has a value.
        run.eval(part)
    return run.logic.true


EXPRESSIONS: Mapping[type[ir.Expr], Callable[[Any, Any], Value]] = {
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
    ir.Call: lambda run, e: run.call(e),
    ir.Domain: _domain,
    ir.Format: _format,
}
