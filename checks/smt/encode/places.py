"""Places in the state: where an expression stands, reading it, and assigning it."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.places import in_state

from .conversion import (
    as_term,
    convert,
    eval_term,
    field_of,
    make_product,
    sequence_elements,
    to_term,
)
from .sequences import put
from .sorts import NotEncodable
from .symbolic import LocalValue, OtherState, Owner, PathStep, StatePath, TypedValue, Value
from .trail import Trail


def read(run: Trail, path: StatePath) -> Value:
    """The value at a path of the state whose keys are known to be there."""
    value: Value = OtherState(run.state)
    for at in path:
        if at.key is not None:
            value = run.encoding.get(at.of, as_term(value), at.key)[1]
        else:
            value = field_of(run, value, at.of, at.name)
    return value


def path_of(run: Trail, e: ir.Expr) -> StatePath:
    """The path of an expression in the state; a missing key on the way is undefined."""
    match e:
        case ir.Self():
            assert isinstance(run.frame.own, tuple)
            return run.frame.own
        case ir.Field(of=of, name=name):
            return (*path_of(run, of), PathStep(of.type, name))
        case ir.Item(of=of, key=key):
            inner = path_of(run, of)
            run.eval(e)  # The key must be there, or the step stops here.
            assert isinstance(of.type, t.Map)
            return (*inner, PathStep(of.type, key=eval_term(run, key, of.type.key)))
        case ir.Narrow(of=of):
            return path_of(run, of)
        case _:
            raise NotEncodable("a change of an expression that is not a place", e.place)


def write(run: Trail, path: StatePath, value: Value, node: ir.Node) -> None:
    """Put a value at a path of the state."""
    first, rest = path[0], path[1:]
    run.state[first.name] = _written(run, run.state[first.name], rest, value, node)


def _written(run: Trail, old: Value, path: StatePath, value: Value, node: ir.Node) -> Value:
    """The old value, with the new one at a path in it."""
    if not path:
        return value
    at, rest, encoding = path[0], path[1:], run.encoding
    container = to_term(run, old, at.of, node)
    if at.key is None:
        names = [name for name, _ in encoding.variants(at.of)[0][1]]
        fields: list[Value] = [field_of(run, container, at.of, name) for name in names]
        i = names.index(at.name)
        fields[i] = _written(run, fields[i], rest, value, node)
        return make_product(run, at.of, fields)
    inner: Value = encoding.get(at.of, container, at.key)[1]
    new = as_term(_written(run, inner, rest, value, node))
    if isinstance(at.of, t.Map) and not at.of.total:
        new = encoding.present(at.of.value, new)
    return run.logic.write(container, at.key, new)


def store(run: Trail, target: ir.Expr, value: Value) -> None:
    """Assign a local, a field, or an item of a map, bag or list; the value has its type."""
    match target:
        case ir.Local(name=name):
            run.frame.locals[name] = LocalValue(value, target.type)
        case ir.Field():
            write(run, path_of(run, target), value, target)
        case ir.Item(of=of, key=key):
            kind = of.type
            if isinstance(kind, t.Seq):
                many, at = sequence_elements(run, run.eval(of), kind, of), eval_term(run, key)
                store(run, of, put(run, many, at, value, target))
                return
            held = to_term(run, run.eval(of), kind, of)
            item = t.element(kind)
            if item is None or not isinstance(kind, t.Map | t.Bag):
                raise NotEncodable(f"an item of a {kind} is assigned", target.place)
            at = eval_term(run, key, item)
            new = to_term(run, value, target.type, target)
            if isinstance(kind, t.Map) and not kind.total:
                new = run.encoding.present(kind.value, new)
            elif isinstance(kind, t.Map):
                beyond = run.logic.negate(run.encoding.bounds(at, kind.key))
                run.add_extra_key(beyond, target, in_state(of))
            store(run, of, run.logic.write(held, at, new))
        case ir.Narrow(of=of):
            store(run, of, convert(run, value, target.type, of.type, target))
        case _:
            raise NotEncodable("a change of an expression that is not a place", target.place)


def owner(run: Trail, of: ir.Expr) -> Owner:
    """The machine that an expression denotes: a path in the state, or another state."""
    if in_state(of) and isinstance(run.frame.own, tuple):
        return path_of(run, of)
    value = run.eval(of)
    return value if isinstance(value, OtherState) else as_term(value)


def bind_args(
    run: Trail,
    params: Sequence[tuple[str, t.Type]],
    args: Sequence[TypedValue],
    node: ir.Node,
) -> dict[str, Value]:
    """The arguments by the names of the parameters, converted to their types."""
    return {
        name: convert(run, value, source, kind, node)
        for (name, kind), (value, source) in zip(params, args, strict=True)
    }
