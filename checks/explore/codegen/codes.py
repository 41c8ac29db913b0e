"""Generated code about kinds: codes, conversions, comparison."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from operator import mul

from lawful.checks.explore.layout.codec import OUTSIDE
from lawful.checks.explore.layout.layouts import (
    BOOL,
    Heap,
    Index,
    Kind,
    Number,
    Product,
    Row,
    Subset,
    Sum,
    Table,
    Unsupported,
    Whole,
    card,
    elements,
    inner,
    longer,
    offsets,
    one_cell,
    stride,
    width,
)
from lawful.spec import types as t

from .text import Program, Value, Writer, plus

MOST_KNOWN = 12  # Cells of a value that are kept by name.


def alike(a: Kind, b: Kind) -> bool:
    """Whether the same value has the same cells in both."""
    match a, b:
        case Number(), Number():
            return True
        case Index(), Index():
            return isinstance(a.type, t.Float) or (
                a.count == b.count and type(a.type) is type(b.type)
            )
        case (Product(), Product()) | (Sum(), Sum()) | (Whole(), Whole()):
            mine, theirs = inner(a), inner(b)
            return len(mine) == len(theirs) and all(map(alike, mine, theirs))
        case Subset(item=mine), Subset(item=theirs):
            return coded_alike(mine, theirs)
        case Table(), Table():
            keys = coded_alike(a.key, b.key) and a.total == b.total
            return keys and alike(a.value, b.value)
        case Row(), Row():
            return a.room == b.room and alike(a.item, b.item)
        case Heap(item=mine, room=here), Heap(item=theirs, room=there):
            return here == there and coded_alike(mine, theirs)
        case _:
            return False


def coded_alike(a: Kind, b: Kind) -> bool:
    """Whether the same value has the same code in both."""
    match a, b:
        case Number(), Number():
            return (a.low, a.high) == (b.low, b.high) and a.low is not None
        case (Product(), Product()) | (Sum(), Sum()):
            mine, theirs = inner(a), inner(b)
            return len(mine) == len(theirs) and all(map(coded_alike, mine, theirs))
        case Subset(item=mine), Subset(item=theirs):
            return coded_alike(mine, theirs)
        case Table(), Table():
            keys = coded_alike(a.key, b.key) and a.total == b.total
            return keys and coded_alike(a.value, b.value)
        case Row(), Row():
            return a.most == b.most and coded_alike(a.item, b.item)
        case Index(), Index():
            return a.count == b.count
        case _:
            return False


def may_lack(kind: Kind) -> bool:
    """Whether a value may have no code: an integer or a length in it may be outside the scope."""
    match kind:
        case Index() | Subset():
            return False
        case Product() | Sum():
            return any(map(may_lack, inner(kind)))
        case Table(value=value):
            return may_lack(value)
        case _:
            return True


def dense(kind: Kind) -> bool:
    """Whether values of the kind have codes."""
    return card(kind) is not None


# Codes.


def code(f: Writer, value: Value) -> str:
    """The code of a value by name: negative where it has none in its kind's scope."""
    kind = value.kind
    match kind:
        case Index() | Subset():
            if not value.single:
                raise Unsupported("a code of a large set")
            # Of a truth value, an integer: bits are shifted by it.
            return value.text if kind != BOOL else f.hold(f"{value.text} + 0")
        case Number(low=int() as low, high=int() as high) if value.text.isdigit():
            at = int(value.text)
            return str(at - low) if low <= at <= high else f.hold(_number(kind, value.text))
        case Number():
            return f.hold(_number(kind, value.text))
        case Sum() if value.single:
            return value.text
        case Product() | Sum() if f.known(value):
            return _code_of_cells(f, kind, f.known(value))
        case _:
            return f.hold(f"{_code_function(f.program, kind)}(w, {f.placed(value)})")


def _code_of_cells(f: Writer, kind: Product | Sum, held: tuple[str, ...]) -> str:
    """The code of a record, tuple or union whose cells are known by name."""
    if isinstance(kind, Sum):
        if not held[0].isdigit():
            at = f.region(kind)
            f.store(at, Value(kind, "", held))
            return f.hold(f"{_code_function(f.program, kind)}(w, {at})")
        which = int(held[0])
        begin = offsets(kind.options, 1)[which]
        own = code(f, cut(kind.options[which], held, begin))
        before = sum(card(option) or 0 for option in kind.options[:which])
        if own.isdigit() or not before:
            return str(int(own) + before) if own.isdigit() else own
        else_ = f" if {own} >= 0 else {own}" if may_lack(kind.options[which]) else ""
        return f.hold(f"{own} + {before}{else_}")
    digits = [
        code(f, cut(k, held, i)) for k, i in zip(kind.items, offsets(kind.items), strict=True)
    ]
    total = "0"
    for digit, item in zip(digits, kind.items, strict=True):
        if total.isdigit() and digit.isdigit():
            total = str(int(total) * (card(item) or 1) + int(digit))
        else:
            total = digit if total == "0" else f.hold(f"{total} * {card(item)} + {digit}")
    rows = zip(digits, kind.items, strict=True)
    lacking = [d for d, k in rows if may_lack(k) and not d.isdigit()]
    if lacking:
        worst = lacking[0] if len(lacking) == 1 else f.hold(f"min({', '.join(lacking)})")
        total = f.hold(f"{total} if {worst} >= 0 else {worst}")
    return total


