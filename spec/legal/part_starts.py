"""Where a part's `@initial` may be called: once, when its whole starts or the part is made.

Syntactic: in one body, on every path through it. A part is new from its assignment, or from the
beginning of an `@initial` of the whole, until it makes a step. Parts that helpers or `super()`
touch are no longer new after the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import ir
from .. import types as t
from ..analysis.iteration_order import identity, injective, plain_locals
from ..analysis.places import holder, outer_variable_of
from ..analysis.walk import everything, statements
from ..errors import Place, Problems
from ..quick_dataclass import dataclass, field
from ..syntax.members import Members

Names = frozenset[str]
# Places of new parts, and families of new parts with the literal keys that have begun already.
New = dict[ir.Expr, tuple[int, frozenset[ir.Expr]]]


def parts_begin_where_they_are_made(
    machine: ir.Machine, members: Members, problems: Problems
) -> None:
    """Note calls of a part's `@initial` elsewhere, and parts that are left without their values."""
    rows = [row.function for row in (*machine.transitions, *machine.bases)]
    fields = {v.name: v for v in machine.variables}
    for function in (*rows, *machine.functions):
        _Way(machine, problems).run(function, {})
    made = {
        ir.Field(v.place, v.type, ir.Self(v.place, t.Part(machine.name)), v.name): v
        for v in fields.values()
        if t.part_of(v.type) is not None and _makes(v.initial)
    }
    for function in machine.initials:
        _Way(machine, problems).run(function, {place: (0, frozenset()) for place in made})
    for place, v in made.items() if not machine.initials else ():
        _Way(machine, problems).left(place, v.place)


def _makes(value: ir.Expr | None) -> bool:
    return any(isinstance(node, ir.New) for node in everything((value,)))


@dataclass
class _Way:
    """One body; `loops` are the names that differ from round to round, outermost first."""

    machine: ir.Machine
    problems: Problems
    loops: list[Names] = field(default_factory=list[Names])

    def run(self, function: ir.Function, new: New) -> None:
        if not self.block(function.body, new):
            self.end(new, function.place)

    def block(self, body: Iterable[ir.Stmt], new: New) -> bool:
        """Go through the statements; whether nothing after them is reached."""
        return any(self.statement(stmt, new) for stmt in body)

    def statement(self, stmt: ir.Stmt, new: New) -> bool:
        match stmt:
            case ir.Branch():
                return self.branch(stmt, new)
            case ir.Loop():
                self.loop(stmt, new)
            case ir.Return():
                self.end(new, stmt.place)
                return True
            case ir.Refuse() | ir.Break() | ir.Continue():
                return True
            case ir.Step(part=part, name=name) if self.is_start(part, name):
                self.begin(part, stmt.place, new)
            case ir.Step(part=part):
                self.old(part, new, stmt.place)
            case ir.Assign(target=target, value=value) if t.part_of(target.type) is not None:
                self.old(target, new, None)
                if _makes(value):
                    new[target] = len(self.loops), frozenset()
            case ir.Update(target=target) if t.part_of(target.type) is not None:
                self.old(target, new, None)
            case ir.Do() | ir.Base():
                touched = set(self.touched(stmt, set()))
                for place in [p for p in new if outer_variable_of(p) in touched]:
                    del new[place]
            case _:
                pass
        return False

    def branch(self, stmt: ir.Branch, new: New) -> bool:
        then, other = dict(new), dict(new)
        ends = self.block(stmt.then, then), self.block(stmt.other, other)
        left = [way for way, ended in zip((then, other), ends, strict=True) if not ended]
        new.clear()
        for place, at in (row for way in left for row in way.items()):
            if all(way.get(place) == at for way in left):
                new[place] = at
            elif not at[1]:
                self.left(place, stmt.place)
        return not left

    def loop(self, stmt: ir.Loop, new: New) -> None:
        own = identity(stmt.names, stmt.over)
        self.loops.append(frozenset() if own & plain_locals(stmt.body) else own)
        inner = dict(new)
        self.block(stmt.body, inner)
        self.loops.pop()
        kept = {place: at for place, at in new.items() if inner.get(place) == at}
        new.clear()
        new.update(kept)

    # What happens to a part.

    def is_start(self, part: ir.Expr, name: str) -> bool:
        return any(f.name == name for f in self.of(part).initials)

    def of(self, part: ir.Expr) -> ir.Machine:
        kind = t.part_of(part.type)
        assert kind is not None
        return self.machine.part(kind.machine)

    def begin(self, part: ir.Expr, place: Place, new: New) -> None:
        """The part begins here, for the first time in every round of the loops round here."""
        depth = len(self.loops)
        if new.pop(part, (-1, frozenset()))[0] == depth:
            return
        family = holder(part)
        at, begun = new.pop(family, (-1, frozenset[ir.Expr]()))
        if isinstance(part, ir.Item) and part.of == family and at >= 0:
            literal = isinstance(part.key, ir.Const)
            if literal and at == depth and part.key not in begun:
                new[family] = at, begun | {part.key}
                return
            mine = self.loops[at:]
            differ = all(names and injective(part.key, names) for names in mine)
            if not literal and not begun and differ:
                return
            new[family] = at, begun  # One problem is enough.
        self.problems.add(
            "L220",
            place,
            "an @initial of a part that is not new here",
            "one call, in an @initial of the whole or right after the part is made",
            "write self.peers[p] = Peer(); self.peers[p].begin(...), or make it a transition",
        )

    def old(self, place: ir.Expr, new: New, stepped: Place | None) -> None:
        """The part at this place, and at places that may be the same, is no longer new."""
        whole = holder(place)
        for other in [p for p in new if p == whole or holder(p) == whole]:
            begun = new.pop(other)[1]
            if stepped is not None and other in (place, whole) and not begun:
                self.left(other, stepped)

    def end(self, new: New, place: Place) -> None:
        for part, (_, begun) in new.items():
            if not begun or len(begun) < _count(part.type):
                self.left(part, place)

    def left(self, part: ir.Expr, place: Place) -> None:
        """Note a part that nothing has begun though some of its variables have no defaults."""
        machine = self.of(part)
        timed = t.Timer | t.Clock
        rows = (v for v in machine.variables if not isinstance(v.type, timed))
        unset = next((v.name for v in rows if v.initial is None), None)
        if unset is not None:
            starts = " or ".join(f.name for f in machine.initials)
            self.problems.add(
                "L213",
                place,
                f"a {machine.name} whose {unset} has no value yet",
                f"a call of its @initial: {starts}",
                f"call {starts}(...) where it is made, or give {unset} a default",
            )

    def touched(self, stmt: ir.Stmt, seen: set[str]) -> Iterator[str | None]:
        """The variables that a helper or an ancestor's transition may change or step."""
        match stmt:
            case ir.Do(call=call):
                key, rows = call.function, [f for f in self.machine.functions]
            case ir.Base(name=name):
                key, rows = name, [b.function for b in self.machine.bases if b.name == name]
                key = rows[0].name if rows else name
            case _:
                return
        body = next((f.body for f in rows if f.name == key), ())
        if key in seen:
            return
        seen.add(key)
        for inner in statements(body):
            match inner:
                case ir.Assign(target=at) | ir.Update(target=at) | ir.Step(part=at):
                    yield outer_variable_of(at)
                case _:
                    yield from self.touched(inner, seen)


def _count(kind: t.Type) -> int:
    """How many members a family has, where its type alone tells."""
    match kind:
        case t.Map(key=t.Enum(members=members), total=True):
            return len(members)
        case t.Map(key=t.Bool(), total=True):
            return 2
        case _:
            return 0
