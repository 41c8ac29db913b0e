"""Whole modules: types, functions, a part, an ancestor, and a machine with all that it can have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from lawful.spec import types as t

from . import blocks, gathering, ways
from .bodies import Body, Lines, Own, indented
from .exprs import Callee, Dead, Env, Place, Writer, opaque
from .kinds import COLOR, KEYS, MODE, NODE, PRELUDE, SCALARS, Kinds, annotation

JOINED = (blocks, gathering, ways)  # Their tables are filled when they are imported.
CONSTANTS = (
    Place("LIMIT", t.INT), Place("PAIR", t.Tuple((t.INT, COLOR))),
    Place("FIRST", t.Record("Ping", (("a", t.INT), ("b", t.BOOL)))),
    Place("NAMES", t.Set(t.INT, False)),
)
PROPERTIES = (
    "invariant", "invariant", "reachable", "recoverable", "terminal", "eventually",
    "eventually_always", "infinitely_often", "constraint",
)


@dataclass
class Made:
    """A machine class as far as it is written: what others may use of it."""

    name: str
    lines: Lines = field(default_factory=list[str])
    variables: list[Place] = field(default_factory=list[Place])
    fixed: list[Place] = field(default_factory=list[Place])
    ghosts: list[Place] = field(default_factory=list[Place])
    parts: list[Callee] = field(default_factory=list[Callee])  # Their transitions.
    read: list[Place] = field(default_factory=list[Place])  # Variables of parts.
    unset: list[Place] = field(default_factory=list[Place])  # Assigned by `@initial` alone.
    calls: list[Callee] = field(default_factory=list[Callee])
    acts: list[Callee] = field(default_factory=list[Callee])
    asks: list[Callee] = field(default_factory=list[Callee])  # Properties.
    transitions: list[Callee] = field(default_factory=list[Callee])
    starts: bool = False  # Whether it has an `@initial`.
    state: bool = False
    family: bool = False

    def env(self, *more: Place) -> Env:
        """What its methods read."""
        state = [Place("self.state", MODE)] if self.state else []
        places = (*self.variables, *self.fixed, *self.read, *state, *CONSTANTS, *more)
        return Env(places, tuple(self.calls), self.cans)

    @property
    def cans(self) -> tuple[Callee, ...]:
        return tuple(self.parts)


class Module:
    """Writes one module; `nesting` is a pair of constructors that it must have in a variable."""

    def __init__(self, rng: Random, nesting: tuple[str, str] | None = None) -> None:
        self.rng = rng
        self.kinds = Kinds(rng)
        self.w = Writer(rng, self.kinds)
        self.nesting = nesting
        self.functions: list[Callee] = []
        for _ in range(rng.randint(0, 2)):
            self.kinds.made("Record", self.kinds.some(1))

    def text(self) -> str:
        """The module."""
        functions: Lines = []
        for _ in range(self.rng.randint(0, 1)):
            functions += self._function()
        part = self._machine("Part", None, None) if self.w.chance(0.35) else None
        base = self._machine("Base", None, None) if self.w.chance(0.25) else None
        whole = self._machine("M", part, base)
        rows = [*functions]
        for made in (part, base, whole):
            rows += ["", *([] if made is None else made.lines)]
        return "\n".join([PRELUDE, *self._records(), *CONSTANT_LINES, *rows, ""])

    def _records(self) -> Lines:
        rows: Lines = []
        for record in self.kinds.records[2:]:
            rows.append(f"class {record.name}(Record):")
            rows += [f"    {name}: {annotation(of)}" for name, of in record.fields]
            rows.append("")
        return rows

    def _params(self, most: int = 2) -> list[Place]:
        kinds = [
            self.w.rng.choice(SCALARS) if self.w.chance(0.7) else self.kinds.some(1)
            for _ in range(self.rng.randint(0, most))
        ]
        return [Place(self.w.name("p"), kind) for kind in kinds]

    def _output(self) -> t.Type:
        roll = self.rng.random()
        if roll < 0.35:
            return t.NOTHING
        return self.rng.choice(SCALARS[:8]) if roll < 0.75 else self._writable()

    def _writable(self) -> t.Type:
        """An immutable type whose values can be written."""
        while opaque(kind := self.kinds.some(1)):
            pass
        return kind

    def _function(self) -> Lines:
        """A function of the module."""
        params = self._params()
        output = self._writable()
        name = self.w.name("f")
        body = self._body(Own(output=output), Env((*params, *CONSTANTS)), 2)
        self.functions.append(Callee(name, tuple(p.kind for p in params), output))
        return ["", f"def {name}({_signature(params)}) -> {annotation(output)}:", *indented(body)]

    def _body(self, own: Own, env: Env, most: int) -> Lines:
        body = Body(self.w, own)
        for _ in range(20):
            try:
                lines = body.method(env, most)
                break
            except Dead:
                continue
        else:
            raise Dead(f"no body that gives {own.output}")
        self.w.count = body.count
        return lines

    # Machines.

    def _machine(self, name: str, part: Made | None, base: Made | None) -> Made:
        made = Made(name)
        w = self.w
        parent = "Machine"
        if base is not None:
            parent = base.name
            made = replace(base, name=name, lines=[], transitions=[], ghosts=[*base.ghosts],
                           variables=[*base.variables], fixed=[*base.fixed], calls=[*base.calls],
                           acts=[*base.acts], asks=[*base.asks], unset=[*base.unset])
        head = ", abstract=True" if name == "Base" and w.chance(0.3) else ""
        made.lines = [f"class {name}({parent}{head}):", '    """Made."""', ""]
        made.calls += [f for f in self.functions if f not in made.calls]
        self._fields(made, part)
        for _ in range(self.rng.randint(0, 1)):
            self._helper(made)
        if w.chance(0.25):
            self._act(made)
        if base is not None:
            self._overridden(made, base)
        for _ in range(self.rng.randint(1, 3)):
            self._transition(made)
        if name == "M":
            self._event(made)
            for _ in range(self.rng.randint(0, 2)):
                self._property(made)
        elif name == "Part" and w.chance(0.4):
            self._event(made)
        if name != "Part" and (made.unset or w.chance(0.1)):
            self._initials(made)
        return made

    def _fields(self, made: Made, part: Made | None) -> None:
        w, rng = self.w, self.rng
        if not made.state and w.chance(0.5):
            made.state = True
            made.lines.append("    state: Mode = Mode.IDLE")
        if made.name == "M" and not made.family and w.chance(0.1):
            made.family = True
            made.lines.append("    pc: dict[Node, Mode] = total(Mode.IDLE)")
            made.read.append(Place("self.pc", t.Map(NODE, MODE, True, True)))
        kinds = [self._kind() for _ in range(rng.randint(1, 3 if made.name == "M" else 2))]
        if made.name == "M" and self.nesting is not None:
            outer, inner = self.nesting
            kinds.insert(0, self.kinds.made(outer, self.kinds.of(inner)))
        if w.chance(0.15):
            kinds.append(t.Timer())
        for kind in kinds:
            self._field(made, kind)
        if w.chance(0.3):
            self._fixed(made)
        if w.chance(0.15):
            kind = self._writable()
            p = Place(f"self.{w.name('g')}", kind)
            made.lines.append(f"    {p.text[5:]}: Ghost[{annotation(kind)}] = {w.literal(kind)}")
            made.ghosts.append(p)
        if part is not None:
            for _ in range(rng.randint(1, 2)):
                self._part(made, part)

    def _kind(self) -> t.Type:
        return self.kinds.some(self.rng.randint(0, 2), mutable=True)

    def _field(self, made: Made, kind: t.Type) -> None:
        w = self.w
        name = w.name("x")
        text = annotation(kind)
        default: str | None = None
        if isinstance(kind, t.Timer):
            default = "Timer()"
        elif isinstance(kind, t.Map) and isinstance(kind.value, t.Timer):
            default = "total(Timer())" if kind.total else "{}"
        elif not opaque(kind):
            default = w.literal(kind)
        elif isinstance(kind, t.Map) or made.name == "Part" or made.starts:
            return  # Every key's opaque value would have to come from outside.
        p = Place(f"self.{name}", kind)
        if default is None or (
            made.name == "M" and not made.starts and w.chance(0.05) and t.immutable(kind)
        ):
            made.lines.append(f"    {name}: {text}")
            made.unset.append(p)
        else:
            made.lines.append(f"    {name}: {text} = {default}")
        made.variables.append(p)

    def _fixed(self, made: Made) -> None:
        kind = t.FLOAT if self.w.chance(0.1) else self._writable()
        p = Place(f"self.{self.w.name('c')}", kind)
        default = self.w.literal(kind)
        made.lines.append(f"    {p.text[5:]}: Param[{annotation(kind)}] = {default}")
        if kind != t.FLOAT:
            made.fixed.append(p)

    def _part(self, made: Made, part: Made) -> None:
        name = self.w.name("m")
        made.lines.append(f"    {name}: Part = Part()")
        for c in part.transitions:
            made.parts.append(replace(c, text=f"self.{name}.{c.text}"))
        for p in part.variables:
            if t.immutable(p.kind):
                made.read.append(replace(p, text=f"self.{name}.{p.text[5:]}"))
        made.calls += [
            replace(c, text=f"self.{name}.{c.text[5:]}")
            for c in (*part.calls, *part.asks) if c.text.startswith("self.")
        ]

    # Methods.

    def _method(
        self, made: Made, head: str, signature: tuple[str, list[Place], t.Type], body: Lines
    ) -> None:
        name, params, output = signature
        given = ", ".join(["self", *(f"{p.text}: {annotation(p.kind)}" for p in params)])
        rows = [head] * bool(head) + [f"def {name}({given}) -> {annotation(output)}:"]
        made.lines += ["", *indented([*rows, *indented(body)])]

    def _helper(self, made: Made) -> None:
        """A helper that only reads."""
        params, output, name = self._params(), self._writable(), self.w.name("h")
        body = self._body(Own(output=output), made.env(*params), 2)
        self._method(made, "", (name, params, output), body)
        made.calls.append(Callee(f"self.{name}", tuple(p.kind for p in params), output))

    def _act(self, made: Made) -> None:
        """A helper that changes the state."""
        params, output, name = self._params(1), self._writable(), self.w.name("a")
        if self.w.chance(0.4):
            output = t.NOTHING
        env = made.env(*params)
        body = self._body(self._own(made, output), replace(env, own=tuple(made.variables)), 2)
        changing = [p for p in made.variables if not isinstance(p.kind, t.Timer)]
        if changing:  # At least one change, so that it is one.
            p = self.rng.choice(changing)
            body = [f"{p.text} = {self.w.literal(p.kind, env)}", *body]
            callee = Callee(f"self.{name}", tuple(q.kind for q in params), output)
            self._method(made, "", (name, params, output), body)
            made.acts.append(callee)

    def _own(self, made: Made, output: t.Type, base: Callee | None = None) -> Own:
        return Own(
            guards=True, steps=tuple(made.parts), acts=tuple(made.acts), base=base,
            ghosts=tuple(made.ghosts), output=output,
        )

    def _header(self, made: Made, params: list[Place]) -> tuple[str, bool]:
        """What stands in the parentheses of `@transition`; whether the body moves the state."""
        w, rng = self.w, self.rng
        rows: list[str] = []
        moves = False
        if made.family and w.chance(0.5):
            node = next((p for p in params if p.kind == NODE), None)
            if node is None:
                node = Place(w.name("p"), NODE)
                params.append(node)
            rows += [f'of="pc[{node.text}]"', "source=Mode.IDLE", "target=Mode.BUSY"]
        elif made.state:
            if w.chance(0.6):
                some = rng.sample(MODE.members, rng.randint(1, 2))
                text = "".join(f"Mode.{m}, " for m in some)
                rows.append(f"source=({text})" if len(some) > 1 else f"source=Mode.{some[0]}")
            if w.chance(0.5):
                some = rng.sample(MODE.members, 1 if w.chance(0.7) else 2)
                moves = len(some) > 1
                text = "".join(f"Mode.{m}, " for m in some)
                rows.append(f"target=({text})" if moves else f"target=Mode.{some[0]}")
        timers = [p for p in made.variables if p.kind == t.Timer()]
        if timers and w.chance(0.3):
            rows.append(f'timer="{rng.choice(timers).text[5:]}"')
        return ", ".join(rows), moves

    def _transition(
        self, made: Made, given: Callee | None = None, event: tuple[str, list[Place]] | None = None
    ) -> str:
        """A transition; one that replaces `given`, an ancestor's; or one of `event`."""
        name = self.w.name("t") if given is None else given.text
        output = self._output() if given is None else given.output
        params = self._params()
        if given is not None:
            params = [Place(self.w.name("p"), kind) for kind in given.params]
        if event is not None:
            params = event[1]
        kept = len(params)
        head, moves = self._header(made, params)
        if len(params) > kept and (given is not None or event is not None):
            del params[kept:]
            head, moves = "", False
        if event is not None:
            head = f'event="{event[0]}"' + (f", {head}" if head else "")
        own = [*made.variables]
        own += [Place("self.state", MODE)] if moves else []
        env = replace(made.env(*params), own=tuple(own), locals=tuple(
            # What a header reads stays as it was given.
            p for p in params if self.w.chance(0.2) and f"[{p.text}]" not in head
        ))
        base: Callee | None = None
        if given is not None and event is None:
            base = replace(given, text=f"super().{name}")
        lines = [*self._planned(made, params), *self._body(self._own(made, output, base), env, 4)]
        self._method(made, f"@transition({head})", (name, params, output), lines)
        made.transitions.append(Callee(name, tuple(p.kind for p in params), output))
        return name

    def _planned(self, made: Made, params: list[Place]) -> Lines:
        """Guards that tell what a parameter is one of."""
        rows = [
            f"require({p.text} in {v.text})"
            for p in params
            for v in made.variables
            if t.element(v.kind) == p.kind
        ]
        return [self.rng.choice(rows)] if rows and self.w.chance(0.6) else []

    def _overridden(self, made: Made, base: Made) -> None:
        plain = [c for c in base.transitions if c.text.startswith("t")]
        if plain and self.w.chance(0.8):
            self._transition(made, self.rng.choice(plain))
        rest = [c for c in plain if c.text not in [x.text for x in made.transitions]]
        for c in rest:
            if self.w.chance(0.15):
                made.lines.append(f'    {self.w.name("gone")} = drop("{c.text}")')

    def _event(self, made: Made) -> None:
        """An event that several transitions serve, or that is ignored."""
        if not self.w.chance(0.35):
            self._ignored(made)
            return
        name, params = self.w.name("e"), self._params(1)
        output = t.NOTHING if self.w.chance(0.6) else t.union((t.INT, t.NOTHING))
        decorator = "@event(choice=True)" if self.w.chance(0.2) else "@event"
        self._method(made, decorator, (name, params, output), ["..."])
        before = len(made.transitions)
        for _ in range(2):
            given = Callee("", tuple(p.kind for p in params), output)
            self._transition(made, replace(given, text=self.w.name("t")), (name, params))
        del made.transitions[before:]
        if decorator == "@event":
            made.transitions.append(Callee(name, tuple(p.kind for p in params), output))
        if self.w.chance(0.4):
            self._ignore(made, name, params)

    def _ignored(self, made: Made) -> None:
        rows = [c for c in made.transitions if t.fits(t.NOTHING, c.output)]
        if rows and self.w.chance(0.4):
            c = self.rng.choice(rows)
            self._ignore(made, c.text, [Place(self.w.name("q"), kind) for kind in c.params])

    def _ignore(self, made: Made, name: str, params: list[Place]) -> None:
        rows = [f'"{name}"']
        if made.state and self.w.chance(0.6):
            rows.append(f"source=Mode.{self.rng.choice(MODE.members)}")
        if self.w.chance(0.4) and len(params) < 4:
            names = ", ".join(["self", *(p.text for p in params)])
            rows.append(f"when=lambda {names}: {self.w.expr(t.BOOL, made.env(*params), 1)}")
        elif len(rows) == 1:
            rows.append("otherwise=True")
        made.lines += ["", f'    {self.w.name("i")} = ignore({", ".join(rows)}, because="so")']

    def _property(self, made: Made) -> None:
        w, name = self.w, self.w.name("s")
        kind = self.rng.choice(PROPERTIES)
        env = made.env()
        env = replace(
            env, places=(*env.places, *made.ghosts), calls=(*env.calls, *made.asks)
        )
        if w.chance(0.15):
            after = [Place(f"after.{p.text[5:]}", p.kind) for p in made.variables]
            body = self._body(Own(output=t.BOOL), env.plus(*after), 1)
            given = Place("after", t.Part(f'"{made.name}"'))
            self._method(made, "@step_property", (name, [given], t.BOOL), body)
            return
        if w.chance(0.1):
            values = f"return {w.expr(t.BOOL, env)}, {w.expr(t.BOOL, env)}"
            self._method(made, "@leads_to", (name, [], t.Tuple((t.BOOL, t.BOOL))), [values])
            return
        if made.fixed and w.chance(0.15):
            body = [f"return {w.expr(t.BOOL, Env(tuple(made.fixed)))}"]
            self._method(made, "@assume", (name, [], t.BOOL), body)
            return
        params = [Place(w.name("p"), self.rng.choice(KEYS))] if w.chance(0.25) else []
        if kind == "constraint":
            params = []
        body = self._body(Own(output=t.BOOL), env.plus(*params), 1)
        self._method(made, f"@{kind}", (name, params, t.BOOL), body)
        made.asks.append(Callee(f"self.{name}", tuple(p.kind for p in params), t.BOOL))

    def _initials(self, made: Made) -> None:
        made.starts = True
        for _ in range(self.rng.randint(1, 2)):
            params = self._params(1)
            params += [Place(self.w.name("p"), p.kind) for p in made.unset]
            read = tuple(p for p in made.env().places if p not in made.unset)
            env = Env((*read, *params), own=tuple(p for p in made.variables))
            env = replace(env, own=tuple(p for p in env.own if p not in made.unset))
            body = self._body(Own(guards=True), env, 2)
            given = params[len(params) - len(made.unset):]
            pairs = zip(made.unset, given, strict=True)
            body = [f"{p.text} = {q.text}" for p, q in pairs] + body
            self._method(made, "@initial", (self.w.name("b"), params, t.NOTHING), body)


def _signature(params: list[Place]) -> str:
    return ", ".join(f"{p.text}: {annotation(p.kind)}" for p in params)


CONSTANT_LINES = (
    "LIMIT = 2", "PAIR = (1, Color.RED)", "FIRST = Ping(1, True)", "NAMES = frozenset({1, 2})", "",
)
