"""Generated code of codes: numbering the values of a layout, and the value with a number."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from operator import mul

from lawful.spec import types as t

from ..layout.forms import may_lack
from ..layout.layouts import (
    BOOL,
    BagLayout,
    Dense,
    Index,
    Layout,
    ListLayout,
    MachineLayout,
    MapLayout,
    NotGenerated,
    Number,
    Product,
    SetLayout,
    SparseMap,
    SparseSet,
    Sum,
    card,
    inner,
    key_count,
    longer,
    offsets,
    one_cell,
    spare,
    spare_at,
    stride,
    width,
)
from ..layout.numbering import OUTSIDE
from .text import Program, Value, Writer, plus

MOST_KNOWN = 12  # Cells of a value that are kept by name.


def alike(a: Layout, b: Layout) -> bool:
    """Whether the same value has the same cells in both."""
    match a, b:
        case Number(), Number():
            return True
        case Index(), Index():
            same = a.count == b.count and type(a.type) is type(b.type)
            return same and (not isinstance(a.type, t.Float) or a.values == b.values)
        case (Product(), Product()) | (Sum(), Sum()) | (MachineLayout(), MachineLayout()):
            mine, theirs = inner(a), inner(b)
            return len(mine) == len(theirs) and all(map(alike, mine, theirs))
        case SetLayout(item=mine), SetLayout(item=theirs):
            return coded_alike(mine, theirs) and _behind_alike(a, b)
        case MapLayout(), MapLayout():
            keys = coded_alike(a.key, b.key) and a.total == b.total
            return keys and alike(a.value, b.value) and _behind_alike(a, b)
        case ListLayout(), ListLayout():
            return a.room == b.room and alike(a.item, b.item)
        case SparseSet(item=mine, room=here), SparseSet(item=theirs, room=there):
            return here == there and alike(mine, theirs)
        case SparseMap(key=mine, room=here) as one, SparseMap(key=theirs, room=there) as other:
            return here == there and alike(mine, theirs) and alike(one.value, other.value)
        case BagLayout() as one, BagLayout() as other:
            coded = one.room == 0 or coded_alike(one.item, other.item)
            return one.room == other.room and coded and _behind_alike(one, other)
        case _:
            return False


def _behind_alike(a: Dense, b: Dense) -> bool:
    one, other = spare(a), spare(b)
    return one is other or (one is not None and other is not None and alike(one, other))


def coded_alike(a: Layout, b: Layout) -> bool:
    """Whether the same value has the same code in both."""
    match a, b:
        case Number(), Number():
            return (a.low, a.high) == (b.low, b.high) and a.low is not None
        case (Product(), Product()) | (Sum(), Sum()):
            mine, theirs = inner(a), inner(b)
            return len(mine) == len(theirs) and all(map(coded_alike, mine, theirs))
        case SetLayout(item=mine), SetLayout(item=theirs):
            return coded_alike(mine, theirs)
        case MapLayout(), MapLayout():
            keys = coded_alike(a.key, b.key) and a.total == b.total
            return keys and coded_alike(a.value, b.value)
        case ListLayout(), ListLayout():
            return a.most == b.most and coded_alike(a.item, b.item)
        case Index(), Index():
            return a.count == b.count
        case _:
            return False


def dense(layout: Layout) -> bool:
    """Whether values of the layout have codes."""
    return card(layout) is not None


# Codes.


def code(f: Writer, value: Value) -> str:
    """The code of a value by name: negative where it has none in its layout's scope."""
    layout = value.layout
    match layout:
        case SetLayout() if width(layout) > 1 and not layout.spare:
            raise NotGenerated("a code of a large set")
        case Index() | SetLayout(spare=0):
            # A truth value becomes an integer, because bits are shifted by it.
            return value.text if layout != BOOL else f.hold(f"{value.text} + 0")
        case Number(low=int() as low, high=int() as high) if value.text.isdigit():
            at = int(value.text)
            return str(at - low) if low <= at <= high else f.hold(_number(layout, value.text))
        case Number():
            return f.hold(_number(layout, value.text))
        case Sum() if value.single:
            return value.text
        case Product() | Sum() if f.known(value):
            return _code_of_cells(f, layout, f.known(value))
        case _:
            return f.hold(f"{_code_function(f.program, layout)}(w, {f.placed(value)})")


