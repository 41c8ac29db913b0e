"""The operators over terms: for each name in `spec.ops.TABLE`, its symbolic meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from lawful.spec import ir, ops
from lawful.spec import types as t

from ..algebra.term import Term
from .bounds import count
from .collections import COLLECTIONS, Operator, unknown
from .conversion import as_term, contains, convert, to_term
from .iteration import elements
from .sequences import equal, index, length, sliced
from .sorts import NotEncodable
from .symbolic import Elements, Value
from .trail import Trail


def _integers(work: Callable[[Trail, list[Term]], Term]) -> Operator:
    """An operator over integers that always has a value."""
    return lambda run, e, values: work(run, [as_term(v) for v in values])


def _divide(work: Callable[[Trail, Term, Term], Term]) -> Operator:
    def divide(run: Trail, e: ir.Op, values: list[Value]) -> Term:
        a, b = (as_term(v) for v in values)
        run.stop("undefined", run.logic.equal(b, run.logic.number(0)), e)
        return work(run, a, b)

    return divide


def _least(sign: int) -> Operator:
    def least(run: Trail, e: ir.Op, values: list[Value]) -> Term:
        def better(a: Term, b: Term) -> Term:
            later = (b, a) if sign < 0 else (a, b)
            return run.logic.choose(run.encoding.less(*later, e.type), b, a)

        pairs = zip(values, e.args, strict=True)
        terms = [to_term(run, convert(run, v, arg.type, e.type, e), e.type, e) for v, arg in pairs]
        return reduce(better, terms)

    return least


def _int(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    value, logic = as_term(values[0]), run.logic
    if isinstance(e.args[0].type, t.Bool):
        return logic.choose(value, logic.number(1), logic.number(0))
    return value


def _bool(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    value, logic = as_term(values[0]), run.logic
    if isinstance(e.args[0].type, t.Bool):
        return value
    return logic.negate(logic.equal(value, logic.number(0)))


def _before(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    first, second, size = (as_term(v) for v in values)
    logic = run.logic
    ahead = logic.remainder(logic.add(first, logic.negative(second)), size)
    return logic.less(size, logic.add(ahead, ahead))


def _wider(a: t.Type, b: t.Type) -> t.Type:
    return b if t.fits(a, b) and not unknown(b) else a


def _equal(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    kind = _wider(e.args[0].type, e.args[1].type)
    if isinstance(kind, t.Seq):
        return _same_sequence(run, e, values)
    run.stop_at_extra_key(kind, e)
    a, b = (
        to_term(run, convert(run, v, arg.type, kind, e), kind, e)
        for v, arg in zip(values, e.args, strict=True)
    )
    return run.encoding.equal(a, b, kind)


def _same_sequence(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    a, b = (elements(run, v, arg.type, e) for v, arg in zip(values, e.args, strict=True))
    return equal(run, a, b, _wider(e.args[0].type, e.args[1].type), e)


def _order(swapped: bool, negated: bool) -> Operator:
    """A comparison as `a < b`, with its sides swapped, negated, or both."""

    def compare(run: Trail, e: ir.Op, values: list[Value]) -> Term:
        kind = _wider(e.args[0].type, e.args[1].type)
        pairs = zip(values, e.args, strict=True)
        a, b = (to_term(run, convert(run, v, arg.type, kind, e), kind, e) for v, arg in pairs)
        less = run.encoding.less(*((b, a) if swapped else (a, b)), kind)
        return run.logic.negate(less) if negated else less

    return compare


def _rank(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    return run.encoding.rank(as_term(values[0]), e.args[0].type)


def _step(step: int) -> Operator:
    """The element of a ring (an ordered sort taken cyclically) so many steps further."""

    def neighbour(run: Trail, e: ir.Op, values: list[Value]) -> Term:
        elements, value = run.encoding.elements_of(e.type), as_term(values[0])
        found = elements[0]
        for i, element in enumerate(elements):
            target = elements[(i + step) % len(elements)]
            found = run.logic.choose(run.logic.equal(value, element), target, found)
        return found

    return neighbour


def _in(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    of, kind, mine = values[1], e.args[1].type, e.args[0].type
    if unknown(kind):
        return run.logic.false
    item = t.element(kind)
    assert item is not None
    if isinstance(kind, t.Set | t.Map | t.Bag) and not isinstance(of, Elements):
        container = to_term(run, of, kind, e)
        known = run.logic.true
        if isinstance(mine, t.Union) and not t.fits(mine, item):
            known = run.encoding.is_option(as_term(values[0]), mine, (item,))
        key = to_term(run, convert(run, values[0], mine, item, e), item, e)
        return run.logic.all((known, run.lookup(kind, container, key)[0]))
    wide = _wider(mine, item)
    element = to_term(run, convert(run, values[0], mine, wide, e), wide, e)
    return contains(run, elements(run, of, kind, e), element, wide, e)


def _len(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    kind = e.args[0].type
    many = elements(run, values[0], kind, e)
    if not many.listed and isinstance(kind, t.Set) and not isinstance(values[0], Elements):
        return run.encoding.size(to_term(run, values[0], kind, e), kind)
    if not many.listed:
        raise NotEncodable(f"len of a {kind}, which has no bound")
    if many.dense:
        return length(run, many)
    return count(run.logic, many)


def _pointwise(work: Callable[[Trail, Term, Term], Term]) -> Operator:
    """A set made of two, element by element."""

    def combine(run: Trail, e: ir.Op, values: list[Value]) -> Value:
        if not isinstance(e.type, t.Set) or unknown(e.type):
            raise NotEncodable(f"{e.op} of empty sets of unknown type")
        a, b = _both_sets(run, e, values, e.type)
        element = run.logic.fresh("e", run.encoding.shape(e.type.item))
        inside = work(run, run.logic.read(a, element), run.logic.read(b, element))
        return run.logic.by_cases(element, inside)

    return combine


def _both_sets(run: Trail, e: ir.Op, values: Sequence[Value], kind: t.Type) -> tuple[Term, Term]:
    fitted = [convert(run, v, arg.type, kind, e) for v, arg in zip(values, e.args, strict=True)]
    return to_term(run, fitted[0], kind, e), to_term(run, fitted[1], kind, e)


def _everywhere(work: Callable[[Trail, Term, Term], Term]) -> Operator:
    """A comparison of two sets: a condition for every element."""

    def compare(run: Trail, e: ir.Op, values: list[Value]) -> Term:
        kind = _wider(e.args[0].type, e.args[1].type)
        if not isinstance(kind, t.Set) or unknown(kind):
            raise NotEncodable(f"{e.op} of empty sets of unknown type")
        a, b = _both_sets(run, e, values, kind)
        logic = run.logic
        elements = run.encoding.universe(kind.item)
        if elements is not None:
            return logic.all(work(run, logic.read(a, x), logic.read(b, x)) for x in elements)
        x = logic.fresh("e", run.encoding.shape(kind.item))
        return logic.forall([x], logic.true, work(run, logic.read(a, x), logic.read(b, x)))

    return compare


def _proper(compare: Operator) -> Operator:
    def proper(run: Trail, e: ir.Op, values: list[Value]) -> Term:
        equal = run.logic.negate(_equal(run, e, values))
        return run.logic.all((as_term(compare(run, e, values)), equal))

    return proper


_SUBSET = _everywhere(lambda run, a, b: run.logic.implies(a, b))
_SUPERSET = _everywhere(lambda run, a, b: run.logic.implies(b, a))

OPERATORS: Mapping[str, Operator] = {
    **COLLECTIONS,
    "neg": _integers(lambda run, v: run.logic.negative(v[0])),
    "add": _integers(lambda run, v: run.logic.add(*v)),
    "sub": _integers(lambda run, v: run.logic.add(v[0], run.logic.negative(v[1]))),
    "mul": _integers(lambda run, v: run.logic.times(v[0], v[1])),
    "floordiv": _divide(lambda run, a, b: run.logic.floor_divide(a, b)),
    "mod": _divide(lambda run, a, b: run.logic.remainder(a, b)),
    "abs": _integers(
        lambda run, v: run.logic.choose(
            run.logic.less(v[0], run.logic.number(0)), run.logic.negative(v[0]), v[0]
        )
    ),
    # As of any text.
    **dict.fromkeys(("format", "join", *ops.TEXTS), lambda run, e, v: run.logic.true),
    "min": _least(-1),
    "max": _least(1),
    "int": _int,
    "bool": _bool,
    "serial_add": _integers(lambda run, v: run.logic.remainder(run.logic.add(v[0], v[1]), v[2])),
    "serial_sub": _integers(
        lambda run, v: run.logic.remainder(run.logic.add(v[0], run.logic.negative(v[1])), v[2])
    ),
    "before": _before,
    "eq": _equal,
    "ne": lambda run, e, v: run.logic.negate(_equal(run, e, v)),
    "lt": _order(swapped=False, negated=False),
    "le": _order(swapped=True, negated=True),
    "gt": _order(swapped=True, negated=False),
    "ge": _order(swapped=False, negated=True),
    "rank": _rank,
    "successor": _step(1),
    "predecessor": _step(-1),
    "not": lambda run, e, v: run.logic.negate(as_term(v[0])),
    "in": _in,
    "not_in": lambda run, e, v: run.logic.negate(_in(run, e, v)),
    "len": _len,
    "slice": sliced,
    "index": index,
    "union": _pointwise(lambda run, a, b: run.logic.any((a, b))),
    "intersection": _pointwise(lambda run, a, b: run.logic.all((a, b))),
    "difference": _pointwise(lambda run, a, b: run.logic.all((a, run.logic.negate(b)))),
    "symmetric_difference": _pointwise(lambda run, a, b: run.logic.negate(run.logic.equal(a, b))),
    "subset": _SUBSET,
    "proper_subset": _proper(_SUBSET),
    "superset": _SUPERSET,
    "proper_superset": _proper(_SUPERSET),
    "disjoint": _everywhere(lambda run, a, b: run.logic.negate(run.logic.all((a, b)))),
}
