"""Assignments in TLA+: the state that results from changing one place of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lawful.spec import ir
from lawful.spec import types as t

from .names import word
from .terms import Check, Checks, Env, Writer, has_every_key, unwritten


def stored(w: Writer, place: ir.Expr, value: str, env: Env) -> tuple[str, str, Checks]:
    """The result of assigning `value` to `place`: the root's name, its new value, and the checks.

    The root is a local, or the machine itself, whose name is empty.
    """
    checks: list[Check] = []
    while True:
        path, base, more = _path(w, place, env)
        checks.extend(more)
        if path:
            text, found = w.expr(base, env)
            checks.extend(found)
            value = f"[{text} EXCEPT !{path} = {value}]"
        match base:
            case ir.Self():
                return "", value, tuple(checks)
            case ir.Local(name=name):
                return name, value, tuple(checks)
            case ir.Item(of=of, key=key):
                (held, at), found = w.all((of, key), env)
                checks.extend(found)
                value, found = _put(of.type, (held, at, value))
                checks.extend(found)
                place = of
            case _:
                raise unwritten(place, "this place")


def _path(w: Writer, place: ir.Expr, env: Env) -> tuple[str, ir.Expr, list[Check]]:
    """The path of an EXCEPT to a place, through fields and total maps, and where it begins."""
    path, checks = "", list[Check]()
    while True:
        match place:
            case ir.Narrow(of=of):
                place = of
            case ir.Field(of=of, name=name):
                path, place = f".{word(name)}{path}", of
            case ir.Item(of=of, key=key) if isinstance(of.type, t.Map) and has_every_key(of.type):
                text, found = w.expr(key, env)
                checks = [*found, *checks]
                path, place = f"[{text}]{path}", of
            case _:
                return path, place, checks


def _put(kind: t.Type, parts: tuple[str, str, str]) -> tuple[str, Checks]:
    held, key, value = parts
    match kind:
        case t.Map():
            return f"Put({held}, {key}, {value})", ()
        case t.Bag():
            return f"PutCount({held}, {key}, {value})", ()
        case _:
            there = Check(f"HasAt({held}, {key})", "undefined")
            return f"[{held} EXCEPT ![At({held}, {key})] = {value}]", (there,)


def updated(w: Writer, s: ir.Update, env: Env) -> tuple[str, str, Checks]:
    """The new value at the place of an update, the value that it returns, and the checks."""
    held, before = w.expr(s.target, env)
    row = (type(s.target.type).__name__, s.op)
    if row in TIMERS:
        text, more = TIMERS[row](w, s, env)
        return text, "None", (*before, *more)
    args, more = w.all(s.args, env)
    if row in PLAIN:
        return PLAIN[row].format(held, *args), "None", (*before, *more)
    if row in REMOVALS:
        text, returned, checks = REMOVALS[row](held, args)
        return text, returned, (*before, *more, *checks)
    raise unwritten(s, f"{s.op} of {s.target.type}")


def _start(w: Writer, s: ir.Update, env: Env) -> tuple[str, Checks]:
    if not w.module.counting:
        return "TRUE", w.all(s.args, env)[1]
    expression = w.expr(s.args[0], env)
    return w.module.ticks(s.args[0].type, expression.text), expression.checks


def _stop(w: Writer, _s: ir.Update, _env: Env) -> tuple[str, Checks]:
    return w.stopped(), ()


# The new value and the value that is returned, of the container and the operands.
Removal = Callable[[str, Sequence[str]], tuple[str, str, Checks]]


def _remove(held: str, args: Sequence[str]) -> tuple[str, str, Checks]:
    there = Check(f"({args[0]} \\in {held})", "undefined")
    return f"({held} \\ {{{args[0]}}})", "None", (there,)


def _pop(held: str, args: Sequence[str]) -> tuple[str, str, Checks]:
    at = args[0] if args else "(-1)"
    there = Check(f"HasAt({held}, {at})", "undefined")
    return f"RemoveAt({held}, {at})", f"{held}[At({held}, {at})]", (there,)


def _remove_item(held: str, args: Sequence[str]) -> tuple[str, str, Checks]:
    there = Check(f"({args[0]} \\in Range({held}))", "undefined")
    return f"RemoveAt({held}, Index({held}, {args[0]}))", "None", (there,)


def _pop_key(held: str, args: Sequence[str]) -> tuple[str, str, Checks]:
    key, value = args[0], f"{held}[{args[0]}]"
    there = f"{key} \\in DOMAIN {held}"
    if len(args) == 2:
        return f"Without({held}, {key})", f"(IF {there} THEN {value} ELSE {args[1]})", ()
    return f"Without({held}, {key})", value, (Check(f"({there})", "undefined"),)


# Updates, by container and operator.
REMOVALS: dict[tuple[str, str], Removal] = {
    ("Set", "remove"): _remove,
    ("Seq", "pop"): _pop,
    ("Seq", "remove"): _remove_item,
    ("Map", "pop"): _pop_key,
    ("Map", "delete"): _pop_key,
}
TIMERS: dict[tuple[str, str], Callable[[Writer, ir.Update, Env], tuple[str, Checks]]] = {
    ("Timer", "start"): _start,
    ("Timer", "stop"): _stop,
}
PLAIN: dict[tuple[str, str], str] = {
    ("Set", "add"): "({0} \\cup {{{1}}})",
    ("Set", "discard"): "({0} \\ {{{1}}})",
    ("Set", "update"): "({0} \\cup {1})",
    ("Set", "clear"): "{{}}",
    ("Seq", "append"): "Append({0}, {1})",
    ("Seq", "extend"): "({0} \\o {1})",
    ("Seq", "insert"): "InsertAt({0}, {1}, {2})",
    ("Seq", "clear"): "<<>>",
    ("Map", "update"): "Merge({0}, {1})",
    ("Map", "clear"): "<<>>",
    ("Bag", "clear"): "<<>>",
}
