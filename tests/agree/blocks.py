"""Statements with blocks: branches, `match`, loops; they join the others when imported."""

from __future__ import annotations

from dataclasses import replace

from lawful.spec import types as t
from tests.agree.bodies import QUIET, STATEMENTS, Body, Lines, Made, act, indented
from tests.agree.exprs import Env, Place, mutable


def _if(b: Body, env: Env) -> Made:
    lines = [f"if {b.expr(t.BOOL, env)}:", *indented(b.inner(env))]
    if b.chance(0.3):
        lines += [f"elif {b.expr(t.BOOL, env)}:", *indented(b.inner(env))]
    if b.chance(0.5):
        lines += ["else:", *indented(b.inner(env))]
    return lines, env


def _if_there(b: Body, env: Env) -> Made:
    """A value that may be None, narrowed by a test of its place."""
    rows = [p for p in env.places if p.path and t.NOTHING in t.options(p.kind)]
    rows = [p for p in rows if len(t.options(p.kind)) > 1]
    if not rows:
        return None
    p = b.rng.choice(rows)
    rest = t.union(tuple(o for o in t.options(p.kind) if o != t.NOTHING))
    local = Place(b.name(), rest)
    used = [f"{local.text} = {p.text}", *b.inner(env.plus(local))]
    if b.chance(0.5):
        return [f"if {p.text} is not None:", *indented(used)], env
    absent = b.inner(env)
    return [f"if {p.text} is None:", *indented(absent), "else:", *indented(used)], env


def _return(b: Body, env: Env) -> Made:
    """An early end."""
    value = "" if b.own.output == t.NOTHING else f" {b.expr(b.own.output, env, 1)}"
    return [f"if {b.expr(t.BOOL, env)}:", f"    return{value}"], env


# Match.


def _match(b: Body, env: Env) -> Made:
    rows = [p for p in env.places if _matched(p.kind)]
    if not rows:
        return None
    p = b.rng.choice(rows)
    lines = [f"match {p.text}:"]
    left = list(t.options(p.kind))
    b.rng.shuffle(left)
    closed = False
    for option in left[: b.rng.randint(1, 3)]:
        pattern, inner = _pattern(b, option, env)
        guard = f" if {b.expr(t.BOOL, inner, 1)}" if b.chance(0.2) else ""
        if not guard and pattern.startswith("case _"):
            closed = True
        lines += indented([f"{pattern}{guard}:", *indented(b.inner(inner))])
        if closed:
            break
    if not closed and b.chance(0.5):
        lines += indented(["case _:", *indented(b.inner(env))])
    return lines, env


def _matched(kind: t.Type) -> bool:
    return all(
        isinstance(o, t.Enum | t.Record | t.Nothing | t.Int | t.Bool) for o in t.options(kind)
    )


def _pattern(b: Body, kind: t.Type, env: Env) -> tuple[str, Env]:
    match kind:
        case t.Enum(name=name, members=members):
            some = b.rng.sample(members, b.rng.randint(1, 2))
            return f"case {' | '.join(f'{name}.{m}' for m in some)}", env
        case t.Bool():
            return f"case {b.chance(0.5)}", env
        case t.Serial():
            return f"case {b.literal(kind)}", env
        case t.Int():
            numbers = b.rng.sample(range(-1, 4), b.rng.randint(1, 2))
            return f"case {' | '.join(map(str, numbers))}", env
        case t.Nothing():
            return "case None", env
        case t.Record():
            return _record_pattern(b, kind, env)
        case _:
            return "case _", env


def _record_pattern(b: Body, kind: t.Record, env: Env) -> tuple[str, Env]:
    given: list[str] = []
    for name, of in kind.fields:
        if not b.chance(0.5):
            continue
        if b.chance(0.6):
            bound = Place(b.name(), of)
            env = env.plus(bound)
            given.append(f"{name}={bound.text}")
        elif isinstance(of, t.Int | t.Enum | t.Bool):
            given.append(f"{name}={_pattern(b, of, env)[0].removeprefix('case ')}")
    text = f"case {kind}({', '.join(given)})"
    if b.chance(0.3):
        whole = Place(b.name(), kind)
        return f"{text} as {whole.text}", env.plus(whole)
    return text, env


# Loops.


