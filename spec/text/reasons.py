"""Why a condition is false, in words: one text for refusals, one for failed properties.

An engine finds the first false conjunct (`conjuncts`), evaluates what is `shown` of it, writes each
value with `text` of its JSON form, and fills them in:

    refusal(test, ["7", "1"])       7 <= 1 is false
    refusal(test, ["3", "{}"])      next in buffer is false: next = 3, buffer = {}
    failure(test, ["4", "4"])       big != 4 is false (big = 4)

What is shown has a value wherever the condition had one, so evaluating it needs no care.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import ir, ops
from .. import types as t
from ..sorting import in_order
from ..values.text import text_of
from ..values.world import TextToken, Token, chosen, encode
from .statements import path

LONGEST = 60  # Characters of one value; a refusal is one line.
MOST_ELEMENTS = 32  # What a refusal costs does not grow with what it is about.


def conjuncts(test: ir.Expr) -> tuple[ir.Expr, ...]:
    """The operands of the outermost `and`s, left to right; the condition alone if it is none.

    They are to be tested in this order, and none after the first false one.
    """
    if isinstance(test, ir.And):
        return tuple(each for arg in test.args for each in conjuncts(arg))
    return (test,)


def shown(test: ir.Expr) -> tuple[ir.Expr, ...]:
    """The expressions to evaluate to explain that `test` is false.

    Both sides of a comparison of plain values; otherwise the places of the state and the arguments
    that the condition reads, each once.
    """
    if isinstance(test, ir.Op) and _substituted(test):
        return test.args
    if _flag(test) is not None:
        return ()
    return tuple(dict.fromkeys(_places(test, frozenset(), True)))


def refusal(test: ir.Expr, values: Sequence[str]) -> str:
    """Why a guard is false; `values` are the texts of what `shown` names, in its order."""
    match test:
        case ir.Op() if _substituted(test):
            left, right = values
            return f"{left} {_sign(test)} {right} is false"
        case _:
            return _flag(test) or _with(test, values, ": ", "")


def failure(test: ir.Expr, values: Sequence[str]) -> str:
    """Why a property or an `assert` is false; `values` as for `refusal`."""
    return _flag(test) or _with(test, values, " (", ")")


def named(test: ir.Expr, values: Sequence[ir.Json]) -> dict[str, ir.Json]:
    """The values by the names of their places, constants left out."""
    pairs = zip(shown(test), values, strict=True)
    return {path(e): value for e, value in pairs if not isinstance(e, ir.Const)}


def source(control: str, state: str, allowed: Sequence[str]) -> str:
    """Why a transition is not possible in this control state; `control` is the place's text."""
    return f"{control} is {state}, not {' or '.join(allowed)}"


def absent(place: ir.Expr, key: str) -> str:
    """The reason why a transition of a family's member is refused: there is no such member."""
    return f"{path(place)} has no {key}"


def timer(place: ir.Expr, left: str | None) -> str:
    """Why a timer's transition is refused; `left` is the time until it is due, if it is armed."""
    found = f"timer {path(place)} is not"
    return f"{found} armed" if left is None else f"{found} due: {left} left"


def seconds(left: float) -> str:
    """A number of seconds, as text of a `timer` call."""
    return f"{left:.3g} s are"


def form(value: Any, kind: t.Type) -> ir.Json:
    """The JSON form of a value in a refusal; of a large container only how large it is."""
    if _is_large(value, kind):
        return f"{len(value)} elements"
    return plain(value, kind)


def plain(value: Any, kind: t.Type) -> ir.Json:
    """The JSON form of a value; of a family of machines only who is in it."""
    if isinstance(kind, t.Map) and t.part_of(kind) is not None:
        return encode(frozenset(value), t.Set(kind.key, mutable=False))
    return encode(value, kind)


def told(value: Any, kind: t.Type) -> str:
    """The short text of a value in a refusal."""
    return text(form(visible(value, kind), kind))


def visible(value: Any, kind: t.Type) -> Any:
    """The value with opaque ones shown by their texts instead of hashes, where they have texts."""
    if not t.contains(kind, t.Opaque) or _is_large(value, kind):
        return value
    from ..values.opaque_places import replaced  # Few machines have opaque values.
    from ..values.opaque_texts import own_text

    def seen(held: Any, name: str) -> Any:
        shown_as = None if isinstance(held, Token) else own_text(held)
        return held if shown_as is None else TextToken(name, shown_as)

    return replaced(value, kind, seen)


def _is_large(value: Any, kind: t.Type) -> bool:
    return isinstance(kind, t.Set | t.Map | t.Seq | t.Bag) and len(value) > MOST_ELEMENTS


PLAIN = t.Bool | t.Int | t.Enum | t.Sort | t.Text | t.Nothing | t.Float | t.Part | t.Unknown


def spoken(value: Any, kind: t.Type) -> str:
    """A value in an f-string: plain ones as Python has it, others in an order of their own."""
    if isinstance(kind, t.Union):
        kind = chosen(value, kind)
    if isinstance(kind, PLAIN):
        return text_of(value)
    if isinstance(kind, t.Iter) and not kind.ordered:
        value = tuple(in_order(value))
    return _text(form(visible(value, kind), kind))


