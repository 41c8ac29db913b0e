"""Whole modules: types, functions, a part, an ancestor, and a machine with all that it can have."""

from __future__ import annotations

from lawful.spec import types as t
from tests.agree import blocks, gathering, members, ways
from tests.agree.bodies import Own, indented
from tests.agree.exprs import Callee, Env, Place
from tests.agree.kinds import GIVEN, PRELUDE, annotation
from tests.agree.made import CONSTANT_LINES, CONSTANTS, Lines, Made
from tests.agree.methods import Methods

JOINED = (blocks, gathering, members, ways)  # Their tables are filled when they are imported.


class Module(Methods):
    """Writes one module; `nesting` is a pair of constructors that it must have in a variable."""

    functions: tuple[Callee, ...] = ()

    def text(self) -> str:
        """The module."""
        for _ in range(self.rng.randint(0, 2)):
            self.kinds.made("Record", self.kinds.some(1))
        functions: Lines = []
        for _ in range(self.rng.randint(0, 1)):
            functions += self._function()
        part = self._machine("Part", None, None) if self.w.chance(0.4) else None
        base = self._machine("Base", None, None) if self.w.chance(0.25) else None
        seen = self._seen() if self.w.chance(0.05) else None
        whole = self._machine("M", part, base, seen)
        rows = [*functions]
        for made in (part, base, seen, whole):
            rows += ["", *([] if made is None else made.lines)]
        text = "\n".join([PRELUDE, *self._records(), *CONSTANT_LINES, *rows, ""])
        # Some modules name an element that no scope gives.
        return text.replace('Node("Node2")', 'Node("chief")') if len(text) % 3 == 0 else text

    def _records(self) -> Lines:
        rows: Lines = []
        for record in self.kinds.records[GIVEN:]:
            rows.append(f"class {record.name}({self.kinds.parents.get(record.name, 'Record')}):")
            rows += [f"    {name}: {annotation(of)}" for name, of in self.kinds.own(record)]
            rows.append("")
        return rows

    def _function(self) -> Lines:
        """A function of the module."""
        params = self.params()
        output = self.writable()
        name = self.w.name("f")
        body = self.body(Own(output=output), Env((*params, *CONSTANTS)), 2)
        self.functions = (*self.functions, Callee(name, tuple(p.kind for p in params), output))
        return ["", f"def {name}({_signature(params)}) -> {annotation(output)}:", *indented(body)]

    def _machine(
        self, name: str, part: Made | None, base: Made | None, seen: Made | None = None
    ) -> Made:
        w, rng = self.w, self.rng
        made = Made(name) if base is None else base.heir(name)
        head = ", abstract=True" if name == "Base" and w.chance(0.3) else ""
        parent = "Machine" if base is None else base.name
        made.lines = [f"class {name}({parent}{head}):", '    """Made."""', ""]
        made.calls += [f for f in self.functions if f not in made.calls]
        self.fields(made, part)
        for _ in range(rng.randint(0, 1)):
            self.helper(made)
        if w.chance(0.25):
            self.act(made)
        if base is not None:
            self.overridden(made, base)
        for _ in range(rng.randint(1, 3)):
            self.transition(made)
        if name == "M" or w.chance(0.3):
            self.event(made)
        for _ in range(rng.randint(0, 2) if name == "M" else w.chance(0.3)):
            self.property(made)
        if seen is not None:
            self.view(made, seen)
        if name != "Base" and (made.unset or made.begun or w.chance(0.12)):
            self.starts(made)
        return made

    def _seen(self) -> Made:
        """A machine of values alone, which another one refines."""
        made = Made("Seen")
        made.lines = ["class Seen(Machine):", '    """Made."""', ""]
        for _ in range(self.rng.randint(1, 2)):
            # A map would have to have all elements, and Python's serial numbers are no plain ones.
            kind, name = self.writable(), self.w.name("x")
            while t.contains(kind, t.Map) or t.contains(kind, t.Serial):
                kind = self.writable()
            made.lines.append(f"    {name}: {annotation(kind)} = {self.w.literal(kind)}")
            made.variables.append(Place(f"self.{name}", kind))
        self.transition(made)
        return made


def _signature(params: list[Place]) -> str:
    return ", ".join(f"{p.text}: {annotation(p.kind)}" for p in params)