def _ordered_loop(b: Body, env: Env) -> Made:
    text, item, _ = b.source(env, 1, ordered=True)
    names, places = b.unpacked(item)
    # What is gone through is not changed, and nothing that stands in it.
    roots = tuple(p for p in env.own if p.text in text)
    inner = replace(
        env.plus(*places),
        own=tuple(p for p in env.own if p not in roots),
        families=tuple(f for f in env.families if f.text not in text),
    )
    lines = b.inner(inner)
    if b.chance(0.3):
        word = b.rng.choice(("break", "continue"))
        lines += [f"if {b.expr(t.BOOL, inner, 1)}:", f"    {word}"]
        if b.chance(0.5):
            lines += b.inner(inner, 1)
    return [f"for {names} in {text}:", *indented(lines)], env


def _unordered_loop(b: Body, env: Env) -> Made:
    """Rounds that commute: a place at the element, accumulation, guards."""
    text, item, _ = b.source(env, 1, ordered=False)
    names, places = b.unpacked(item)
    # Of `items()` the key alone tells one round from another.
    own = places[:1] if ".items()" in text or len(places) == 1 else []
    if ".values()" in text:
        own = []
    targets = [p for p in env.own if p.text not in text and p.text.startswith("self.")]
    chosen = b.rng.sample(targets, min(len(targets), b.rng.randint(1, 2)))
    inner = env.without(p.text for p in chosen).plus(*places)
    inner = replace(inner, own=(), locals=())
    lines = rounds(b, chosen, (inner, own))
    for _ in range(b.rng.randint(0, 1)):
        if b.own.guards:
            word = b.rng.choice(("require({0})", "assert {0}", 'require({0}, "each")'))
            lines.insert(b.rng.randint(0, len(lines)), word.format(b.expr(t.BOOL, inner, 1)))
    if not lines:
        return None
    if b.chance(0.3):
        lines = [f"if {b.expr(t.BOOL, inner, 1)}:", *indented(lines)]
    return [f"for {names} in {text}:", *indented(lines)], env


def rounds(b: Body, chosen: list[Place], inside: tuple[Env, list[Place]]) -> Lines:
    """Changes of these places; what is read inside the loop, and what tells its rounds apart."""
    lines: Lines = []
    for p in chosen:
        lines += _round(b, p, *inside)
    return lines


def _round(b: Body, p: Place, inner: Env, own: list[Place]) -> Lines:
    """One change of a place that rounds may make in any order."""
    match p.kind:
        case t.Serial():
            return [f"{p.text} {b.rng.choice('+-')}= {b.expr(t.INT, inner, 1)}"]
        case t.Int():
            row = b.rng.choice(
                ("{0} += {1}", "{0} -= {1}", "{0} = max({0}, {1})", "{0} = min({0}, {1})")
            )
            return [row.format(p.text, b.expr(t.INT, inner, 1))]
        case t.Set(item=item, mutable=True):
            if b.chance(0.5):
                return [f"{p.text}.add({b.expr(item, inner, 1)})"]
            op = b.rng.choice(("|=", "-=", "&="))
            return [f"{p.text} {op} {b.expr(t.Set(item, True), inner, 1)}"]
        case t.Map(key=key, value=value, mutable=True):
            at = [q.text for q in own if q.kind == key]
            if not at or mutable(value):
                return []
            if isinstance(value, t.Timer):
                return [f"{p.text}[{at[0]}].{act(b, inner)}"]
            if isinstance(value, t.Int) and b.chance(0.5):
                return [f"{p.text}[{at[0]}] += {b.expr(t.INT, inner, 1)}"]
            if b.chance(0.2) and not p.kind.total:
                return [f"del {p.text}[{at[0]}]"]
            return [f"{p.text}[{at[0]}] = {b.expr(value, inner, 1)}"]
        case t.Bag(item=item):
            at = [q.text for q in own if q.kind == item]
            if at:
                return [f"{p.text}[{at[0]}] += {b.expr(t.INT, inner, 0)}"]
            return [f"{p.text}[{b.expr(item, inner, 0)}] += 1"]
        case _:
            return []


STATEMENTS.extend(
    [
        _if,
        _if,
        _if_there,
        _return,
        _match,
        _match,
        _ordered_loop,
        _ordered_loop,
        _unordered_loop,
        _unordered_loop,
    ]
)
QUIET.extend([_if, _if_there, _return, _match, _ordered_loop])
