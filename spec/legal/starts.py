"""Variables without a value: each has a default, or every `@initial` assigns it.

Syntactic: on every path through the method, including the methods that it calls; the body of a loop
may not run at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import ir
from ..analysis.walk import children
from ..errors import Place, Problems
from ..syntax.members import Members

Names = frozenset[str]


def starts_are_whole(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """The rule: every variable has a value where the machine starts."""
    note_partial_starts(machine, problems)


def note_partial_starts(machine: ir.Machine, problems: Problems) -> None:
    """Note variables that an `@initial` reads before, or ends without, giving them a value."""
    unset = {v.name: v for v in machine.variables if v.initial is None}
    if not unset:
        return
    for function in machine.initials:
        start = _Start(machine, frozenset(unset))
        left = start.ended(function.body, frozenset())
        for name in sorted(start.early):
            problems.add(
                "L213",
                start.early[name],
                f"{name}, which has no value yet",
                "a variable with a default, or one that was assigned on the way here",
                f"assign self.{name} first, or give it a default",
            )
        for name in (n for n in unset if left is not None and n not in left):
            if name not in start.early:
                problems.add(
                    "L213",
                    unset[name].place,
                    f"{name}, left out by {function.name}",
                    "a default, or a value from every @initial, on every way through it",
                    f"assign self.{name} in {function.name}, or give it a default",
                )


class _Start:
    """One `@initial`; `early` is the first place where a variable without a value is read."""

    def __init__(self, machine: ir.Machine, unset: Names) -> None:
        self.unset = unset
        self.early: dict[str, Place] = {}
        helpers = [*machine.functions, *(p.function for p in machine.properties)]
        self.functions = {f.name: f.body for f in helpers}
        self.bases = {b.name: b.function.body for b in machine.bases}

    def ended(self, body: Iterable[ir.Stmt], have: Names) -> Names | None:
        """The variables that surely have a value where the body ends or returns; None if it never
        does."""
        ends: list[Names] = []
        after = self.block(body, have, ends)
        return _all(ends if after is None else [*ends, after])

    def block(self, body: Iterable[ir.Stmt], have: Names, ends: list[Names]) -> Names | None:
        """The variables that have a value after the statements; None if control never gets
        there."""
        now: Names | None = have
        for stmt in body:
            if now is not None:
                now = self.statement(stmt, now, ends)
        return now

    def statement(self, stmt: ir.Stmt, have: Names, ends: list[Names]) -> Names | None:
        match stmt:
            case ir.Assign(target=ir.Field(of=ir.Self(), name=name), value=value):
                self.read(value, have)
                return have | {name}
            case ir.Branch(test=test):
                self.read(test, have)
                ways = [self.block(each, have, ends) for each in (stmt.then, stmt.other)]
                return _all([way for way in ways if way is not None])
            case ir.Loop(over=over):
                self.read(over, have)
                self.block(stmt.body, have, ends)
                return have
            case ir.Return() | ir.Refuse():
                self.read(stmt, have)
                ends.extend([have] if isinstance(stmt, ir.Return) else [])
                return None
            case ir.Break() | ir.Continue():
                return None
            case ir.Do(call=call):
                for each in call.args:
                    self.read(each, have)
                return self.ended(self.functions.get(call.function, ()), have)
            case ir.Base(name=name):
                for each in stmt.args:
                    self.read(each, have)
                return self.ended(self.bases.get(name, ()), have)
            case _:
                self.read(stmt, have)
                return have

    def read(self, node: ir.Node, have: Names) -> None:
        """Note variables that are read before they have a value, also inside helpers."""
        for name, place in self._reads(node):
            if name in self.unset - have:
                self.early.setdefault(name, place)

    def _reads(self, node: ir.Node) -> Iterator[tuple[str, Place]]:
        match node:
            case ir.Field(of=ir.Self(), name=name):
                yield name, node.place
            case ir.Call(function=function, of=ir.Self()):
                yield from ((name, node.place) for name in self._read_by(function))
                yield from self._inside(node)
            case _:
                yield from self._inside(node)

    def _inside(self, node: ir.Node) -> Iterator[tuple[str, Place]]:
        for child in children(node):
            yield from self._reads(child)

    def _read_by(self, function: str) -> Names:
        """The variables that a helper without effects reads."""
        found = (name for stmt in self.functions.get(function, ()) for name, _ in self._reads(stmt))
        return frozenset(found)


def _all(ways: list[Names]) -> Names | None:
    """The variables that have a value on all paths; None if there is no path."""
    return frozenset(name for name in ways[0] if all(name in way for way in ways)) if ways else None
