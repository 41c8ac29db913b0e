"""Fields of generated machines: variables, parameters, ghosts, clocks, parts and families."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from lawful.spec import types as t
from tests.agree.exprs import Family, Place, Writer, opaque
from tests.agree.kinds import KEYS, MODE, NODE, SCALARS, Kinds, annotation
from tests.agree.made import Made

TICKS = ("Clock()", "Clock(2)", "Clock(tick=0.5)", "Clock(tick=0.25)")


class Fields:
    """Writes the fields of one machine after the other; `tick` is the clock of them all."""

    def __init__(self, rng: Random, nesting: tuple[str, str] | None = None) -> None:
        self.rng = rng
        self.kinds = Kinds(rng)
        self.w = Writer(rng, self.kinds)
        self.nesting = nesting
        self.tick = rng.choice(TICKS) if rng.random() < 0.15 else None

    def fields(self, made: Made, part: Made | None) -> None:
        """The fields of a machine, some of them with this part as their type."""
        w, rng = self.w, self.rng
        if not made.state and w.chance(0.5):
            made.state = True
            made.lines.append("    state: Mode = Mode.IDLE")
        if self.tick is not None and not made.clock and (made.name == "M" or w.chance(0.4)):
            made.clock = True
            made.lines.append(f"    clock: Clock = {self.tick}")
            made.read.append(Place("self.clock.now", t.INT))
        if made.name == "M" and not made.family and w.chance(0.1):
            made.family = True
            made.lines.append("    pc: dict[Node, Mode] = total(Mode.IDLE)")
            made.read.append(Place("self.pc", t.Map(NODE, MODE, True, True)))
        for kind in self._kinds(made):
            self._field(made, kind)
        if w.chance(0.3):
            self._fixed(made)
        if w.chance(0.15):
            kind = self.writable()
            p = Place(f"self.{w.name('g')}", kind)
            made.lines.append(f"    {p.text[5:]}: Ghost[{annotation(kind)}] = {w.literal(kind)}")
            made.ghosts.append(p)
        if part is not None:
            for _ in range(rng.randint(1, 2)):
                (self._family if w.chance(0.4) else self._part)(made, part)

    def _kinds(self, made: Made) -> list[t.Type]:
        rng = self.rng
        most = 3 if made.name == "M" else 2
        kinds = [self.kinds.some(rng.randint(0, 2), True) for _ in range(rng.randint(1, most))]
        if made.name == "M" and self.nesting is not None:
            outer, inner = self.nesting
            kinds.insert(0, self.kinds.made(outer, self.kinds.of(inner)))
        if self.w.chance(0.7 if made.clock else 0.15):
            kinds.append(t.Timer())
        return kinds

    def writable(self) -> t.Type:
        """An immutable type whose values can be written."""
        while opaque(kind := self.kinds.some(1)):
            pass
        return kind

    def _field(self, made: Made, kind: t.Type) -> None:
        w = self.w
        name = w.name("x")
        text = annotation(kind)
        default: str | None = None
        timer = "Timer(urgent=True)" if made.clock and w.chance(0.4) else "Timer()"
        if isinstance(kind, t.Timer):
            default = timer
        elif isinstance(kind, t.Map) and isinstance(kind.value, t.Timer):
            default = f"total({timer})" if kind.total else "{}"
        elif not opaque(kind):
            default = w.literal(kind)
        elif isinstance(kind, t.Map) or made.name == "Base" or made.initials:
            return  # Every key's opaque value would have to come from outside.
        elif made.name == "Part" and w.chance(0.7):
            return
        p = Place(f"self.{name}", kind)
        unset = made.name in ("M", "Part") and not made.initials and t.immutable(kind)
        if default is None or (unset and w.chance(0.05)):
            made.lines.append(f"    {name}: {text}")
            made.unset.append(p)
        else:
            made.lines.append(f"    {name}: {text} = {default}")
        made.variables.append(p)

    def _fixed(self, made: Made) -> None:
        kind = t.FLOAT if self.w.chance(0.1) else self.writable()
        p = Place(f"self.{self.w.name('c')}", kind)
        default = self.w.literal(kind)
        made.lines.append(f"    {p.text[5:]}: Param[{annotation(kind)}] = {default}")
        (made.read if kind == t.FLOAT else made.fixed).append(p)

    # Parts.

    def _part(self, made: Made, part: Made) -> None:
        name = self.w.name("m")
        made.lines.append(f"    {name}: Part = {self._new(part)}")
        at = f"self.{name}"
        made.parts += [replace(c, text=f"{at}.{c.text}") for c in part.transitions]
        made.read += [replace(p, text=f"{at}.{p.text}") for p in part.reads()]
        made.calls += [replace(c, text=f"{at}.{c.text}") for c in part.questions()]
        made.controls += [f"{name}.state"] * part.state
        made.timers += [f"{name}.{p.text[5:]}" for p in part.variables if p.kind == t.Timer()]
        if part.unset or (part.initials and self.w.chance(0.5)):
            begun = self.rng.choice(part.initials)
            made.begun.append(replace(begun, text=f"{at}.{begun.text}"))

    def _new(self, part: Made) -> str:
        """A part in a declaration, with some of its parameters."""
        plain = [p for p in part.fixed if not t.contains(p.kind, t.Map)]
        given = [p for p in plain if self.w.chance(0.3)]
        return f"Part({', '.join(f'{p.text[5:]}={self.w.literal(p.kind)}' for p in given)})"

    def _family(self, made: Made, part: Made) -> None:
        """A map of parts; of one that is total no member waits for an `@initial`."""
        w = self.w
        total = not part.unset and w.chance(0.4)
        key = self.rng.choice(KEYS) if total else self.rng.choice((*KEYS, t.INT, *SCALARS))
        if opaque(key):
            key = NODE
        name = w.name("d")
        default = "{}"
        if total:
            default = f"total({'lambda k: ' if w.chance(0.4) else ''}{self._new(part)})"
        made.lines.append(f"    {name}: dict[{annotation(key)}, Part] = {default}")
        made.read.append(Place(f"self.{name}", t.Map(key, t.Part("Part"), True, total)))
        made.families.append(
            Family(
                f"self.{name}",
                "Part",
                key,
                total,
                tuple(part.reads()),
                tuple(part.transitions),
                tuple(part.questions()),
                tuple(part.initials),
                tuple(part.fixed),
                bool(part.unset),
            )
        )
        if key in KEYS:
            made.controls += [f"{name}[{{}}].state"] * part.state
            made.timers += [
                f"{name}[{{}}].{p.text[5:]}" for p in part.variables if p.kind == t.Timer()
            ]
            made.keys[name] = key
