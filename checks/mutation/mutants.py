"""The mutants of a machine: every change of a mutation operator, at every place."""

from __future__ import annotations

import hashlib
import linecache
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec.analysis.walk import everything, replaced
from lawful.spec.errors import Place
from lawful.spec.text.expressions import expr

from .headers import header_changes, ignore_changes, initial_changes, restarts
from .operators import Body, Change, changes


@dataclass(frozen=True, slots=True)
class Mutant:
    """A machine with one small change, in itself or in a part.

    `owner` is the machine whose text changes, `row` its transition, helper, start or variable.
    """

    owner: str
    row: str
    change: Change
    whole: ir.Machine

    @property
    def place(self) -> Place:
        """The place of the change in the source."""
        return self.change.old.place

    @property
    def line(self) -> str:
        """The line of the source that changes, without its indent; empty where there is none."""
        return linecache.getline(self.place.file, self.place.line).strip()

    @property
    def what(self) -> str:
        """The change in words, with the transition that it is in."""
        return f"{self.row}: {self.change.what}"

    def made(self) -> ir.Machine:
        """The mutated machine."""
        made = replaced(self.whole, _only(self.change.old, self.change.new))
        assert isinstance(made, ir.Machine)
        return made

    def diff(self) -> tuple[str, ...]:
        """The line of the source before and after, as far as it is one line."""
        at, new = self.place, self.change.new
        before = linecache.getline(at.file, at.line).rstrip("\r\n")
        if not before.strip():
            return ()
        cut = [len(before.encode()[:n].decode(errors="ignore")) for n in (at.column, at.end_column)]
        after = (
            f"{before[: cut[0]]}{expr(new)}{before[cut[1] :]}" if isinstance(new, ir.Expr) else ""
        )
        # In `self.n += 1` the sum has the place of the whole statement.
        if not after or at.end_line != at.line or before.strip() == before[cut[0] : cut[1]]:
            after = self.change.what
        return f"- {before.strip()}", f"+ {after.strip()}"


def _only(old: ir.Node, new: ir.Node) -> Callable[[ir.Node], ir.Node | None]:
    return lambda node: new if node is old else None


def mutants(machine: ir.Machine) -> Iterator[Mutant]:
    """Every mutant of the machine and of its parts, each once, in the order of the declaration.

    What only properties read is not changed.
    """
    reached = _reached(machine)
    seen = set[tuple[int, ir.Node]]()  # A node has an identity as long as the machine has it.
    for owner in (machine, *machine.parts):
        for row, change in _of(owner, reached):
            key = (id(change.old), change.new)
            if change.new != change.old and key not in seen:
                seen.add(key)
                yield Mutant(owner.name, row, change, machine)


def _of(owner: ir.Machine, reached: frozenset[tuple[str, str]]) -> Iterator[tuple[str, Change]]:
    for row in (*owner.transitions, *owner.bases):
        for each in (*header_changes(row), *changes(Body(row.function, owner))):
            yield row.name, each
    for row in owner.transitions:
        for each in restarts(row, owner):
            yield row.name, each
    helpers = (f for f in owner.functions if (owner.name, f.name) in reached)
    late = (i.when for i in owner.ignores if i.when is not None)
    for function in (*owner.initials, *helpers, *late):
        for each in changes(Body(function, owner)):
            yield function.name, each
    for each in ignore_changes(owner):
        yield "ignore", each
    for each in initial_changes(owner):
        yield "initial value", each


def _reached(machine: ir.Machine) -> frozenset[tuple[str, str]]:
    """The helpers that steps use, as (machine, helper); those of properties alone are not."""
    machines = {each.name: each for each in (machine, *machine.parts)}
    waiting: list[tuple[str, ir.Node]] = []
    for owner in machines.values():
        waiting += ((owner.name, row.function) for row in (*owner.transitions, *owner.bases))
        waiting += ((owner.name, f) for f in owner.initials)
        waiting += ((owner.name, i.when) for i in owner.ignores if i.when is not None)
    found = set[tuple[str, str]]()
    while waiting:
        where, body = waiting.pop()
        for node in everything((body,)):
            if not isinstance(node, ir.Call):
                continue
            of = getattr(node.of.type, "machine", where) if node.of is not None else where
            key = (of, node.function)
            if key not in found and of in machines:
                found.add(key)
                helpers = (f for f in machines[of].functions if f.name == node.function)
                waiting += ((of, f) for f in helpers)
    return frozenset(found)


def identities(every: Iterable[Mutant]) -> list[str]:
    """A short name for each mutant that stays the same while its line stays the same.

    Made of its machine, transition, operator, change and line; equal ones are numbered.
    """
    met = Counter[str]()
    found: list[str] = []
    for each in every:
        text = "\0".join((each.owner, each.row, each.change.operator, each.change.what, each.line))
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        met[name] += 1
        found.append(name if met[name] == 1 else f"{name}.{met[name]}")
    return found
