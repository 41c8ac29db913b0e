"""Statements about families of machines: made, dropped, stepped; they join the others."""

from __future__ import annotations

from dataclasses import replace

from lawful.spec import types as t
from tests.agree.blocks import rounds
from tests.agree.bodies import STATEMENTS, Body, Lines, Made, given, indented
from tests.agree.exprs import Callee, Env, Family, Place, domain


def _chosen(b: Body, env: Env) -> Family | None:
    return b.rng.choice(env.families) if env.families else None


def _new(b: Body, env: Env, f: Family) -> str:
    """A new member, with some of its parameters."""
    some = [p for p in f.fixed if b.chance(0.4)]
    return f"{f.name}({', '.join(f'{p.text[5:]}={b.expr(p.kind, env, 1)}' for p in some)})"


def _make(b: Body, env: Env) -> Made:
    """A member comes, and begins."""
    f = _chosen(b, env)
    if f is None:
        return None
    known = [p.text for p in env.places if p.kind == f.key and p.text.isidentifier()]
    # It is named twice, so it is the same at both places.
    key = b.rng.choice(known) if known and b.chance(0.7) else b.literal(f.key, env)
    lines = [f'require({key} not in {f.text}, "is there")'] if b.chance(0.3) else []
    lines.append(f"{f.text}[{key}] = {_new(b, env, f)}")
    if f.unset or (f.starts and b.chance(0.4)):
        start = b.rng.choice(f.starts)
        lines.append(f"{f.text}[{key}].{start.text}{b.args(start, env.without((f.text,)))}")
    return lines, env


def _drop(b: Body, env: Env) -> Made:
    f = _chosen(b, env)
    if f is None or f.total:
        return None
    if b.chance(0.2):
        return [f"{f.text}.clear()"], env
    return [f"del {f.text}[{b.element(f.key, env, 1)}]"], env


def _renew(b: Body, env: Env) -> Made:
    """All members of a total family are made anew."""
    f = _chosen(b, env)
    over = None if f is None else domain(f.key)
    if f is None or not f.total or over is None:
        return None
    name = b.name("k")
    inner = env.without((f.text,)).plus(Place(name, f.key))
    return [f"{f.text} = {{{name}: {_new(b, inner, f)} for {name} in {over}}}"], env


def _step(b: Body, env: Env) -> Made:
    """A step of one member, which may have a name."""
    f = _chosen(b, env)
    if f is None or not f.steps:
        return None
    c = b.rng.choice(f.steps)
    at = f"{f.text}[{b.element(f.key, env, 1)}]"
    if b.chance(0.6):
        return given(b, env, f"{at}.{c.text}{b.args(c, env)}", c.output)
    name = b.name()
    named = env.plus(*f.named(name))
    lines = [
        f"{name} = {at}",
        *([f"require(can({name}.{c.text}{_more(b, c, env)}))"] * b.chance(0.2)),
    ]
    made = given(b, named, f"{name}.{c.text}{b.args(c, named)}", c.output)
    return [*lines, *(made[0] if made else [])], env


def _more(b: Body, c: Callee, env: Env) -> str:
    """The arguments behind the first."""
    return "".join(f", {b.expr(kind, env, 1)}" for kind in c.params)


def _everyone(b: Body, env: Env) -> Made:
    """A step of each member, or something that is gathered from all."""
    f = _chosen(b, env)
    if f is None:
        return None
    key, member = b.name(), b.name()
    named = f.named(member)
    text, bound, own = f"{member} in {f.text}.values()", named, list[Place]()
    if b.chance(0.6):
        own = [Place(key, f.key)]
        text, bound = f"{key}, {member} in {f.text}.items()", (*own, *named)
    lines: Lines = []
    inner = replace(env.without((f.text,)).plus(*bound), own=(), locals=(), families=())
    if f.steps and b.chance(0.7):
        c = b.rng.choice(f.steps)
        lines = [f"{member}.{c.text}{b.args(c, inner)}"]
        if b.chance(0.5):
            lines = [f"if can({member}.{c.text}{_more(b, c, inner)}):", *indented(lines)]
    else:
        targets = [p for p in env.own if p.text.startswith("self.")]
        chosen = b.rng.sample(targets, min(len(targets), 1))
        lines = rounds(b, chosen, (inner.without(p.text for p in chosen), own))
    return ([f"for {text}:", *indented(lines)], env) if lines else None


def _reached(b: Body, env: Env) -> Made:
    """What is known of a member that is asked for."""
    f = _chosen(b, env)
    if f is None or not f.reads:
        return None
    p = b.rng.choice(f.reads)
    if isinstance(p.kind, t.Timer | t.Part):
        return None
    name = b.name()
    return [f"{name} = {f.text}[{b.element(f.key, env, 1)}].{p.text}"], env.plus(
        Place(name, p.kind)
    )


STATEMENTS.extend([_make, _make, _drop, _renew, _step, _step, _everyone, _everyone, _reached])