def cut(kind: Kind, held: tuple[str, ...], at: int) -> Value:
    """A value inside one whose cells are known."""
    inside = held[at : at + width(kind)]
    if len(inside) == 1:
        return Value(kind, inside[0])
    return Value(kind, "" if inside else "0", inside)


def _number(kind: Number, text: str) -> str:
    if kind.low is None or kind.high is None:
        raise Unsupported("the code of an integer without bounds")
    known = f"{text} - {kind.low}" if kind.low else text
    return f"{known} if {kind.low} <= {text} <= {kind.high} else {OUTSIDE}"


def _code_function(program: Program, kind: Kind) -> str:
    return _made(program, ("code", kind), "code", _write_code, kind)


def _made(
    program: Program, key: object, wanted: str, write: Callable[[Writer, Kind], None], kind: Kind
) -> str:
    if key not in program.names:
        if not dense(kind):
            raise Unsupported("a code of what has too many values")
        name = program.names[key] = program.name(wanted)
        f = Writer(program)
        more = ", n" if wanted == "uncode" else ""
        f.lines.append(f"def {name}(w, at{more}):")
        write(f, kind)
        program.texts.append("\n".join(f.lines))
    return program.names[key]


def _write_code(f: Writer, kind: Kind) -> None:
    match kind:
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
        case Table():
            _repeated(f, kind)
        case Row(most=most):
            f.line(f"if w[at] > {most}: return {OUTSIDE}")
            _row_code(f, kind)
        case _:
            own = code(f, f.load(kind, "at"))
            f.line(f"return {own}")


def _digits(f: Writer, rows: list[tuple[Kind, str]]) -> None:
    """Return the number of these digits; what has none has no number."""
    f.line("n = 0")
    for kind, at in rows:
        own = code(f, f.load(kind, at))
        f.line(f"if {own} < 0: return {own}")
        f.line(f"n = n * {card(kind)} + {own}")
    f.line("return n")


def _row_code(f: Writer, kind: Row) -> None:
    """Shorter rows come first."""
    count, size = card(kind.item) or 0, width(kind.item)
    f.line("n = 0")
    with f.block("for i in range(w[at]):"):
        own = code(f, f.load(kind.item, f.hold(f"at + 1 + i * {size}")))
        f.line(f"if {own} < 0: return {own}")
        f.line(f"n = n * {count} + {own}")
    for length, fewer in enumerate(accumulate(longer(count, kind.most), initial=0)):
        if 0 < length <= kind.most:
            f.line(f"if w[at] == {length}: n = n + {fewer}")
    f.line("return n")


def _repeated(f: Writer, kind: Table) -> None:
    of, base = kind.value, card(kind.value) or 0
    f.line("n = 0")
    for number in range(elements(kind.key)):
        at = plus("at", number * stride(kind))
        if kind.total:
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


def uncode(f: Writer, kind: Kind, number: str, at: str | None = None) -> Value:
    """The value with a code."""
    match kind:
        case Index() | Subset() if width(kind) == 1:
            return Value(kind, f.hold(number))
        case Number(low=low):
            return Value(kind, f.hold(f"{number} + {low}" if low else number))
        case Product(items=items) if one_cell(kind):
            (item,) = (item for item in items if width(item))
            return Value(kind, uncode(f, item, number).text)
        case _:
            if width(kind) == 0:
                return Value(kind, "0")
            at = at or f.region(kind)
            function = _made(f.program, ("uncode", kind), "uncode", _write_uncode, kind)
            f.line(f"{function}(w, {at}, {number})")
            return f.load(kind, at)


def _write_uncode(f: Writer, kind: Kind) -> None:
    match kind:
        case Product(items=items):
            bases = [card(k) or 1 for k in items]
            below = [*accumulate(bases[:0:-1], mul, initial=1)][::-1]
            rows = zip(items, offsets(items), bases, below, strict=True)
            for item, place, base, step in rows:
                digit = f"n // {step} % {base}" if step > 1 else f"n % {base}"
                _put(f, item, f.hold(digit), plus("at", place))
        case Sum(options=options):
            f.line(f"clear(w, at, {width(kind)})")
            before = 0
            for which, (k, begin) in enumerate(zip(options, offsets(options, 1), strict=True)):
                with f.block(f"if {before} <= n < {before + (card(k) or 0)}:"):
                    f.line(f"w[at] = {which}")
                    _put(f, k, f.hold(f"n - {before}"), plus("at", begin))
                before += card(k) or 0
        case Table(key=key, value=of):
            f.line(f"clear(w, at, {width(kind)})")
            base = (card(of) or 0) + (not kind.total)
            for i in reversed(range(elements(key))):
                at = plus("at", i * stride(kind))
                digit = f.hold(f"n % {base}")
                f.line(f"n = n // {base}")
                _optional(f, of, digit, at, kind.total)
        case Row(item=item, most=most):
            f.line(f"clear(w, at, {width(kind)})")
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
            _put(f, kind, "n", "at")
    f.line("return 0")


def _optional(f: Writer, kind: Kind, digit: str, at: str, total: bool) -> None:
    if total:
        _put(f, kind, digit, at)
        return
    with f.block(f"if {digit} > 0:"):
        f.line(f"w[{at}] = 1")
        _put(f, kind, f.hold(f"{digit} - 1"), plus(at, 1))


def _put(f: Writer, kind: Kind, number: str, at: str) -> None:
    made = uncode(f, kind, number, at)
    if made.single:
        f.store(at, made)
