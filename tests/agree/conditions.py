"""The ways to make a condition: one small function each."""

from __future__ import annotations

from dataclasses import replace

from lawful.spec import types as t
from tests.agree.exprs import Env, Place, Way, Writer
from tests.agree.kinds import STEP
from tests.agree.reading import among, member


def _compared(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    op = w.rng.choice(("<", "<=", ">", ">=", "==", "!="))
    text = f"{w.expr(t.INT, env, depth)} {op} {w.expr(t.INT, env, depth)}"
    if w.chance(0.2):
        text += f" {w.rng.choice(('<', '<=', '!='))} {w.expr(t.INT, env, depth)}"
    return f"({text})"


def _steps_compared(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    op = w.rng.choice(("<", "<=", ">", ">="))
    return f"({w.expr(STEP, env, depth)} {op} {w.expr(STEP, env, depth)})"


def _equal(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    rows = [p for p in env.places if not isinstance(p.kind, t.Timer | t.Part | t.Float)]
    rows = [p for p in rows if not t.contains(p.kind, t.Part) and not t.contains(p.kind, t.Timer)]
    if not rows:
        return None
    p = w.rng.choice(rows)
    op = w.rng.choice(("==", "!="))
    if isinstance(p.kind, t.Serial) and w.chance(0.5):
        return f"({p.text} {op} {w.literal(p.kind)})"
    return f"({p.text} {op} {w.read(p.kind, env, depth)})"


def _membership(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    kinds = (t.Set, t.Map, t.Seq, t.Bag)
    p = among(w, env, kinds)
    if p is None:
        return None
    item = t.element(p.kind)
    if item is None or t.contains(item, t.Map):
        return None
    view = ".values()" if isinstance(p.kind, t.Map) and w.chance(0.2) else ""
    if view:
        assert isinstance(p.kind, t.Map)
        item = p.kind.value
        if not t.immutable(item):
            return None
    value, held = w.expr(item, env, depth), f"{p.text}{view}"
    word = w.rng.choice(("in", "not in"))
    # Without a number of their own, so that all seeds stay what they are.
    optional = [p.text for p in env.places if _or_none(p.kind, item)]
    if optional and len(value) % 3 == 1:
        value = optional[len(value) // 3 % len(optional)]
    if isinstance(item, t.Int) and not isinstance(item, t.Serial) and len(value) % 4 == 0:
        held = ("range(2)", "range(0, 2)", "range(0, 3, 2)")[len(value) // 4 % 3]
    return f"({value} {word} {held})"


def _or_none(kind: t.Type, item: t.Type) -> bool:
    """Whether values of a kind are those of another, or None."""
    return kind != item and t.fits(kind, t.union((item, t.NOTHING))) and t.alike(kind, item)


def _is_none(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    rows = [p for p in env.places if t.NOTHING in t.options(p.kind)]
    if not rows:
        return None
    p = w.rng.choice(rows)
    test = f"{p.text} is not None"
    if p.path and w.chance(0.4):
        rest = t.union(tuple(o for o in t.options(p.kind) if o != t.NOTHING))
        inner = env.without((p.text,)).plus(Place(p.text, rest))
        if w.chance(0.5):
            return f"({test} and {w.expr(t.BOOL, inner, depth)})"
        return f"({p.text} is None or {w.expr(t.BOOL, inner, depth)})"
    return f"({p.text} is None)" if w.chance(0.5) else f"({test})"


def _is_a(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    rows = [p for p in env.places if any(isinstance(o, t.Record) for o in t.options(p.kind))]
    if not rows:
        return None
    p = w.rng.choice(rows)
    records = [o for o in t.options(p.kind) if isinstance(o, t.Record)]
    names = list({name: None for record in records for name in w.kinds.family(record)})
    if w.chance(0.3) and len(names) > 1:
        return f"isinstance({p.text}, ({names[0]}, {names[1]}))"
    name = w.rng.choice(names)
    if p.path and w.chance(0.4):
        inner = env.without((p.text,)).plus(Place(p.text, w.kinds.narrowed(p.kind, name)))
        return f"(isinstance({p.text}, {name}) and {w.expr(t.BOOL, inner, depth)})"
    return f"isinstance({p.text}, {name})"


def _logic(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    a, b = w.expr(t.BOOL, env, depth), w.expr(t.BOOL, env, depth)
    row = w.rng.choice(("not {0}", "{0} and {1}", "{0} or {1}", "{1} or {0} and not {1}"))
    if len(a) % 5 == 0:  # Without a number of its own, so that all seeds stay what they are.
        row = row.replace(" and not ", " ^ ").replace("and", "&").replace("or", "|")
    return f"({row.format(a, b)})"


def _implies(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    sure = replace(env, sure=True, calls=(), cans=())
    return f"implies({w.expr(t.BOOL, env, depth)}, {w.expr(t.BOOL, sure, depth)})"


def _quantified(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    text, inner, _ = w.clauses(env, depth)
    word, whole = w.rng.choice(("all", "any")), f"{w.expr(t.BOOL, inner, depth)} {text}"
    return f"{word}([{whole}])" if len(whole) % 5 == 0 else f"{word}({whole})"


def _before(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    """The order of serial numbers."""
    p = among(w, env, t.Serial)
    return None if p is None else f"before({p.text}, {w.expr(p.kind, env, depth)})"


def _all_of(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    found = [
        p
        for p in env.places
        if isinstance(p.kind, t.Set | t.Seq) and isinstance(p.kind.item, t.Bool)
    ]
    word = w.rng.choice(("all", "any"))
    if found:
        return f"{word}({w.rng.choice(found).text})"
    return f"{word}([{w.expr(t.BOOL, env, depth)}, {w.expr(t.BOOL, env, depth)}])"


def _sets_compared(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    p = among(w, env, t.Set)
    if p is None:
        return None
    assert isinstance(p.kind, t.Set)
    other = w.read(t.Set(p.kind.item, w.chance(0.5)), env, depth)
    row = w.rng.choice(
        (
            "({0} < {1})",
            "({0} <= {1})",
            "({0} > {1})",
            "({0} >= {1})",
            "{0}.isdisjoint({1})",
            "{0}.issubset({1})",
            "{0}.issuperset({1})",
        )
    )
    return row.format(p.text, other)


def _to_bool(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    return f"bool({w.expr(t.INT, env, depth)})"


def _armed(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    p = among(w, env, t.Timer)
    return None if p is None else f"{p.text}.armed"


def _can(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    rows = [*env.cans, *(member(w, f, env, c) for f in env.families for c in f.steps)]
    if not rows or env.sure:
        return None
    c = w.rng.choice(rows)
    return f"can({', '.join([c.text, *(w.expr(p, env, depth) for p in c.params)])})"


BOOLS: tuple[Way, ...] = (
    _compared,
    _compared,
    _steps_compared,
    _equal,
    _equal,
    _membership,
    _membership,
    _is_none,
    _is_a,
    _logic,
    _logic,
    _implies,
    _quantified,
    _all_of,
    _sets_compared,
    _to_bool,
    _armed,
    _can,
    _before,
)