def _code_of_cells(f: Writer, layout: Product | Sum, held: tuple[str, ...]) -> str:
    """The code of a record, tuple or union whose cells are known by name."""
    if isinstance(layout, Sum):
        if not held[0].isdigit():
            at = f.region(layout)
            f.store(at, Value(layout, "", held))
            return f.hold(f"{_code_function(f.program, layout)}(w, {at})")
        which = int(held[0])
        begin = offsets(layout.options, 1)[which]
        own = code(f, cut(layout.options[which], held, begin))
        before = sum(card(option) or 0 for option in layout.options[:which])
        if own.isdigit() or not before:
            return str(int(own) + before) if own.isdigit() else own
        else_ = f" if {own} >= 0 else {own}" if may_lack(layout.options[which]) else ""
        return f.hold(f"{own} + {before}{else_}")
    digits = [
        code(f, cut(k, held, i)) for k, i in zip(layout.items, offsets(layout.items), strict=True)
    ]
    total = "0"
    for digit, item in zip(digits, layout.items, strict=True):
        if total.isdigit() and digit.isdigit():
            total = str(int(total) * (card(item) or 1) + int(digit))
        else:
            total = digit if total == "0" else f.hold(f"{total} * {card(item)} + {digit}")
    rows = zip(digits, layout.items, strict=True)
    lacking = [d for d, k in rows if may_lack(k) and not d.isdigit()]
    if lacking:
        worst = lacking[0] if len(lacking) == 1 else f.hold(f"min({', '.join(lacking)})")
        total = f.hold(f"{total} if {worst} >= 0 else {worst}")
    return total


def cut(layout: Layout, held: tuple[str, ...], at: int) -> Value:
    """A value inside one whose cells are known."""
    inside = held[at : at + width(layout)]
    if len(inside) == 1:
        return Value(layout, inside[0])
    return Value(layout, "" if inside else "0", inside)


def _number(layout: Number, text: str) -> str:
    if layout.low is None or layout.high is None:
        raise NotGenerated("the code of an integer without bounds")
    known = f"{text} - {layout.low}" if layout.low else text
    return f"{known} if {layout.low} <= {text} <= {layout.high} else {OUTSIDE}"


def _code_function(program: Program, layout: Layout) -> str:
    return _made(program, ("code", layout), "code", _write_code, layout)


def _made(
    program: Program,
    key: object,
    wanted: str,
    write: Callable[[Writer, Layout], None],
    layout: Layout,
) -> str:
    if key not in program.names:
        if not dense(layout):
            raise NotGenerated("a code for a type with too many values")
        name = program.names[key] = program.name(wanted)
        f = Writer(program)
        more = ", n" if wanted == "uncode" else ""
        f.lines.append(f"def {name}(w, at{more}):")
        write(f, layout)
        program.add(f.lines)
    return program.names[key]


def _write_code(f: Writer, layout: Layout) -> None:
    match layout:
        case Product(items=items):
            _digits(f, [(k, plus("at", i)) for k, i in zip(items, offsets(items), strict=True)])
        case Sum(options=options):
            before = 0
            for which, (option, at) in enumerate(zip(options, offsets(options, 1), strict=True)):
                with f.block(f"if w[at] == {which}:"):
                    own = code(f, f.load(option, plus("at", at)))
                    f.line(f"return {own} + {before} if {own} >= 0 else {own}")
                before += card(option) or 0
            f.line("return 0")
        case SetLayout():
            f.line(f"if w[{plus('at', spare_at(layout))}] != 0: return {OUTSIDE}")
            f.line("return w[at]")
        case MapLayout():
            if layout.spare:
                f.line(f"if w[{plus('at', spare_at(layout))}] != 0: return {OUTSIDE}")
            _repeated(f, layout)
        case ListLayout(most=most):
            f.line(f"if w[at] > {most}: return {OUTSIDE}")
            _row_code(f, layout)
        case _:
            own = code(f, f.load(layout, "at"))
            f.line(f"return {own}")


def _digits(f: Writer, rows: list[tuple[Layout, str]]) -> None:
    """Return the number of these digits; a value without digits has no number."""
    f.line("n = 0")
    for layout, at in rows:
        own = code(f, f.load(layout, at))
        f.line(f"if {own} < 0: return {own}")
        f.line(f"n = n * {card(layout)} + {own}")
    f.line("return n")


