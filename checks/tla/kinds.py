"""Types in TLA+: the sets of their values, their bounds, and their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lawful.spec import types as t

from .names import AND, CUP, TIMES, CannotWrite, quoted, word

NONE = "None"
LARGEST = 2**31 - 1  # TLC's integers have 32 bits.


def integer(value: int) -> str:
    """The integer. Raises CannotWrite where it does not fit into the 32 bits of TLC."""
    if abs(value) > LARGEST:
        raise CannotWrite(f"the integer {value}: those of TLC have 32 bits")
    return str(value) if value >= 0 else f"({value})"


def values(kind: t.Type) -> str:
    """The set of all values of a bounded type. Raises CannotWrite for any other."""
    match kind:
        case t.Bool() | t.Timer(ticks=False):
            return "BOOLEAN"
        case t.Nothing():
            return f"{{{NONE}}}"
        case t.Int(low=int() as low, high=int() as high):
            return f"({integer(low)}..{integer(high)})"
        case t.Enum(members=members):
            return f"{{{', '.join(map(quoted, members))}}}"
        case t.Sort(name=name) | t.Opaque(name=name):
            return word(name)
        case t.Record(name=name, fields=fields):
            rows = [f"is : {{{quoted(name)}}}", *(f"{word(f)} : {values(k)}" for f, k in fields)]
            return f"[{', '.join(rows)}]"
        case t.Union(options=options):
            return f"({CUP.join(map(values, options))})"
        case t.Tuple(items=()):
            return "{<<>>}"
        case t.Tuple(items=(only,)):
            return f"Singles({values(only)})"
        case t.Tuple(items=items):
            return f"({TIMES.join(map(values, items))})"
        case _:
            return _containers(kind)


def _containers(kind: t.Type) -> str:
    match kind:
        case t.Seq(item=item, most=int() as most):
            return f"Lists({values(item)}, {integer(most)})"
        case t.Set(item=item):
            return f"(SUBSET {values(item)})"
        case t.Map(key=key, value=value, total=True):
            return f"[{values(key)} -> {values(value)}]"
        case t.Map(key=key, value=value):
            return f"Maps({values(key)}, {values(value)})"
        case _:
            raise CannotWrite(f"all values of {kind}, for an argument")


Fresh = Callable[[str], str]
Part = Callable[[str, str], str | None]


def within(text: str, kind: t.Type, fresh: Fresh, part: Part) -> str | None:
    """The condition that a value is within the bounds of its type; None without bounds.

    `fresh` gives names; `part(machine, text)` is the condition for a value of a machine.
    """

    def inside(value: str, of: t.Type) -> str | None:
        return within(value, of, fresh, part)

    match kind:
        case t.Int(low=low, high=high):
            rows = [f"{integer(low)} <= {text}"] if low is not None else []
            return both([*rows, *([f"{text} <= {integer(high)}"] if high is not None else [])])
        case t.Clock(most=int() as most):
            return f"({text} <= {integer(most)})"
        case t.Record(fields=fields):
            return both(inside(f"{text}.{word(name)}", of) for name, of in fields)
        case t.Union(options=options):
            return both(_option(text, of, inside(text, of), kind) for of in options)
        case t.Tuple(items=items):
            return both(inside(f"{text}[{i + 1}]", of) for i, of in enumerate(items))
        case t.Part(machine=name):
            return part(name, text)
        case _:
            return _container(text, kind, fresh, inside)


Inside = Callable[[str, t.Type], str | None]


def _container(text: str, kind: t.Type, fresh: Fresh, inside: Inside) -> str | None:
    match kind:
        case t.Seq(item=item, most=most):
            short = None if most is None else f"(Len({text}) <= {integer(most)})"
            at = fresh("i")
            return both([short, _each(at, f"DOMAIN {text}", inside(f"{text}[{at}]", item))])
        case t.Set(item=item):
            one = fresh("x")
            return _each(one, text, inside(one, item))
        case t.Bag(item=item, most=most):
            one, all_ = fresh("x"), f"DOMAIN {text}"
            total = f"Sum({all_}, LAMBDA {one} : {text}[{one}])"
            return both(
                [
                    _each(one, all_, f"({text}[{one}] >= 0)"),
                    None if most is None else f"({total} <= {integer(most)})",
                    _each(one, all_, inside(one, item)),
                ]
            )
        case t.Map(key=key, value=value):
            one = fresh("k")
            rows = both([inside(one, key), inside(f"{text}[{one}]", value)])
            return _each(one, f"DOMAIN {text}", rows)
        case _:
            return None


def is_of(text: str, kind: t.Type) -> str:
    """The condition that a value of a union has this option as its type."""
    match kind:
        case t.Nothing():
            return f"({text} = {NONE})"
        case t.Record(name=name):
            return f"({text}.is = {quoted(name)})"
        case _:
            return f"({text} # {NONE})"


def _option(text: str, kind: t.Type, inside: str | None, union: t.Union) -> str | None:
    if inside is None:
        return None
    some = f"({text} # {NONE})" if t.NOTHING in union.options else None
    test = both([some, is_of(text, kind)]) if isinstance(kind, t.Record) else some
    return inside if test is None else f"({test} => {inside})"


def _each(name: str, over: str, inside: str | None) -> str | None:
    return None if inside is None else f"(\\A {name} \\in {over} : {inside})"


def both(rows: Iterable[str | None]) -> str | None:
    """The conjunction of the conditions that are not None; None where all are."""
    found = [row for row in rows if row is not None]
    return f"({AND.join(found)})" if found else None


def less(left: str, right: str, kind: t.Type, *, equal: bool = False) -> str:
    """The condition `left < right`, or `left <= right` with `equal`, in the order of the type."""
    match kind:
        case t.Int():
            return f"({left} {'<=' if equal else '<'} {right})"
        case t.Sort(name=name, ordered=True):
            of = f"{word(name)}_rank"
            return f"({of}[{left}] {'<=' if equal else '<'} {of}[{right}])"
        case t.Tuple(items=items) if items:
            rows = "TRUE" if equal else "FALSE"
            for i, item in reversed(list(enumerate(items, 1))):
                a, b = f"{left}[{i}]", f"{right}[{i}]"
                rows = f"({less(a, b, item)} \\/ (({a} = {b}) /\\ {rows}))"
            return rows
        case _:
            raise CannotWrite(f"the order of {kind}")
