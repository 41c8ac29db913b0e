"""Generated code for operators on integers, for comparisons, and for `in`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.partiality import always_defined

from ..layout.layouts import (
    BOOL,
    INTEGER,
    VOID,
    BagLayout,
    Index,
    Layout,
    ListLayout,
    MapLayout,
    NotGenerated,
    Number,
    Product,
    SetLayout,
    SparseMap,
    SparseSet,
    Sum,
    width,
)
from .bags import count_in
from .contents import contains, subset
from .conversions import equal, inside, part, tag_of, to_layout, type_of
from .expressions import Expressions, Operation
from .loops import each, universe_of
from .minmax import compared
from .text import ANYWHERE, GREATEST, LEAST, Target, Value

FIT = 2**31  # Products of integers below it fit a cell.


# Integers.


def _bounds(value: Value) -> tuple[int | None, int | None]:
    layout = value.layout
    return (layout.low, layout.high) if isinstance(layout, Number) else (0, 1)


def _small(*values: Value) -> bool:
    """Whether integers are literals or so small that no operation on two leaves a cell."""
    return all(v.text.lstrip("-").isdigit() and abs(int(v.text)) < FIT for v in values)


def added(f: Expressions, a: str, b: str) -> str:
    """The sum; ESCAPE where it does not fit a cell."""
    total = f.hold(f"{a} + {b}")
    if a.isdigit() or b.isdigit():
        other = b if a.isdigit() else a
        f.escape_if(f"{total} < {other} or {total} > {GREATEST}")
    else:
        f.escape_if(f"(({a} ^ {total}) & ({b} ^ {total})) < 0 or {_too_long(total)}")
    return total


def _too_long(total: str) -> str:
    """A test that is true in Python where a number fits no cell; in machine code, which wraps, it
    never is."""
    return f"not {LEAST} <= {total} <= {GREATEST}"


def _add(f: Expressions, e: ir.Op) -> Value:
    a, b = (f.value(arg) for arg in e.args)
    low, high = _sum(_bounds(a)[0], _bounds(b)[0]), _sum(_bounds(a)[1], _bounds(b)[1])
    text = str(int(a.text) + int(b.text)) if _small(a, b) else added(f, a.text, b.text)
    return Value(Number(low, high), text)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _sub(f: Expressions, e: ir.Op) -> Value:
    a, b = (f.value(arg) for arg in e.args)
    (la, ha), (lb, hb) = _bounds(a), _bounds(b)
    low = None if la is None or hb is None else la - hb
    high = None if ha is None or lb is None else ha - lb
    if _small(a, b):
        return Value(Number(low, high), str(int(a.text) - int(b.text)))
    return Value(Number(low, high), subtracted(f, a.text, b.text))


def subtracted(f: Expressions, a: str, b: str) -> str:
    """The difference; ESCAPE where it does not fit a cell."""
    total = f.hold(f"{a} - {b}")
    f.escape_if(f"(({a} ^ {b}) & ({a} ^ {total})) < 0 or {_too_long(total)}")
    return total


def _wrapped(of: Callable[[Expressions, str, str], str]) -> Operation:
    """A serial number, modulo the last operand."""

    def made(f: Expressions, e: ir.Op) -> Value:
        a, b, modulus = (f.value(arg) for arg in e.args)
        found = f.hold(f"{of(f, a.text, b.text)} % {modulus.text}")
        return Value(Number(0, int(modulus.text) - 1), found)

    return made


def _before(f: Expressions, e: ir.Op) -> Value:
    a, b, modulus = (f.value(arg) for arg in e.args)
    away = f.hold(f"{subtracted(f, a.text, b.text)} % {modulus.text}")
    return Value(BOOL, f.hold(f"{away} * 2 > {modulus.text}"))


def _mul(f: Expressions, e: ir.Op) -> Value:
    a, b = (f.value(arg) for arg in e.args)
    for each_ in (a, b):
        if not _small(each_):
            f.escape_if(f"{each_.text} >= {FIT} or {each_.text} <= -{FIT}")
    ends = [x * y for x in _bounds(a) for y in _bounds(b) if x is not None and y is not None]
    known = len(ends) == 4
    layout = Number(min(ends), max(ends)) if known else INTEGER
    return Value(layout, f.hold(f"{a.text} * {b.text}"))


def _neg(f: Expressions, e: ir.Op) -> Value:
    of = e.args[0]
    if isinstance(of, ir.Const) and isinstance(of.value, int) and isinstance(of.type, t.Int):
        return f.value(replace(of, value=-of.value))
    a = f.value(e.args[0])
    low, high = _bounds(a)
    layout = Number(None if high is None else -high, None if low is None else -low)
    if _small(a):
        return Value(layout, str(-int(a.text)))
    f.escape_if(f"{a.text} < -{2**62}")
    return Value(layout, f.hold(f"-{a.text}"))


def _abs(f: Expressions, e: ir.Op) -> Value:
    a = f.value(e.args[0])
    f.escape_if(f"{a.text} < -{2**62}")
    return Value(INTEGER, f.hold(f"-{a.text} if {a.text} < 0 else {a.text}"))


def _division(sign: str) -> Operation:
    def made(f: Expressions, e: ir.Op) -> Value:
        a, b = (f.value(arg) for arg in e.args)
        f.fail_if(f"{b.text} == 0")
        if not b.text.isdigit():  # The least integer divided by -1 fits no cell.
            f.escape_if(f"{a.text} < -{2**62}")
        low, high = _bounds(b)
        layout = INTEGER
        if sign == "%" and low is not None and high is not None:
            layout = Number(min(low + 1, 0), max(high - 1, 0))
        return Value(layout, f.hold(f"{a.text} {sign} {b.text}"))

    return made


def _as_integer(f: Expressions, e: ir.Op) -> Value:
    a = f.value(e.args[0])
    return Value(
        a.layout if isinstance(a.layout, Number) else Number(0, 1), f.hold(f"{a.text} + 0")
    )


def _as_bool(f: Expressions, e: ir.Op) -> Value:
    return Value(BOOL, f.hold(f"{f.integer(e.args[0])} != 0"))


# Ordered sorts: elements are their ranks.


def _rank(f: Expressions, e: ir.Op) -> Value:
    of = f.value(e.args[0])
    if not isinstance(of.layout, Index):
        raise NotGenerated("the rank of this")
    return Value(Number(0, of.layout.count - 1), of.text)


def _round_the_ring(by: int) -> Operation:
    def made(f: Expressions, e: ir.Op) -> Value:
        of = f.value(e.args[0])
        if not isinstance(of.layout, Index):
            raise NotGenerated("a neighbour of this")
        return Value(of.layout, f.hold(f"({of.text} + {by % of.layout.count}) % {of.layout.count}"))

    return made


# Comparisons.


def _equality(negated: bool) -> Operation:
    def made(f: Expressions, e: ir.Op) -> Value:
        for at, arg in enumerate(e.args):
            if _beyond(arg) is not None:
                f.value(e.args[1 - at])
                return Value(BOOL, str(int(negated)))
        a = f.value(e.args[0])
        # A value that may be None does not fit where one stands that never is.
        wider = isinstance(e.args[1].type, t.Union) and not isinstance(a.layout, Sum)
        b = f.value(e.args[1], ANYWHERE if wider else Target(a.layout))
        found = equal(f, a, b)
        return Value(BOOL, f.hold(f"not {found}") if negated else found)

    return made


def _beyond(e: ir.Expr) -> int | None:
    """The integer of a literal that no cell holds."""
    match e:
        case ir.Const(type=t.Int(), value=int() as number) if not LEAST <= number <= GREATEST:
            return number
        case _:
            return None


def _comparison(sign: str) -> Operation:
    def made(f: Expressions, e: ir.Op) -> Value:
        for at, arg in enumerate(e.args):
            number = _beyond(arg)
            if number is not None:  # All that a cell holds is on the same side of it.
                f.value(e.args[1 - at])
                less = (number < 0) == (at == 0)
                return Value(BOOL, str(int(less == (sign[0] == "<"))))
        a, b = (f.value(arg) for arg in e.args)
        if a.single and b.single:
            return Value(BOOL, f.hold(f"{a.text} {sign} {b.text}"))
        return Value(BOOL, f.hold(f"{compared(f, a, b)} {sign} 0"))

    return made


def _not(f: Expressions, e: ir.Op) -> Value:
    return Value(BOOL, f.hold(f"not {f.truth(e.args[0])}"))


def _membership(negated: bool) -> Operation:
    def made(f: Expressions, e: ir.Op) -> Value:
        found = _contains(f, e.args[0], e.args[1])
        return Value(BOOL, f.hold(f"not {found}") if negated else found)

    return made


def _contains(f: Expressions, item: ir.Expr, of: ir.Expr) -> str:
    """Python evaluates the item first; the collection says in which cells it is looked for."""
    if isinstance(of, ir.Op) and of.op == "subsets":
        value = f.value(item)
        whole = universe_of(f, of.args[0])
        one = to_layout(f, value, whole.layout)
        if isinstance(whole.layout, SparseSet):
            return subset(f, one, whole)
        return f.hold(f"{one.text} & ~{whole.text} == 0")
    if isinstance(of, ir.Op) and of.op in ops.ITERABLES - {"keys", "reversed"}:
        return _looked_for(f, item, of)
    before = len(f.lines)
    where = f.value(of)
    lines = f.lines[before:]
    del f.lines[before:]
    if isinstance(where.layout, Product):
        value = f.value(item)
        f.lines += lines
        tests = [equal(f, value, part(f, where, i)) for i in range(len(where.layout.items))]
        return f.hold(" or ".join(tests) or "0")
    wanted = _members(where.layout)
    if wanted == VOID:  # Nothing is in it.
        f.value(item)
        f.lines += lines
        return f.hold("0")
    if t.fits(item.type, type_of(wanted)):
        value = f.into(item, wanted)
        f.lines += lines
        return f.hold(_is_in(f, value, where))
    value = f.value(item)
    f.lines += lines
    found = f.temporary()
    f.line(f"{found} = 0")
    for one in _alternatives(f, value, type_of(wanted)):
        f.line(f"{found} = {_is_in(f, to_layout(f, one, wanted), where)}")
    return found


def _members(layout: Layout) -> Layout:
    """The layout of what a collection has, of a map its keys."""
    match layout:
        case BagLayout(item=item) | SetLayout(item=item) | SparseSet(item=item):
            return item
        case ListLayout(item=item) | MapLayout(key=item) | SparseMap(key=item):
            return item
        case _:
            raise NotGenerated(f"membership in {type_of(layout)}")


def _is_in(f: Expressions, value: Value, where: Value) -> str:
    """Whether a collection has a value, which is in the layout of its members."""
    match where.layout:
        case BagLayout() as layout:
            return f"{count_in(f, where.text, layout, value)} != 0"
        case ListLayout(item=item):
            row, size = f.placed(where), width(item)
            if size == 0:
                return f"w[{row}] > 0"
            return f"in_row(w, {row}, {size}, {size}, {f.placed(value)}) >= 0"
        case _:
            return contains(f, where, value)


def _alternatives(f: Expressions, value: Value, kind: t.Type) -> Iterator[Value]:
    """The value in each of its alternatives that may be of a type; what is written of it while it
    is handed out is done only where the value is that alternative."""
    layout = value.layout
    if not isinstance(layout, Sum):
        yield value
        return
    assert isinstance(layout.type, t.Union)
    tag = tag_of(f, value)
    for which, option in enumerate(layout.type.options):
        if t.alike(option, kind):
            with f.block(f"if {tag} == {which}:"):
                yield inside(f, value, layout, which)


def _looked_for(f: Expressions, item: ir.Expr, of: ir.Op) -> str:
    value, kind = f.value(item), t.element(of.type)
    assert kind is not None
    found = f.temporary()
    if of.op == "range" and len(of.args) < 3:
        ends = [f.integer(arg) for arg in of.args]
        low, high = ("0", ends[0]) if len(ends) == 1 else (ends[0], ends[1])
        f.line(f"{found} = 0")
        for one in _alternatives(f, value, kind):
            f.line(f"{found} = {low} <= {one.text} < {high}")
        return found
    f.line(f"{found} = 0")
    with each(f, of) as items:
        for one in _alternatives(f, value, kind):
            if isinstance(items, Value):
                test = equal(f, one, items)
            else:
                parts = [equal(f, part(f, one, i), other) for i, other in enumerate(items)]
                test = " and ".join(parts)
            f.line(f"if {test}: {found} = 1")
    return found


def _text(f: Expressions, e: ir.Op) -> Value:
    # Its text does not matter, but whether it has a value.
    for arg in () if always_defined(*e.args) else e.args:
        f.value(arg)
    return Value(Index(t.TEXT, 1), "0")


OPERATIONS: dict[str, Operation] = {
    "neg": _neg,
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "floordiv": _division("//"),
    "mod": _division("%"),
    "abs": _abs,
    **dict.fromkeys(("format", "join"), _text),
    **dict.fromkeys(ops.TEXTS, _text),
    "serial_add": _wrapped(added),
    "serial_sub": _wrapped(subtracted),
    "before": _before,
    "int": _as_integer,
    "bool": _as_bool,
    "rank": _rank,
    "successor": _round_the_ring(1),
    "predecessor": _round_the_ring(-1),
    "eq": _equality(False),
    "ne": _equality(True),
    "lt": _comparison("<"),
    "le": _comparison("<="),
    "gt": _comparison(">"),
    "ge": _comparison(">="),
    "not": _not,
    "in": _membership(False),
    "not_in": _membership(True),
}