def _row_code(f: Writer, layout: ListLayout) -> None:
    """Shorter rows come first."""
    count, size = card(layout.item) or 0, width(layout.item)
    f.line("n = 0")
    with f.block("for i in range(w[at]):"):
        own = code(f, f.load(layout.item, f.hold(f"at + 1 + i * {size}")))
        f.line(f"if {own} < 0: return {own}")
        f.line(f"n = n * {count} + {own}")
    for length, fewer in enumerate(accumulate(longer(count, layout.most), initial=0)):
        if 0 < length <= layout.most:
            f.line(f"if w[at] == {length}: n = n + {fewer}")
    f.line("return n")


def _repeated(f: Writer, layout: MapLayout) -> None:
    of, base = layout.value, card(layout.value) or 0
    f.line("n = 0")
    for number in range(key_count(layout.key)):
        at = plus("at", number * stride(layout))
        if layout.total:
            own = code(f, f.load(of, at))
            f.line(f"if {own} < 0: return {own}")
            f.line(f"n = n * {base} + {own}")
            continue
        f.line(f"n = n * {base + 1}")
        with f.block(f"if w[{at}] != 0:"):
            own = code(f, f.load(of, plus(at, 1)))
            f.line(f"if {own} < 0: return {own}")
            f.line(f"n = n + {own} + 1")
    f.line("return n")


def uncode(f: Writer, layout: Layout, number: str, at: str | None = None) -> Value:
    """The value with a code."""
    match layout:
        case Index() | SetLayout() if width(layout) == 1:
            return Value(layout, f.hold(number))
        case Number(low=low):
            return Value(layout, f.hold(f"{number} + {low}" if low else number))
        case Product(items=items) if one_cell(layout):
            (item,) = (item for item in items if width(item))
            return Value(layout, uncode(f, item, number).text)
        case _:
            if width(layout) == 0:
                return Value(layout, "0")
            at = at or f.region(layout)
            function = _made(f.program, ("uncode", layout), "uncode", _write_uncode, layout)
            f.line(f"{function}(w, {at}, {number})")
            return f.load(layout, at)


def _write_uncode(f: Writer, layout: Layout) -> None:
    match layout:
        case Product(items=items):
            bases = [card(k) or 1 for k in items]
            below = [*accumulate(bases[:0:-1], mul, initial=1)][::-1]
            rows = zip(items, offsets(items), bases, below, strict=True)
            for item, place, base, step in rows:
                digit = f"n // {step} % {base}" if step > 1 else f"n % {base}"
                _put(f, item, f.hold(digit), plus("at", place))
        case Sum(options=options):
            f.line(f"clear(w, at, {width(layout)})")
            before = 0
            for which, (k, begin) in enumerate(zip(options, offsets(options, 1), strict=True)):
                with f.block(f"if {before} <= n < {before + (card(k) or 0)}:"):
                    f.line(f"w[at] = {which}")
                    _put(f, k, f.hold(f"n - {before}"), plus("at", begin))
                before += card(k) or 0
        case SetLayout():
            f.blank("at", width(layout))
            f.line("w[at] = n")
        case MapLayout(key=key, value=of):
            f.line(f"clear(w, at, {width(layout)})")
            base = (card(of) or 0) + (not layout.total)
            for i in reversed(range(key_count(key))):
                at = plus("at", i * stride(layout))
                digit = f.hold(f"n % {base}")
                f.line(f"n = n // {base}")
                _optional(f, of, digit, at, layout.total)
        case ListLayout(item=item, most=most):
            f.line(f"clear(w, at, {width(layout)})")
            count = card(item) or 0
            for length in range(most):
                with f.block(f"if w[at] == {length} and n >= {count**length}:"):
                    f.line(f"n = n - {count**length}")
                    f.line(f"w[at] = {length + 1}")
            with f.block("for i in range(w[at] - 1, -1, -1):"):
                digit = f.hold(f"n % {count}")
                f.line(f"n = n // {count}")
                _put(f, item, digit, f.hold(f"at + 1 + i * {width(item)}"))
        case _:
            _put(f, layout, "n", "at")
    f.line("return 0")


def _optional(f: Writer, layout: Layout, digit: str, at: str, total: bool) -> None:
    if total:
        _put(f, layout, digit, at)
        return
    with f.block(f"if {digit} > 0:"):
        f.line(f"w[{at}] = 1")
        _put(f, layout, f.hold(f"{digit} - 1"), plus(at, 1))


def _put(f: Writer, layout: Layout, number: str, at: str) -> None:
    made = uncode(f, layout, number, at)
    if made.single:
        f.store(at, made)