def text(value: ir.Json) -> str:
    """The JSON form of a value as short text: `Ack(seqno=1)`, `{1, 2}`, `OPEN`."""
    whole = _text(value)
    return whole if len(whole) <= LONGEST else whole[: LONGEST - 3] + "..."


def _text(value: ir.Json) -> str:
    match value:
        case dict() if "$" in value:
            inside = ", ".join(f"{k}={_text(v)}" for k, v in value.items() if k != "$")
            return f"{value['$']}({inside})"
        case {"$int": str(digits)}:
            return digits
        case {"$tuple": list(items)}:
            return f"({', '.join(map(_text, items))}{',' * (len(items) == 1)})"
        case {"$set": list(items)}:
            return f"{{{', '.join(map(_text, items))}}}" if items else "set()"
        case {"$map": list(rows)}:
            return f"{{{', '.join(_pair(row) for row in rows)}}}"
        case {"$opaque": str(name), "id": identity}:
            return f"{name}({identity})"
        case dict():
            return f"{{{', '.join(f'{k}: {_text(v)}' for k, v in value.items())}}}"
        case list():
            return f"[{', '.join(map(_text, value))}]"
        case _:
            return str(value)


def _pair(row: ir.Json) -> str:
    assert isinstance(row, list)
    return f"{_text(row[0])}: {_text(row[1])}"


def _with(test: ir.Expr, values: Sequence[str], before: str, after: str) -> str:
    pairs = zip(shown(test), values, strict=True)
    rows = [f"{path(e)} = {value}" for e, value in pairs if not isinstance(e, ir.Const)]
    return f"{path(test)} is false{before + ', '.join(rows) + after if rows else ''}"


def _sign(test: ir.Op) -> str:
    return {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[test.op]


def _substituted(test: ir.Op) -> bool:
    """Whether values in the place of the operands say it all: plain ones, compared."""
    plain = t.Int | t.Enum | t.Sort | t.Opaque
    return test.op in ops.COMPARISONS and all(isinstance(arg.type, plain) for arg in test.args)


def _flag(test: ir.Expr) -> str | None:
    """A single variable, or its negation: the reason shows its value."""
    match test:
        case ir.Local() | ir.Field():
            return f"{path(test)} is false"
        case ir.Op(op="not", args=((ir.Local() | ir.Field()) as of,)):
            return f"{path(of)} is true"
        case _:
            return None


def _places(e: ir.Expr, bound: frozenset[str], evaluated: bool) -> Iterator[ir.Expr]:
    """The places that an expression reads, as far as they surely have a value.

    `evaluated`: the condition's value came through this expression, so that it had one itself;
    `bound`: names that mean something only inside.
    """
    match e:
        case ir.Narrow(of=of):
            yield from _places(of, bound, evaluated)
        case ir.Local(name=name):
            if name not in bound:
                yield e
        case ir.Field() | ir.Item() if _shows(e, bound, evaluated):
            yield e
        case ir.Comp(clauses=clauses):
            inner = bound | {name for clause in clauses for name in clause.names}
            for i, clause in enumerate(clauses):
                yield from _places(clause.over, inner if i else bound, evaluated and i == 0)
                for condition in clause.conditions:
                    yield from _places(condition, inner, False)
            yield from _places(e.element, inner, False)
        case ir.And(args=(first, *rest)) | ir.Or(args=(first, *rest)):
            yield from _places(first, bound, evaluated)
            for each in rest:
                yield from _places(each, bound, False)
        case ir.If(test=test, then=then, other=other):
            yield from _places(test, bound, evaluated)
            yield from _places(then, bound, False)
            yield from _places(other, bound, False)
        case _:
            for child in _operands(e):
                yield from _places(child, bound, evaluated)


def _operands(e: ir.Expr) -> tuple[ir.Expr, ...]:
    match e:
        case ir.Op(args=args) | ir.Make(args=args) | ir.Call(args=args) | ir.Can(args=args):
            return args
        case ir.Field(of=of) | ir.IsA(of=of) | ir.Needed(of=of):
            return (of,)
        case ir.Item(of=of, key=key):
            return of, key
        case _:
            return ()


def _shows(e: ir.Expr, bound: frozenset[str], evaluated: bool) -> bool:
    """Whether the place as a whole can be shown: it is a value, free here, and surely there."""
    if isinstance(e.type, t.Part):
        return False
    while True:
        match e:
            case ir.Narrow(of=of) if evaluated:
                e = of
            case ir.Field(of=of) if evaluated or not isinstance(of, ir.Item | ir.Narrow):
                e = of
            case ir.Item(of=of, key=key) if evaluated:
                if any(place in bound for place in _names(key)):
                    return False
                e = of
            case ir.Self():
                return True
            case ir.Local(name=name):
                return name not in bound
            case _:
                return False


def _names(e: ir.Expr) -> Iterator[str]:
    if isinstance(e, ir.Local):
        yield e.name
    for child in _operands(e):
        yield from _names(child)
