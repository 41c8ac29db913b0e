"""Bodies of generated methods: statements, with what each of them leaves to be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lawful.spec import types as t
from tests.agree.exprs import Callee, Dead, Env, Place, Writer, mutable
from tests.agree.kinds import SCALARS, annotation

Lines = list[str]
Made = tuple[Lines, Env] | None


@dataclass(frozen=True)
class Own:
    """What a method of this kind may do beyond reading and assigning."""

    guards: bool = False  # It may refuse and assert.
    steps: tuple[Callee, ...] = ()  # Transitions of parts.
    acts: tuple[Callee, ...] = ()  # Helpers that change the state.
    base: Callee | None = None  # `super().name`.
    ghosts: tuple[Place, ...] = ()
    output: t.Type = t.NOTHING


def indented(lines: Lines) -> Lines:
    """The lines one level in; `pass` where there are none."""
    return [f"    {line}" for line in lines or ["pass"]]


class Body(Writer):
    """Writes the statements of one method."""

    def __init__(self, writer: Writer, own: Own) -> None:
        super().__init__(writer.rng, writer.kinds)
        self.own = own
        self.count = writer.count
        self.depth = 0  # Of blocks.
        self.loop = False  # Whether `break` and `continue` have a loop, and may be written.

    def block(self, env: Env, most: int) -> tuple[Lines, Env]:
        """At most so many statements, and what they leave."""
        lines: Lines = []
        for _ in range(self.rng.randint(1, most)):
            made = self.statement(env)
            if made is not None:
                lines += made[0]
                env = made[1]
        return lines, env

    def statement(self, env: Env) -> Made:
        """One statement; None where what was drawn cannot be written here."""
        rows = STATEMENTS if self.own.guards else QUIET
        for _ in range(4):
            try:
                made = self.rng.choice(rows)(self, env)
            except Dead:
                continue
            if made is not None:
                return made
        return None

    def inner(self, env: Env, most: int = 2) -> Lines:
        """A block inside; what it leaves is not seen outside."""
        if self.depth >= 2:
            return ["pass"]
        self.depth += 1
        lines, _ = self.block(env, most)
        self.depth -= 1
        return lines

    def why(self, env: Env) -> str:
        """The text of a reason."""
        if self.chance(0.6):
            return '"because"'
        known = [p for p in env.places if isinstance(p.kind, t.Int | t.Bool | t.Enum | t.Sort)]
        named = self.rng.choice(known).spoken(self.count) if known else "self"
        return f'f"not with {{{named}}}"' if known else '"no"'

    def args(self, callee: Callee, env: Env) -> str:
        """Arguments of a call, in parentheses."""
        return f"({', '.join(self.expr(p, env, 1) for p in callee.params)})"

    def target(self, env: Env, kinds: type[t.Type] | tuple[type[t.Type], ...]) -> Place | None:
        """A place that may be changed, of a kind of type."""
        found = [p for p in env.own if isinstance(p.kind, kinds)]
        return self.rng.choice(found) if found else None

    def method(self, env: Env, most: int) -> Lines:
        """The whole body, with a value returned where one is."""
        lines, env = self.block(env, most)
        if self.own.output != t.NOTHING:
            lines.append(f"return {self.expr(self.own.output, env)}")
        return lines or ["pass"]


# Assignments.


def _assign(b: Body, env: Env) -> Made:
    places = [p for p in env.own if not isinstance(p.kind, t.Timer)]
    if not places:
        return None
    p = b.rng.choice(places)
    if mutable(p.kind) and not p.text.startswith("self."):
        return None  # A name of a place, or of a container of one's own, is assigned once.
    if isinstance(p.kind, t.Serial) and p.text.startswith("self.") and b.chance(0.3):
        return [f"{p.text} = {b.literal(p.kind)}"], env
    return [f"{p.text} = {b.expr(p.kind, env)}"], env


def _ghost(b: Body, env: Env) -> Made:
    if not b.own.ghosts:
        return None
    p = b.rng.choice(b.own.ghosts)
    value, name = b.expr(p.kind, env.plus(*b.own.ghosts)), b.name()
    if mutable(p.kind) or b.count % 2:
        return [f"{p.text} = {value}"], env
    lines = f"{name} = {p.text}\nif {p.text} == {name}:\n    {name} = {value}\n{p.text} = {name}"
    return lines.split("\n"), env


def _annotated(b: Body, env: Env) -> Made:
    kind = b.kinds.some(1, mutable=True) if b.chance(0.5) else b.rng.choice(SCALARS)
    if isinstance(kind, t.Map) and kind.total and kind.mutable:
        kind = replace(kind, total=False)  # No local's annotation says that every key is there.
    if isinstance(kind, t.Seq | t.Bag) and kind.most is not None:
        kind = replace(kind, most=None)
    name = b.name()
    p = Place(name, kind)
    after = env.plus(p)
    if mutable(kind):
        after = replace(after, own=(*after.own, replace(p, path=False)))
    else:
        after = replace(after, locals=(*after.locals, p))
    return [f"{name}: {annotation(kind)} = {b.expr(kind, env)}"], after


def _local(b: Body, env: Env) -> Made:
    known = [p for p in env.places if t.immutable(p.kind)]
    kind = b.rng.choice(known).kind if known and b.chance(0.5) else t.INT
    if isinstance(kind, t.Timer | t.Part) or t.contains(kind, t.Unknown):
        return None
    if not isinstance(kind, t.Int | t.Bool | t.Enum | t.Sort | t.Record):
        return None
    p = Place(b.name(), kind)
    after = env.plus(p)
    return [f"{p.text} = {b.expr(kind, env)}"], replace(after, locals=(*after.locals, p))


def _again(b: Body, env: Env) -> Made:
    if not env.locals:
        return None
    p = b.rng.choice(env.locals)
    if isinstance(p.kind, t.Int) and b.chance(0.6):
        op = b.rng.choice(("+=", "-=") if isinstance(p.kind, t.Serial) else ("+=", "-=", "*="))
        return [f"{p.text} {op} {b.expr(t.INT, env, 1)}"], env
    return [f"{p.text} = {b.expr(p.kind, env)}"], env


def _augment(b: Body, env: Env) -> Made:
    p = b.target(env, (t.Int, t.Set, t.Seq, t.Map, t.Bag))
    match p:
        case Place(kind=t.Int() as kind):
            ops = ("+=", "-=", "*=", "//=", "%=", "+=", "-=")
            op = b.rng.choice(ops[:2] if isinstance(kind, t.Serial) else ops)
            return [f"{p.text} {op} {b.expr(t.INT, env, 1)}"], env
        case Place(kind=t.Set(item=item)):
            op = b.rng.choice(("|=", "&=", "-=", "^="))
            return [f"{p.text} {op} {b.read(t.Set(item, b.chance(0.5)), env)}"], env
        case Place(kind=t.Seq(mutable=True) as kind):
            return [f"{p.text} += {b.expr(replace(kind, most=None), env)}"], env
        case Place(kind=t.Map(key=key, value=t.Int(), mutable=True)) if _hashes(key):
            op = b.rng.choice(("+=", "-="))
            return [f"{p.text}[{b.element(key, env, 1)}] {op} {b.expr(t.INT, env, 1)}"], env
        case Place(kind=t.Bag(item=item)):
            return [f"{p.text}[{b.element(item, env, 1)}] {b.rng.choice(('+=', '-='))} 1"], env
        case _:
            return None


def _item(b: Body, env: Env) -> Made:
    p = b.target(env, (t.Map, t.Seq, t.Bag))
    match p:
        case Place(kind=t.Map(key=key, value=value, mutable=True)) if not isinstance(
            value, t.Timer
        ):
            key_text = b.element(key, env, 1)
            return [f"{p.text}[{key_text}] = {b.expr(value, env)}"], env
        case Place(kind=t.Seq(item=item, mutable=True)):
            return [f"{p.text}[{b.expr(t.INT, env, 1)}] = {b.expr(item, env)}"], env
        case Place(kind=t.Bag(item=item)):
            return [f"{p.text}[{b.element(item, env, 1)}] = {b.expr(t.INT, env, 1)}"], env
        case _:
            return None


def _swap(b: Body, env: Env) -> Made:
    places = [p for p in env.own if t.immutable(p.kind)]
    places = [p for p in places if not t.contains(p.kind, t.Map)]
    if len(places) < 2:
        return None
    one, two = b.rng.sample(places, 2)
    values = f"{b.expr(one.kind, env, 1)}, {b.expr(two.kind, env, 1)}"
    return [f"{one.text}, {two.text} = {values}"], env


def _unpack(b: Body, env: Env) -> Made:
    rows = [p for p in env.places if isinstance(p.kind, t.Tuple)]
    if rows and b.chance(0.6):
        p = b.rng.choice(rows)
        assert isinstance(p.kind, t.Tuple)
        text, items = p.text, p.kind.items
    else:
        items = (t.INT, t.INT)
        text = f"divmod({b.expr(t.INT, env, 1)}, {b.expr(t.INT, env, 1)})"
    made = [Place(b.name(), item) for item in items]
    names = ", ".join(p.text for p in made)
    return [f"{names}{',' * (len(made) == 1)} = {text}"], env.plus(*made)


def _alias(b: Body, env: Env) -> Made:
    """A local names a container in the state; then it is read and changed by that name."""
    rows: list[tuple[str, t.Type]] = []
    for p in env.own:
        if p.text.startswith("self.") and mutable(p.kind):
            rows.append((p.text, p.kind))
            inner = p.kind.value if isinstance(p.kind, t.Map) else t.element(p.kind)
            if inner is not None and mutable(inner):
                key = p.kind.key if isinstance(p.kind, t.Map) else t.INT
                rows += [(f"{p.text}[{b.element(key, env, 1)}]", inner)] * 3
    if not rows:
        return None
    text, kind = b.rng.choice(rows)
    place = Place(b.name(), kind, path=False)
    only = replace(env.plus(place), own=(place,))
    lines = [f"{place.text} = {text}"]
    for way in b.rng.sample((_update, _item, _augment, _copied), 2):
        made = way(b, only)
        if made is not None:
            lines += made[0]
            only = replace(made[1], own=(place,))
    return lines, env


def _copied(b: Body, env: Env) -> Made:
    """A container is read, copied, and the copy changed: the original stays."""
    rows = [p for p in env.places if mutable(p.kind)]
    if not rows:
        return None
    p = b.rng.choice(rows)
    inner = p.kind.value if isinstance(p.kind, t.Map) else t.element(p.kind)
    if inner is None or mutable(inner) or isinstance(inner, t.Timer | t.Part):
        return None
    if isinstance(p.kind, t.Map) and p.kind.total:
        return None
    name = b.name()
    copy = Place(name, p.kind, path=False)
    lines = [f"{name} = {p.text}.copy()"]
    made = _update(b, replace(env.plus(copy), own=(copy,)))
    after = env.plus(copy)
    return [*lines, *(made[0] if made else [])], replace(after, own=(*after.own, copy))


# Updates.


def _update(b: Body, env: Env) -> Made:
    p = b.target(env, (t.Set, t.Seq, t.Map, t.Bag, t.Timer))
    return None if p is None else _changed(b, env, p)


def _changed(b: Body, env: Env, p: Place) -> Made:
    match p.kind:
        case t.Set(item=item, mutable=True):
            op = b.rng.choice(("add", "discard", "remove", "update", "clear", "add"))
            arg = ""
            if op == "update":
                arg = b.expr(t.Set(item, b.chance(0.5)), env)
            elif op != "clear":
                arg = b.element(item, env, 1)
            return [f"{p.text}.{op}({arg})"], env
        case t.Seq(mutable=True):
            return _changed_list(b, env, p)
        case t.Map(mutable=True):
            return _changed_map(b, env, p)
        case t.Bag(item=item):
            return [f"{p.text}.clear()"] if b.chance(0.2) else [
                f"{p.text}[{b.element(item, env, 1)}] += {b.rng.choice((1, 2, -1))}"
            ], env
        case t.Timer():
            return [f"{p.text}.{act(b, env)}"], env
        case _:
            return None


def act(b: Body, env: Env) -> str:
    """What is done to a timer."""
    if b.chance(0.4):
        return "stop()"
    rows = [p.text for p in env.places if isinstance(p.kind, t.Float)]
    rows += ["0", "0.0", "0.5", "0.7", "1", "2.25", f"min({b.expr(t.INT, env, 0)}, 4)"]
    return f"start({b.rng.choice(rows)})"


def _changed_list(b: Body, env: Env, p: Place) -> Made:
    assert isinstance(p.kind, t.Seq)
    item = p.kind.item
    op = b.rng.choice(("append", "append", "extend", "insert", "pop", "pop", "clear", "remove"))
    if op == "append":
        return [f"{p.text}.append({b.expr(item, env, 1)})"], env
    if op == "extend":
        return [f"{p.text}.extend({b.expr(replace(p.kind, most=None), env)})"], env
    if op == "insert":
        return [f"{p.text}.insert({b.expr(t.INT, env, 1)}, {b.expr(item, env, 1)})"], env
    if op == "clear":
        return [f"{p.text}.clear()"], env
    if op == "remove":
        return [f"{p.text}.remove({b.read(item, env)})"], env
    index = b.rng.choice(("", "0", "-1", b.expr(t.INT, env, 0)))
    return given(b, env, f"{p.text}.pop({index})", item)


def _changed_map(b: Body, env: Env, p: Place) -> Made:
    assert isinstance(p.kind, t.Map)
    key, value = p.kind.key, p.kind.value
    if isinstance(value, t.Timer):
        return [f"{p.text}[{b.element(key, env, 1)}].{act(b, env)}"], env
    if p.kind.total:
        return [f"{p.text}.update({b.expr(replace(p.kind, total=False), env)})"], env
    op = b.rng.choice(("pop", "update", "clear", "del"))
    if op == "clear":
        return [f"{p.text}.clear()"], env
    if op == "update":
        return [f"{p.text}.update({b.expr(p.kind, env)})"], env
    if op == "del":
        return [f"del {p.text}[{b.element(key, env, 1)}]"], env
    default = f", {b.expr(value, env, 0)}" if b.chance(0.5) else ""
    return given(b, env, f"{p.text}.pop({b.element(key, env, 1)}{default})", value)


def given(b: Body, env: Env, call: str, kind: t.Type) -> Made:
    """A call that gives a value: kept in a local, in a variable, or not at all."""
    targets = [p for p in env.own if t.immutable(p.kind) and p.text.startswith("self.")]
    fitting = [p for p in targets if t.fits(kind, p.kind)]
    if fitting and b.chance(0.3):
        return [f"{b.rng.choice(fitting).text} = {call}"], env
    if b.chance(0.3) or kind == t.NOTHING or not t.immutable(kind):
        return [call], env
    p = Place(b.name(), kind)
    return [f"{p.text} = {call}"], env.plus(p)


# Calls.


def _step(b: Body, env: Env) -> Made:
    if not b.own.steps:
        return None
    c = b.rng.choice(b.own.steps)
    call = f"{c.text}{b.args(c, env)}"
    if isinstance(c.output, t.Int) and b.chance(0.2):
        p = Place(b.name(), t.INT)
        return [f"{p.text} = {call} + {b.expr(t.INT, env, 0)}"], env.plus(p)
    return given(b, env, call, c.output)


def _act(b: Body, env: Env) -> Made:
    if not b.own.acts:
        return None
    c = b.rng.choice(b.own.acts)
    return given(b, env, f"{c.text}{b.args(c, env)}", c.output)


def _super(b: Body, env: Env) -> Made:
    c = b.own.base
    return None if c is None else given(b, env, f"{c.text}{b.args(c, env)}", c.output)


# Guards.


def _require(b: Body, env: Env) -> Made:
    why = f", {b.why(env)}" if b.chance(0.7) else ""
    return [f"require({b.expr(t.BOOL, env)}{why})"], env


def _refuse(b: Body, env: Env) -> Made:
    return [f"if {b.expr(t.BOOL, env)}:", f"    refuse({b.why(env)})"], env


def _assert(b: Body, env: Env) -> Made:
    return [f"assert {b.expr(t.BOOL, env)}"], env


def _needed(b: Body, env: Env) -> Made:
    rows = [p for p in env.places if t.NOTHING in t.options(p.kind) and len(t.options(p.kind)) > 1]
    if not rows:
        return None
    p = b.rng.choice(rows)
    rest = t.union(tuple(o for o in t.options(p.kind) if o != t.NOTHING))
    made = Place(b.name(), rest)
    return [f"{made.text} = needed({p.text}, {b.why(env)})"], env.plus(made)


def _pass(b: Body, env: Env) -> Made:
    return [b.rng.choice(("pass", "..."))], env


def _hashes(kind: t.Type) -> bool:
    """Whether what is written of this type can be a key."""
    return not t.contains(kind, t.Map)


Statement = Callable[[Body, Env], Made]
STATEMENTS: list[Statement] = [
    _assign,
    _assign,
    _assign,
    _annotated,
    _local,
    _again,
    _augment,
    _augment,
    _item,
    _item,
    _swap,
    _unpack,
    _alias,
    _alias,
    _copied,
    _update,
    _update,
    _update,
    _step,
    _step,
    _act,
    _super,
    _require,
    _require,
    _refuse,
    _assert,
    _needed,
    _pass,
    _ghost,
]
QUIET: list[Statement] = [_annotated, _local, _again, _augment, _item, _unpack, _update]
