"""Expressions of generated bodies, top-down: the text of a value of the type that is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from lawful.spec import ops
from lawful.spec import types as t
from tests.agree.kinds import COLOR, NODE, Kinds, edges

EDGES = (2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**64)


class Dead(Exception):
    """Nothing of this type can be written here."""


TEXTS = sorted(ops.TEXTS)


@dataclass(frozen=True)
class Place:
    """Something that can be read: its text and type; `path` where tests narrow it."""

    text: str
    kind: t.Type
    path: bool = True

    def spoken(self, number: int) -> str:
        """What an f-string has of it in its braces: for some numbers, with a format, or as text
        that a method changes."""
        wide = ":>4" if isinstance(self.kind, t.Int) else "!s:>10"
        if number % 6 == 2:
            return f"str({self.text}).{TEXTS[number % len(TEXTS)]}()"
        if number % 6 == 5:
            return f"', '.join([str({self.text}), 'b'])"
        return self.text + (wide if number % 3 == 1 else "")


@dataclass(frozen=True)
class Callee:
    """Something that can be called: the text before the parenthesis."""

    text: str
    params: tuple[t.Type, ...]
    output: t.Type


@dataclass(frozen=True)
class Family:
    """A map of machines; what a member has is named from it on: `x1`, not `self.x1`."""

    text: str
    name: str  # Of the class of its members.
    key: t.Type
    total: bool
    reads: tuple[Place, ...]
    steps: tuple[Callee, ...]
    asks: tuple[Callee, ...]
    starts: tuple[Callee, ...]
    fixed: tuple[Place, ...]
    unset: bool  # Whether a new member must be started.

    def named(self, member: str) -> tuple[Place, ...]:
        """What can be read of a member that has a name."""
        return tuple(replace(p, text=f"{member}.{p.text}") for p in self.reads)


@dataclass(frozen=True)
class Env:
    """What can be read at some point of a body; `sure`: only what always has a value."""

    places: tuple[Place, ...] = ()
    calls: tuple[Callee, ...] = ()
    cans: tuple[Callee, ...] = ()
    families: tuple[Family, ...] = ()
    sure: bool = False
    own: tuple[Place, ...] = ()  # What may be changed: variables, and containers of this body.
    locals: tuple[Place, ...] = ()  # Immutable locals that may be assigned again.

    def plus(self, *places: Place) -> Env:
        """With more to read."""
        return replace(self, places=(*self.places, *places))

    def without(self, texts: Iterable[str]) -> Env:
        """Without what begins with these texts, and without calls, which may read anything."""
        gone = tuple(texts)
        kept = tuple(p for p in self.places if not p.text.startswith(gone))
        families = tuple(f for f in self.families if not f.text.startswith(gone))
        return replace(self, places=kept, calls=(), cans=(), families=families)


def same(a: t.Type, b: t.Type) -> bool:
    """Whether a value of one type is one of the other, bounds of integers aside."""
    return a is b or (t.fits(a, b) and t.fits(b, a))


def mutable(kind: t.Type) -> bool:
    """Whether it is a container that is changed where it stands."""
    return not t.immutable(kind) and not isinstance(kind, t.Timer | t.Part)


class Writer:
    """Writes expressions."""

    def __init__(self, rng: Random, kinds: Kinds) -> None:
        self.rng = rng
        self.kinds = kinds
        self.count = 0

    def name(self, prefix: str = "v") -> str:
        """A name that nothing has."""
        self.count += 1
        return f"{prefix}{self.count}"

    def chance(self, p: float) -> bool:
        """True with that probability."""
        return self.rng.random() < p

    # Any type.

    def expr(self, kind: t.Type, env: Env, depth: int = 2) -> str:
        """A value of this type, a container of its own where it is mutable; Dead if there is
        none."""
        if depth > 0 and self.chance(0.75):
            rows = WAYS.get(type(kind), ()) + (WAYS[t.Type] if t.immutable(kind) else ())
            for _ in range(3):
                way = self.rng.choice(rows) if rows else None
                made = None if way is None else way(self, kind, env, depth - 1)
                if made is not None:
                    return made
        return self.leaf(kind, env)

    def leaf(self, kind: t.Type, env: Env) -> str:
        """Something to read, or a literal."""
        if t.immutable(kind):
            known = [p for p in env.places if same(p.kind, kind)]
            if known and self.chance(0.7):
                return self.rng.choice(known[-6:] if self.chance(0.5) else known).text
            try:
                return self.literal(kind, env)
            except Dead:
                if known:
                    return self.rng.choice(known).text
                raise
        return self.literal(kind, env)

    def literal(self, kind: t.Type, env: Env | None = None) -> str:
        """A value written out; `env` is None in defaults. Dead for what has no literal."""
        rng = self.rng
        match kind:
            case t.Bool():
                return rng.choice(("True", "False"))
            case t.Serial():
                return self.serial(kind, env)
            case t.Int(low=low, high=high):
                if env is not None and self.chance(0.02):
                    return f"({rng.choice(EDGES)})"
                return str(rng.randint(-2 if low is None else low, 3 if high is None else high))
            case t.Enum(name=name, members=members):
                return f"{name}.{rng.choice(members)}"
            case t.Sort(name=name):
                return f'{name}("{name}{rng.randint(1, 2)}")'
            case t.Record(name=name, fields=fields):
                return f"{name}({', '.join(self._item(of, env) for _, of in fields)})"
            case t.Union(options=options):
                return self._item(rng.choice(self._writable(options, env)), env)
            case t.Nothing():
                return "None"
            case t.Float():
                return "0.0"
            case _:
                return self._collection(kind, env)

    def serial(self, kind: t.Serial, env: Env | None) -> str:
        """A serial number: in a body from another one, for Python would not wrap a constant."""
        number = self.rng.choice(edges(kind))
        if env is None:
            return str(number)
        known = [p.text for p in env.places if p.kind == kind]
        if not known:
            raise Dead
        return f"({self.rng.choice(known)} {self.rng.choice('+-')} {number})"

    def _writable(self, options: Sequence[t.Type], env: Env | None) -> list[t.Type]:
        """The alternatives that can be written; None where nothing else can."""
        found = [o for o in options if env is not None or not opaque(o)]
        if not found:
            raise Dead
        return found

    def _item(self, kind: t.Type, env: Env | None) -> str:
        """What stands inside a literal."""
        return self.literal(kind) if env is None else self.leaf(kind, env)

    def _collection(self, kind: t.Type, env: Env | None) -> str:
        empty = self.chance(0.4)
        match kind:
            case t.Tuple(items=items):
                return f"({', '.join(self._item(item, env) for item in items)},)"
            case t.Seq(item=item, mutable=mutable):
                texts = [] if empty else self._several(item, env)
                if mutable:
                    return f"[{', '.join(texts)}]"
                return f"({''.join(f'{text}, ' for text in texts)})"
            case t.Set(item=item, mutable=mutable):
                texts = [] if empty else self._hashed(item, env)
                display = f"{{{', '.join(texts)}}}" if texts else ""
                if mutable:
                    return display or "set()"
                return f"frozenset({display})"
            case t.Map(key=key, value=value, total=True):
                return self.total(key, value, env)
            case t.Map(key=key, value=value):
                keys = [] if empty else self._hashed(key, env)
                return f"{{{', '.join(f'{k}: {self._item(value, env)}' for k in keys)}}}"
            case t.Bag(item=item):
                texts = [] if empty else self._hashed(item, env)
                return f"Counter([{', '.join(texts)}])" if texts else "Counter()"
            case _:
                raise Dead

    def _several(self, kind: t.Type, env: Env | None) -> list[str]:
        return [self._item(kind, env) for _ in range(self.rng.randint(1, 2))]

    def _hashed(self, kind: t.Type, env: Env | None) -> list[str]:
        """Elements and keys; of maps only those that are there, for a new one is a dict."""
        if not t.contains(kind, t.Map):
            return self._several(kind, env)
        return [] if env is None else [self.element(kind, env, 0)]

    def element(self, kind: t.Type, env: Env, depth: int) -> str:
        """What a set holds, or a map as a key."""
        if not t.contains(kind, t.Map):
            return self.expr(kind, env, depth)
        known = [p.text for p in env.places if same(p.kind, kind)]
        if not known:
            raise Dead
        return self.rng.choice(known)

    def total(self, key: t.Type, value: t.Type, env: Env | None) -> str:
        """A map that has every key."""
        if env is None:
            head = "lambda k: " if self.chance(0.4) else ""
            return f"total({head}{self._item(value, env)})"
        over = domain(key)
        if over is None or (isinstance(key, t.Enum) and self.chance(0.3)):
            keys = written(key)
            return f"{{{', '.join(f'{k}: {self._item(value, env)}' for k in keys)}}}"
        name = self.name("k")
        inner = env.plus(Place(name, key))
        return f"{{{name}: {self._item(value, inner)} for {name} in {over}}}"

    def read(self, kind: t.Type, env: Env, depth: int = 1) -> str:
        """A value that is only read: a place also where it is a mutable container."""
        known = [p for p in env.places if same(p.kind, kind)]
        if known and self.chance(0.7):
            return self.rng.choice(known).text
        return self.expr(kind, env, depth)

    # What can be iterated.

    def source(self, env: Env, depth: int, ordered: bool | None = None) -> tuple[str, t.Type, bool]:
        """What stands after `in`, the type of its elements, and whether it has an order."""
        rows: list[tuple[str, t.Type, bool]] = [
            (f"range({self.rng.randint(0, 3)})", t.INT, True),
            (f"range(max(-3, {self.expr(t.INT, env, 0)}), {self.rng.randint(-1, 3)})", t.INT, True),
            (f"range({self.rng.randint(0, 3)}, -2, {self.rng.choice((-1, -2))})", t.INT, True),
            ("Color", COLOR, True),
            ("Node", NODE, False),
            ("subsets(Node)", t.Set(NODE, False), False),
        ]
        for p in env.places:
            item = t.element(p.kind)
            if item is None or isinstance(p.kind, t.Tuple | t.Timer | t.Part):
                continue
            if isinstance(item, t.Timer | t.Part):
                continue
            in_order = t.ordered(p.kind)
            rows += [(p.text, item, in_order)] * 3
            if isinstance(p.kind, t.Set):
                rows.append((f"subsets({p.text})", t.Set(item, False), False))
            rows += self._views(p, item, in_order)
        rows = [row for row in rows if ordered is None or row[2] == ordered]
        return self.rng.choice(rows)

    def _views(self, p: Place, item: t.Type, in_order: bool) -> list[tuple[str, t.Type, bool]]:
        rows: list[tuple[str, t.Type, bool]] = []
        if isinstance(p.kind, t.Map):
            value = p.kind.value
            rows.append((f"{p.text}.keys()", item, False))
            if not isinstance(value, t.Timer | t.Part):
                rows.append((f"{p.text}.values()", value, False))
                rows.append((f"{p.text}.items()", t.Tuple((item, value)), False))
        if in_order:
            rows.append((f"enumerate({p.text})", t.Tuple((t.INT, item)), True))
            rows.append((f"reversed({p.text})", item, True))
            rows.append((f"zip({p.text}, {p.text})", t.Tuple((item, item)), True))
        elif t.orderable(item):
            rows.append((f"sorted({p.text})", item, True))
        return rows

    def clause(self, env: Env, depth: int, ordered: bool | None = None) -> tuple[str, Env, bool]:
        """`for x in xs if c`, what can be read behind it, and whether it is ordered."""
        if env.families and not ordered and self.chance(0.3):
            return self.members(env, depth)
        text, item, in_order = self.source(env, depth, ordered)
        names, bound = self.unpacked(item)
        inner = env.plus(*bound)
        condition = ""
        if self.chance(0.4):
            condition = f" if {self.expr(t.BOOL, inner, depth)}"
        return f"for {names} in {text}{condition}", inner, in_order

    def members(self, env: Env, depth: int) -> tuple[str, Env, bool]:
        """The same, through the members of a family."""
        f = self.rng.choice(env.families)
        key, member = self.name(), self.name()
        if self.chance(0.5):
            text, bound = f"{member} in {f.text}.values()", f.named(member)
        else:
            text, bound = f"{key}, {member} in {f.text}.items()", f.named(member)
            bound = (Place(key, f.key), *bound)
        inner = env.plus(*bound)
        condition = f" if {self.expr(t.BOOL, inner, depth)}" if self.chance(0.4) else ""
        return f"for {text}{condition}", inner, False

    def unpacked(self, item: t.Type) -> tuple[str, list[Place]]:
        """The names of a loop, and what they are."""
        if isinstance(item, t.Tuple) and self.chance(0.8):
            names = [self.name() for _ in item.items]
            places = [Place(n, of) for n, of in zip(names, item.items, strict=True)]
            return ", ".join(names) + "," * (len(names) == 1), places
        name = self.name()
        return name, [Place(name, item)]

    def clauses(self, env: Env, depth: int, ordered: bool | None = None) -> tuple[str, Env, bool]:
        """One clause, or two."""
        text, inner, in_order = self.clause(env, depth, ordered)
        if self.chance(0.12):
            more, inner, second = self.clause(inner, 0, ordered)
            return f"{text} {more}", inner, in_order and second
        return text, inner, in_order


def opaque(kind: t.Type) -> bool:
    """Whether a value of this type cannot be written, for it has an opaque value in it."""
    match kind:
        case t.Opaque():
            return True
        case t.Record(fields=fields):
            return any(opaque(of) for _, of in fields)
        case t.Tuple(items=items):
            return any(map(opaque, items))
        case t.Union(options=options):
            return all(map(opaque, options))
        case t.Map(value=value, total=True):
            return opaque(value)
        case _:
            return False


def domain(key: t.Type) -> str | None:
    """What a comprehension goes through to have every key; None for what it cannot."""
    match key:
        case t.Int(low=int() as low, high=int() as high):
            return f"range({low}, {high + 1})"
        case t.Enum(name=name) | t.Sort(name=name):
            return name
        case _:
            return None


def written(key: t.Type) -> list[str]:
    """Every value of a small type as text."""
    match key:
        case t.Bool():
            return ["False", "True"]
        case t.Enum(name=name, members=members):
            return [f"{name}.{m}" for m in members]
        case _:
            raise Dead


Way = Callable[[Writer, t.Type, Env, int], str | None]
# Filled by `ways`: by the class of the type; under `Type` those of all immutable types.
WAYS: dict[type[t.Type], tuple[Way, ...]] = {}
