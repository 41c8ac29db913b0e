"""The ways to make a value: one small function each, by the class of its type."""

from __future__ import annotations

from dataclasses import replace

from lawful.spec import types as t
from tests.agree import exprs
from tests.agree.conditions import BOOLS
from tests.agree.exprs import Env, Place, Way, Writer, same
from tests.agree.kinds import STEP
from tests.agree.reading import among, member

# Any immutable type.


def _conditional(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    test = w.expr(t.BOOL, env, depth)
    return f"({w.expr(kind, env, depth)} if {test} else {w.expr(kind, env, depth)})"


def _of_record(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    rows = [
        f"{p.text}.{name}"
        for p in env.places
        if isinstance(p.kind, t.Record)
        for name, of in p.kind.fields
        if same(of, kind)
    ]
    return w.rng.choice(rows) if rows else None


def _common_field(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    """A field that all records of a union have."""
    rows: list[str] = []
    for p in env.places:
        options = t.options(p.kind)
        if len(options) > 1 and all(isinstance(o, t.Record) for o in options):
            fields = [dict(o.fields) for o in options if isinstance(o, t.Record)]
            rows += [
                f"{p.text}.{name}"
                for name, of in fields[0].items()
                if same(of, kind) and all(f.get(name) == of for f in fields)
            ]
    return w.rng.choice(rows) if rows else None


def _item(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    rows: list[str] = []
    for p in env.places:
        match p.kind:
            case t.Tuple(items=items):
                rows += [f"{p.text}[{i}]" for i, of in enumerate(items) if same(of, kind)]
                if same(items[-1], kind):
                    rows.append(f"{p.text}[-1]")
            case t.Map(key=key, value=value) if same(value, kind) and not env.sure:
                rows.append(f"{p.text}[{w.expr(key, env, min(depth, 1))}]")
            case t.Seq(item=item) if same(item, kind) and not env.sure:
                rows.append(f"{p.text}[{w.expr(t.INT, env, min(depth, 1))}]")
            case _:
                pass
    if not env.sure:
        rows += [
            member(w, f, env, p).text for f in env.families for p in f.reads if same(p.kind, kind)
        ]
    return w.rng.choice(rows) if rows else None


def _get(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    found = [p for p in env.places if isinstance(p.kind, t.Map) and same(p.kind.value, kind)]
    if not found:
        return None
    p = w.rng.choice(found)
    assert isinstance(p.kind, t.Map)
    return f"{p.text}.get({w.expr(p.kind.key, env, depth)}, {w.leaf(kind, env)})"


def _next(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    sure = replace(env, sure=True, calls=(), cans=())
    for _ in range(3):
        text, item, _ = w.source(sure, 0, True)
        if same(item, kind) and "range(" not in text:
            break
    else:
        return None
    name = w.name()
    inner = sure.plus(Place(name, item))
    condition = f" if {w.expr(t.BOOL, inner, depth)}" if w.chance(0.6) else ""
    return f"next(({name} for {name} in {text}{condition}), {w.leaf(kind, sure)})"


def _call(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    if env.sure:
        return None
    rows = [c for c in env.calls if same(c.output, kind)]
    rows += [member(w, f, env, c) for f in env.families for c in f.asks if same(c.output, kind)]
    if not rows:
        return None
    c = w.rng.choice(rows)
    return f"{c.text}({', '.join(w.expr(p, env, depth) for p in c.params)})"


def _narrowed(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    """An optional value used where it is there."""
    rows = [p for p in env.places if p.path and t.NOTHING in t.options(p.kind)]
    if not rows:
        return None
    p = w.rng.choice(rows)
    rest = t.union(tuple(o for o in t.options(p.kind) if o != t.NOTHING))
    inner = env.without((p.text,)).plus(Place(p.text, rest))
    used = w.expr(kind, inner, depth)
    if w.chance(0.5):
        return f"({w.expr(kind, env, 0)} if {p.text} is None else {used})"
    return f"({used} if {p.text} is not None else {w.expr(kind, env, 0)})"


# Serial numbers.


def _moved(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    a, n = w.expr(kind, env, depth), w.expr(t.INT, env, depth)
    return w.rng.choice((f"({a} + {n})", f"({n} + {a})", f"({a} - {n})"))


# Ordered sorts.


def _neighbour(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    if kind != STEP:
        return None
    return f"{w.rng.choice(('successor', 'predecessor'))}({w.expr(kind, env, depth)})"


# int.


def _rank(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    return f"rank({w.expr(STEP, env, depth)})"


def _distance(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    """From one serial number forward to another."""
    p = among(w, env, t.Serial)
    return None if p is None else f"({p.text} - {w.expr(p.kind, env, depth)})"


def _arithmetic(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    a, b = w.expr(t.INT, env, depth), w.expr(t.INT, env, depth)
    op = w.rng.choice(("+", "-", "*", "+", "-"))
    return f"({a} {op} {b})"


def _divided(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    if env.sure:
        return None
    a = w.expr(t.INT, env, depth)
    b = str(w.rng.choice((2, 3, -2, -3))) if w.chance(0.4) else w.expr(t.INT, env, depth)
    if w.chance(0.15):
        return f"divmod({a}, {b})[{w.rng.choice((0, 1))}]"
    return f"({a} {w.rng.choice(('//', '%'))} {b})"


def _of_one(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    row = w.rng.choice(("(-{0})", "abs({0})", "int({1})", "(+{0})", "int({0})"))
    return row.format(w.expr(t.INT, env, depth), w.expr(t.BOOL, env, depth))


def _extreme(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    args = [w.expr(t.INT, env, depth) for _ in range(w.rng.randint(2, 3))]
    return f"{w.rng.choice(('min', 'max'))}({', '.join(args)})"


def _measured(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    p = among(w, env, (t.Set, t.Map, t.Seq, t.Bag))
    if p is None:
        return f"len(range({w.expr(t.INT, env, 0)}))"
    if isinstance(p.kind, t.Bag) and w.chance(0.7):
        key = w.expr(p.kind.item, env, depth)
        rows = [f"{p.text}.total()", f"{p.text}.get({key}, {w.leaf(t.INT, env)})"]
        return w.rng.choice(rows if env.sure else [*rows, f"{p.text}[{key}]"])
    if isinstance(p.kind, t.Seq) and t.immutable(p.kind.item) and w.chance(0.5):
        word = "count" if env.sure or w.chance(0.5) else "index"
        return f"{p.text}.{word}({w.expr(p.kind.item, env, depth)})"
    return f"len({p.text})"


def _folded(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    word = w.rng.choice(("sum", "sum", "min", "max"))
    if word != "sum" and env.sure:
        return None
    default = f", default={w.rng.randint(-1, 2)}" if word != "sum" and w.chance(0.5) else ""
    found = [
        p
        for p in env.places
        if isinstance(p.kind, t.Set | t.Seq | t.Bag) and same(p.kind.item, t.INT)
    ]
    if found and w.chance(0.4):
        return f"{word}({w.rng.choice(found).text}{default})"
    text, inner, _ = w.clauses(env, depth)
    made = f"{w.expr(t.INT, inner, depth)} {text}"
    return f"{word}(({made}){default})" if default else f"{word}({made})"


# Records, unions, tuples.


def _record(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Record)
    known = [p for p in env.places if p.kind == kind]
    if known and w.chance(0.5):
        name, of = w.rng.choice(kind.fields)
        return f"{w.rng.choice(known).text}.replace({name}={w.expr(of, env, depth)})"
    args = [w.expr(of, env, depth) for _, of in kind.fields]
    if w.chance(0.3):
        args[-1] = f"{kind.fields[-1][0]}={args[-1]}"
    return f"{kind}({', '.join(args)})"


def _option(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Union)
    return w.expr(w.rng.choice(kind.options), env, depth)


def _get_optional(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    """`m.get(k)`: the value or None."""
    found = [
        p
        for p in env.places
        if isinstance(p.kind, t.Map)
        and t.immutable(p.kind.value)
        and t.fits(t.union((p.kind.value, t.NOTHING)), kind)
    ]
    if not found:
        return None
    p = w.rng.choice(found)
    assert isinstance(p.kind, t.Map)
    return f"{p.text}.get({w.expr(p.kind.key, env, depth)})"


def _tuple(w: Writer, kind: t.Type, env: Env, depth: int) -> str | None:
    assert isinstance(kind, t.Tuple)
    if kind.items == (t.INT, t.INT) and w.chance(0.3) and not env.sure:
        return f"divmod({w.expr(t.INT, env, depth)}, {w.expr(t.INT, env, depth)})"
    return f"({', '.join(w.expr(item, env, depth) for item in kind.items)},)"


INTEGERS: tuple[Way, ...] = (
    _arithmetic,
    _arithmetic,
    _divided,
    _of_one,
    _extreme,
    _measured,
    _measured,
    _folded,
    _distance,
    _rank,
)
exprs.WAYS.update(
    {
        t.Bool: BOOLS,
        t.Int: INTEGERS,
        t.Serial: (_moved, _moved),
        t.Sort: (_neighbour,),
        t.Record: (_record, _record),
        t.Union: (_option, _option, _get_optional),
        t.Tuple: (_tuple, _tuple),
        t.Type: (
            _conditional,
            _of_record,
            _common_field,
            _item,
            _item,
            _get,
            _next,
            _call,
            _narrowed,
        ),
    }
)
