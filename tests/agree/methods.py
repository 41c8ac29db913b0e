"""Methods of generated machines: helpers, transitions, events, properties, starts."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from lawful.spec import types as t
from tests.agree.bodies import Body, Own, indented
from tests.agree.exprs import Callee, Dead, Env, Place
from tests.agree.fields import Fields
from tests.agree.kinds import KEYS, MODE, NODE, SCALARS, annotation
from tests.agree.made import CONSTANTS, Lines, Made

PROPERTIES = (
    "invariant",
    "invariant",
    "reachable",
    "recoverable",
    "terminal",
    "eventually",
    "eventually_always",
    "infinitely_often",
    "constraint",
)


class Methods(Fields):
    """Writes the methods of one machine after the other."""

    def params(self, most: int = 2) -> list[Place]:
        """Parameters of some method."""
        kinds = [
            self.rng.choice(SCALARS) if self.w.chance(0.7) else self.kinds.some(1)
            for _ in range(self.rng.randint(0, most))
        ]
        return [Place(self.w.name("p"), kind) for kind in kinds]

    def _output(self, made: Made) -> t.Type:
        roll = self.rng.random()
        if roll < 0.35:
            return t.NOTHING
        if roll < 0.45 and any(isinstance(p.kind, t.Float) for p in made.read):
            return t.FLOAT
        return self.rng.choice(SCALARS[:8]) if roll < 0.75 else self.writable()

    def body(self, own: Own, env: Env, most: int) -> Lines:
        """The lines of a method."""
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

    def method(
        self, made: Made, head: str, signature: tuple[str, list[Place], t.Type], body: Lines
    ) -> None:
        """Add a method to the class."""
        name, params, output = signature
        given = ", ".join(["self", *(f"{p.text}: {annotation(p.kind)}" for p in params)])
        rows = [head] * bool(head) + [f"def {name}({given}) -> {annotation(output)}:"]
        made.lines += ["", *indented([*rows, *indented(body)])]

    def helper(self, made: Made, given: Callee | None = None) -> None:
        """A helper that only reads; one that replaces `given`, an ancestor's, may call it."""
        if given is None:
            params, output, name = self.params(), self.writable(), self.w.name("h")
        else:
            params, output, name = self._same(given), given.output, given.text[5:]
        env = made.env(*params)
        if given is not None:
            calls = tuple(c for c in env.calls if c != given)
            base = replace(given, text=f"super().{name}")
            env = replace(env, calls=(*calls, base, base, base))
        self.method(made, "", (name, params, output), self.body(Own(output=output), env, 2))
        if given is None:
            made.calls.append(Callee(f"self.{name}", tuple(p.kind for p in params), output))

    def _same(self, given: Callee) -> list[Place]:
        return [Place(self.w.name("p"), kind) for kind in given.params]

    def act(self, made: Made, given: Callee | None = None) -> None:
        """A helper that changes the state; the same of what it replaces."""
        if given is None:
            params, output, name = self.params(1), self.writable(), self.w.name("a")
            output = t.NOTHING if self.w.chance(0.4) else output
        else:
            params, output, name = self._same(given), given.output, given.text[5:]
        changing = [p for p in made.variables if not isinstance(p.kind, t.Timer)]
        if not changing:
            return
        env = made.env(*params)
        own = self._own(made, output)
        if given is not None:
            base = replace(given, text=f"super().{name}")
            own = replace(own, acts=tuple(c for c in own.acts if c != given), base=base)
        body = self.body(own, replace(env, own=tuple(made.variables)), 2)
        p = self.rng.choice(changing)  # At least one change, so that it is one.
        body = [f"{p.text} = {self.w.literal(p.kind, env)}", *body]
        self.method(made, "", (name, params, output), body)
        if given is None:
            made.acts.append(Callee(f"self.{name}", tuple(q.kind for q in params), output))

    def _own(self, made: Made, output: t.Type, base: Callee | None = None) -> Own:
        return Own(
            guards=True,
            steps=tuple(made.parts),
            acts=tuple(made.acts),
            base=base,
            ghosts=tuple(made.ghosts),
            output=output,
        )

    # Transitions.

    def _header(self, made: Made, params: list[Place]) -> tuple[str, bool]:
        """What stands in the parentheses of `@transition`; whether the body moves the state."""
        w, rng = self.w, self.rng
        rows: list[str] = []
        moves = False
        if made.family and w.chance(0.5):
            key = self._key(NODE, params)
            rows += [f'of="pc[{key}]"', "source=Mode.IDLE", "target=Mode.BUSY"]
        elif made.controls and w.chance(0.2):
            place = self._at(made, rng.choice(made.controls), params)
            rows += [f'of="{place}"', f"source=Mode.{rng.choice(MODE.members)}"]
        elif made.state:
            if w.chance(0.6):
                some = rng.sample(MODE.members, rng.randint(1, 2))
                text = "".join(f"Mode.{m}, " for m in some)
                rows.append(f"source=({text})" if len(some) > 1 else f"source=Mode.{some[0]}")
            if w.chance(0.5):
                some = rng.sample(MODE.members, 1 if w.chance(0.7) else 2)
                moves = len(some) > 1
                text = "".join(f"Mode.{m}, " for m in some)
                if not moves:
                    rows.append(f"target=Mode.{some[0]}")
                elif len(params) % 2 == 0:  # Else the body says where it goes.
                    rows.append(f"target=({text})")
        timers = [p.text[5:] for p in made.variables if p.kind == t.Timer()]
        if made.timers and w.chance(0.2):
            rows.append(f'timer="{self._at(made, rng.choice(made.timers), params)}"')
        elif timers and w.chance(0.3):
            rows.append(f'timer="{rng.choice(timers)}"')
        return ", ".join(rows), moves

    def _at(self, made: Made, place: str, params: list[Place]) -> str:
        """The place in a part, or in a member of a family."""
        if "[" not in place:
            return place
        return place.format(self._key(made.keys[place.partition("[")[0]], params))

    def _key(self, kind: t.Type, params: list[Place]) -> str:
        """A parameter of that type, a new one where there is none."""
        found = next((p for p in params if p.kind == kind), None)
        if found is None:
            found = Place(self.w.name("p"), kind)
            params.append(found)
        return found.text

    def transition(
        self, made: Made, given: Callee | None = None, event: tuple[str, list[Place]] | None = None
    ) -> str:
        """A transition; one that replaces `given`, an ancestor's; or one of `event`."""
        name = self.w.name("t") if given is None else given.text
        output = self._output(made) if given is None else given.output
        params = self.params()
        if given is not None:
            params = self._same(given)
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
        env = replace(
            made.env(*params),
            own=tuple(own),
            locals=tuple(
                # What a header reads stays as it was given.
                p
                for p in params
                if self.w.chance(0.2) and f"[{p.text}]" not in head
            ),
        )
        base: Callee | None = None
        if given is not None and event is None:
            base = replace(given, text=f"super().{name}")
        lines = [*self._planned(made, params), *self.body(self._own(made, output, base), env, 4)]
        self.method(made, f"@transition({head})", (name, params, output), lines)
        made.transitions.append(Callee(name, tuple(p.kind for p in params), output))
        return name

    def _planned(self, made: Made, params: list[Place]) -> Lines:
        """Guards that tell what a parameter is one of."""
        rows = [
            f"require({p.text} in {v.text})"
            for p in params
            for v in (*made.variables, *made.read)
            if t.element(v.kind) == p.kind
        ]
        return [self.rng.choice(rows)] if rows and self.w.chance(0.6) else []

    def overridden(self, made: Made, base: Made) -> None:
        """Some of what the ancestor has, written anew or left out."""
        plain = [c for c in base.transitions if c.text.startswith("t")]
        if plain and self.w.chance(0.8):
            self.transition(made, self.rng.choice(plain))
        rest = [c for c in plain if c.text not in [x.text for x in made.transitions]]
        for c in rest:
            if self.w.chance(0.15):
                made.lines.append(f'    {self.w.name("gone")} = drop("{c.text}")')
        for c in base.calls:
            if c.text.startswith("self.h") and self.w.chance(0.5):
                self.helper(made, c)
        for c in base.acts:
            if self.w.chance(0.5):
                self.act(made, c)
        for c in base.asks:
            if self.w.chance(0.5):
                self.asked_anew(made, c)

    # Events.

    def event(self, made: Made) -> None:
        """An event that several transitions serve, or that is ignored."""
        if not self.w.chance(0.35):
            self._ignored(made)
            return
        name, params = self.w.name("e"), self.params(1)
        output = t.NOTHING if self.w.chance(0.6) else t.union((t.INT, t.NOTHING))
        decorator = "@event(choice=True)" if self.w.chance(0.2) else "@event"
        self.method(made, decorator, (name, params, output), ["..."])
        before = len(made.transitions)
        for _ in range(2):
            given = Callee("", tuple(p.kind for p in params), output)
            self.transition(made, replace(given, text=self.w.name("t")), (name, params))
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
            env = made.env(*params)
            rows.append(f"when=lambda {names}: {_partial(self.w.expr(t.BOOL, env, 1), env)}")
        elif len(rows) == 1:
            rows.append("otherwise=True")
        made.lines += ["", f'    {self.w.name("i")} = ignore({", ".join(rows)}, because="so")']

    # Properties.

    def property(self, made: Made) -> None:
        """A property of any kind, some of them with parameters."""
        w, name = self.w, self.w.name("s")
        env = self._env_of_properties(made)
        roll = self.rng.random()
        if roll < 0.15:
            after = [Place(f"after.{p.text[5:]}", p.kind) for p in made.variables]
            if made.clock:
                after.append(Place("after.clock.now", t.INT))
            body = self.body(Own(output=t.BOOL), env.plus(*after), 1)
            given = Place("after", t.Part(f'"{made.name}"'))
            self.method(made, "@step_property", (name, [given], t.BOOL), body)
        elif roll < 0.25:
            values = f"return {w.expr(t.BOOL, env)}, {w.expr(t.BOOL, env)}"
            self.method(made, "@leads_to", (name, [], t.Tuple((t.BOOL, t.BOOL))), [values])
        elif made.fixed and roll < 0.35:
            body = [f"return {w.expr(t.BOOL, Env((*made.fixed, *CONSTANTS)))}"]
            self.method(made, "@assume", (name, [], t.BOOL), body)
        else:
            kind = self.rng.choice(PROPERTIES)
            params = [Place(w.name("p"), self.rng.choice(KEYS))] if w.chance(0.25) else []
            params = [] if kind == "constraint" else params
            body = self.body(Own(output=t.BOOL), env.plus(*params), 1)
            self.method(made, f"@{kind}", (name, params, t.BOOL), body)
            made.asks.append(Callee(f"self.{name}", tuple(p.kind for p in params), t.BOOL))
            made.kinds[name] = kind
            ghosts = (*(p.text for p in made.ghosts), *made.haunted)
            if any(ghost in line for ghost in ghosts for line in body):
                made.haunted.add(f"self.{name}")

    def _env_of_properties(self, made: Made) -> Env:
        env = made.env()
        return replace(env, places=(*env.places, *made.ghosts), calls=(*env.calls, *made.asks))

    def asked_anew(self, made: Made, given: Callee) -> None:
        """A property that replaces its ancestor's, which it may call."""
        name, params = given.text[5:], self._same(given)
        env = self._env_of_properties(made)
        base = replace(given, text=f"super().{name}")
        others = tuple(c for c in made.calls if c != given)
        env = replace(env.plus(*params), calls=(*others, base, base, base))
        body = self.body(Own(output=t.BOOL), env, 1)
        self.method(made, f"@{made.kinds[name]}", (name, params, t.BOOL), body)

    def view(self, made: Made, abstract: Made) -> None:
        """What the machine is as the abstract one."""
        env = self._env_of_properties(made)
        rows = [p for p in (*abstract.variables, *abstract.fixed) if self.w.chance(0.8)]
        args = ", ".join(f"{p.text[5:]}={self.w.expr(p.kind, env)}" for p in rows)
        given = (self.w.name("r"), list[Place](), t.Part(abstract.name))
        value = f"return {abstract.name}.lawful.state({args})"
        self.method(made, f"@refines({abstract.name})", given, [value])

    # Starts.

    def starts(self, made: Made) -> None:
        """One or two `@initial` methods, which begin the parts, too."""
        for _ in range(self.rng.randint(1, 2)):
            params = self.params(1)
            given = [Place(self.w.name("p"), p.kind) for p in made.unset]
            read = tuple(p for p in made.env().places if p not in made.unset)
            begun = tuple(c.text.rpartition(".")[0] for c in made.begun)
            # What its parts are is known after they began.
            env = Env(tuple(p for p in read if not p.text.startswith(begun)))
            own = tuple(p for p in made.variables if p not in made.unset)
            env = replace(env.plus(*params, *given), own=own)
            body = [f"{p.text} = {q.text}" for p, q in zip(made.unset, given, strict=True)]
            for c in made.begun:
                args = ", ".join(self.w.expr(kind, env, 1) for kind in c.params)
                body.append(f"{c.text}({args})")
            body += self.body(Own(guards=True), env, 2)
            name = self.w.name("b")
            self.method(made, "@initial", (name, [*params, *given], t.NOTHING), body)
            kinds = tuple(p.kind for p in (*params, *given))
            made.initials.append(Callee(name, kinds, t.NOTHING))


def _partial(condition: str, env: Env) -> str:
    """The condition, mostly made one that may have no value.

    It draws from a source of its own, so that what a seed makes stays as it is but for this.
    """
    rng = Random(condition)
    numbers = [p.text for p in env.places if p.kind.__class__ is t.Int]
    if not numbers or rng.random() < 0.3:
        return condition
    return f"6 // {rng.choice(numbers)} > {rng.randint(-2, 2)} and ({condition})"
