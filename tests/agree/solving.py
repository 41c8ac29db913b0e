"""The Z3 encoding beside the reference, for what it encodes; the rest is counted by its name."""

from __future__ import annotations

from typing import Any

from lawful.checks.reference import Outcome
from lawful.checks.reference.states import PartState
from lawful.checks.smt.encode.sorts import NotEncodable, fields_of
from lawful.checks.smt.encode.symbolic import Unencodable
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.lower.steps import with_all_steps
from lawful.spec.resolve import resolve
from lawful.spec.values.world import FrozenBag, FrozenMap, Token
from tests.agree.hits import Hits
from tests.agree.kinds import BLOBS, SIZES
from tests.checks.smt.both_engines import Both, Untold

MOST = 3  # Items of a random list.


class Solving(Both):
    """One machine in Z3; what has no encoding is left out where it is a variable."""

    def __init__(self, cls: Any, hits: Hits) -> None:
        super().__init__(cls, {**_lengths(resolve(cls).machine), **SIZES}, units=6_000_000)
        self.hits = hits
        self.refused: set[str] = set()

    def read(self, machine: ir.Machine) -> ir.Machine:
        return with_all_steps(machine)

    def term(self, value: Any, kind: t.Type) -> Any:
        try:
            return super().term(value, kind)
        except NotEncodable as error:
            return Unencodable(error.construct)

    def same(self, found: Any, value: Any, kind: t.Type) -> bool:
        return isinstance(found, Unencodable) or super().same(found, value, kind)

    def outgrown(self, outcome: Outcome) -> None:
        self.hits.add("kept aside", "a list longer than Z3 sees")

    def judged(
        self, row: ir.Transition, state: Any, args: dict[str, Any], late: bool
    ) -> str | None:
        """What differs, or None."""
        kinds = dict(row.function.params)
        state = PartState(
            self.tokens(value, kind)
            for value, kind in zip(state, self.fields.values(), strict=True)
        )
        args = {name: self.tokens(value, kinds[name]) for name, value in args.items()}
        if row.name in self.refused:
            return None
        try:
            self.compare(row, state, args, late)
        except NotEncodable as error:
            self.refused.add(row.name)
            self.hits.add("not encoded", error.construct.split(" of a ")[0][:40])
            return None
        except Untold:
            self.refused.add(row.name)  # It would take as long again.
            self.hits.add("kept aside", "Z3 cannot tell")
            return None
        except AssertionError as error:
            return f"Z3: {row.name}{args} in {state}: {str(error)[:300]!r}"
        self.hits.add("total", "comparisons by Z3")
        self.hits.add("total", "comparisons")
        return None

    def tokens(self, value: Any, kind: t.Type) -> Any:
        """The value with tokens for what is opaque."""
        if not any(t.contains(kind, each) for each in (t.Opaque, t.Part)):
            return value
        match kind:
            case t.Opaque(name=name):
                return Token(name, BLOBS.index(value))
            case t.Part(machine=name):
                return self._part(value, name)
            case t.Record(fields=fields):
                made: Any = value.__class__
                return made(*(self.tokens(getattr(value, n), of) for n, of in fields))
            case t.Union(options=options):
                found = [o for o in options if _is(value, o)]
                return self.tokens(value, found[0])
            case t.Tuple(items=items):
                return tuple(self.tokens(v, of) for v, of in zip(value, items, strict=True))
            case t.Seq(item=item):
                return tuple(self.tokens(v, item) for v in value)
            case t.Set(item=item):
                return frozenset(self.tokens(v, item) for v in value)
            case t.Bag(item=item):
                return FrozenBag({self.tokens(k, item): n for k, n in value.items()})
            case t.Map(key=key, value=of):
                rows = [(self.tokens(k, key), self.tokens(v, of)) for k, v in value.items()]
                return FrozenMap(rows)
            case _:
                return value

    def _part(self, value: Any, name: str) -> Any:
        m = next(m for m in self.machine.parts if m.name == name)
        kinds = [v.type for v in m.variables] + [p.type for p in m.parameters]
        return PartState(self.tokens(v, of) for v, of in zip(value, kinds, strict=True))


def _lengths(machine: ir.Machine) -> dict[str, int]:
    """The greatest length of all lists and sequences, and of those inside them."""
    names: set[str] = set()
    for m in (machine, *machine.parts):
        names.update(name for name, _ in fields_of(m))
        taken = [*(row.function for row in m.transitions), *m.initials]
        names.update(n for f in (*taken, *(p.function for p in m.properties)) for n, _ in f.params)
        names.update(n for k in m.types if isinstance(k, t.Record) for n, _ in k.fields)
    return {f"{name}{'.item' * depth}": MOST for name in names for depth in range(3)}


def _is(value: Any, kind: t.Type) -> bool:
    if isinstance(kind, t.Nothing) or value is None:
        return value is None and isinstance(kind, t.Nothing)
    return not isinstance(kind, t.Record) or type(value).__name__ == kind.name
