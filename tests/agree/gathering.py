"""The ways to make a sequence, a set, a map or a bag."""

from __future__ import annotations

from lawful.spec import types as t
from tests.agree import exprs
from tests.agree.exprs import Env, Place, Writer, same

# Sequences.


def _listed(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Seq)
    text, inner, _ = w.clauses(env, depth, ordered=True)
    made = f"{w.expr(kind.item, inner, depth)} {text}"
    return f"[{made}]" if kind.mutable else f"tuple({made})"


def _sequence_of(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Seq)
    if not t.immutable(kind.item):
        return None
    word = "list" if kind.mutable else "tuple"
    rows: list[str] = []
    for p in env.places:
        item = t.element(p.kind)
        if item is None or not same(item, kind.item) or isinstance(p.kind, t.Tuple):
            continue
        if t.orderable(item):
            rows.append(f"{word}(sorted({p.text}))")
            rows += [f"sorted({p.text})"] * kind.mutable
        if isinstance(p.kind, t.Seq):
            rows += [f"{word}({p.text})", f"{word}(reversed({p.text}))"]
            if p.kind.mutable == kind.mutable:
                low, high = (w.expr(t.INT, env, 0) for _ in range(2))
                part = w.rng.choice((f"{low}:", f":{high}", f"{low}:{high}", ":"))
                rows += [f"{p.text}[{part}]", f"({p.text} + {w.read(kind, env, depth)})"]
                rows += [f"{p.text}.copy()"] * kind.mutable
    return w.rng.choice(rows) if rows else None


def _sorted_comp(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Seq)
    if not kind.mutable or not t.orderable(kind.item):
        return None
    text, inner, _ = w.clauses(env, depth)
    return f"sorted({w.expr(kind.item, inner, depth)} {text})"


# Sets.


def _set_comp(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Set)
    text, inner, _ = w.clauses(env, depth)
    made = f"{w.element(kind.item, inner, depth)} {text}"
    if kind.mutable:
        return f"{{{made}}}" if w.chance(0.7) else f"set({made})"
    return f"frozenset({made})" if w.chance(0.7) else f"frozenset({{{made}}})"


def _set_of(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Set)
    word = "set" if kind.mutable else "frozenset"
    rows: list[str] = []
    for p in env.places:
        item = t.element(p.kind)
        if item is not None and same(item, kind.item) and not isinstance(p.kind, t.Tuple):
            rows.append(f"{word}({p.text})")
            if isinstance(p.kind, t.Map):
                rows.append(f"{word}({p.text}.keys())")
            if isinstance(p.kind, t.Set) and p.kind.mutable == kind.mutable:
                rows.append(f"{p.text}.copy()")
        if isinstance(p.kind, t.Map) and same(p.kind.value, kind.item):
            rows.append(f"{word}({p.text}.values())")
    return w.rng.choice(rows) if rows else None


def _algebra(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Set)
    found = [p.text for p in env.places if same(p.kind, kind)]
    left = w.rng.choice(found) if found else w.expr(kind, env, depth)
    right = w.read(t.Set(kind.item, w.chance(0.5)), env, depth)
    if w.chance(0.3):
        word = w.rng.choice(("union", "intersection", "difference", "symmetric_difference"))
        return f"{left}.{word}({right})"
    return f"({left} {w.rng.choice(('|', '&', '-', '^'))} {right})"


# Maps and bags.


def _map_comp(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Map)
    if kind.total:
        over = exprs.domain(kind.key)
        if over is None:
            return None
        name = w.name("k")
        inner = env.plus(Place(name, kind.key))
        return f"{{{name}: {w.expr(kind.value, inner, depth)} for {name} in {over}}}"
    ordered = w.chance(0.4)
    text, inner, in_order = w.clause(env, depth, ordered)
    if in_order:
        return f"{{{w.element(kind.key, inner, depth)}: {w.expr(kind.value, inner, depth)} {text}}}"
    bound = [p for p in inner.places[len(env.places) :] if p.text.isidentifier()]
    names = [p for p in bound if same(p.kind, kind.key)]
    if not names or (".values()" in text or (".items()" in text and len(inner.places) < 2)):
        return None
    return f"{{{names[0].text}: {w.expr(kind.value, inner, depth)} {text}}}"


def _map_of(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Map)
    if not t.immutable(kind.value):
        return None
    found = [
        p
        for p in env.places
        if isinstance(p.kind, t.Map)
        and same(p.kind.key, kind.key)
        and same(p.kind.value, kind.value)
        and p.kind.total >= kind.total
    ]
    if not found:
        return None
    p = w.rng.choice(found)
    assert isinstance(p.kind, t.Map)
    return f"{p.text}.copy()" if p.kind.mutable and w.chance(0.4) else f"dict({p.text})"


def _bag_of(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Bag)
    rows: list[str] = []
    for p in env.places:
        item = t.element(p.kind)
        if item is None or not same(item, kind.item) or isinstance(p.kind, t.Tuple):
            continue
        if isinstance(p.kind, t.Map) and not same(p.kind.value, t.INT):
            continue
        rows.append(f"Counter({p.text})")
        rows += [f"{p.text}.copy()"] * isinstance(p.kind, t.Bag)
    return w.rng.choice(rows) if rows else None


exprs.WAYS.update(
    {
        t.Seq: (_listed, _sequence_of, _sequence_of, _sorted_comp),
        t.Set: (_set_comp, _set_of, _algebra, _algebra),
        t.Map: (_map_comp, _map_of),
        t.Bag: (_bag_of,),
    }
)
