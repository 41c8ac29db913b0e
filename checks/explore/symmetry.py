"""Symmetry: states that differ only in which interchangeable element plays which part are one.

Found, not declared: elements of an unordered sort and opaque values can only be stored, copied and
compared, so a permutation of them maps behaviours to behaviours; only constants and the values of
parameters that a scope tries can tell one from another. The first state found of each orbit stands
for all, so that traces stay real (C. N. Ip, D. L. Dill, "Better verification through symmetry",
1996).

The canonical state of an orbit is exact. Elements are put in the order of all that the state holds
of them, others of their kind known only by what is held of those in turn; where that does not tell
two apart, either exchanging them changes nothing, or each in turn is taken as the first, and the
least result counts (B. McKay, "Practical graph isomorphism", 1981).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import factorial, prod
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.named_elements import named_elements
from lawful.spec.codec.as_json import canonical
from lawful.spec.values.world import chosen, decode
from lawful.spec.verdicts import LIVENESS

from ..reference.states import State
from ..verdict import PropertyResult, Verdict
from .leaves import Leaves
from .space import Args, Space

Renaming = Mapping[Any, Any]
Names = Mapping[Any, str]
Cells = list[list[Any]]


class Symmetry:
    """The interchangeable elements of a space, by the name of their sort or opaque type."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.machine = space.machine
        self.leaves = Leaves(self.machine, _interchangeable)
        kinds = [k for k in self.machine.types if _interchangeable(k)]
        named = named_elements(self.machine, [name for name, row in space.flat.parameters if row])
        self.groups: dict[str, tuple[Any, ...]] = {}
        for kind in kinds:
            name = _name(kind)
            known = named.get(name, ())
            elements = tuple(e for e in space.values.of(kind) if str(e) not in known)
            if len(elements) > 1 and self._parameters_fit(elements):
                self.groups[name] = elements
        self.touches = cache(self._touches)

    def _parameters_fit(self, elements: Sequence[Any]) -> bool:
        """Whether the values that are tried of each parameter are the same for all elements."""
        kinds = {p.name: p.type for p in self.machine.parameters}
        for name, rows in self.space.flat.parameters:
            values = {decode(row, kinds[name], self.space.world) for row in rows}
            for one, other in itertools.pairwise(elements):
                swap = {one: other, other: one}
                if {self._renamed(value, kinds[name], swap) for value in values} != values:
                    return False
        return True

    # Renaming.

    def _touches(self, kind: t.Type) -> bool:
        """Whether values of this type may hold an interchangeable element."""
        return any(
            isinstance(each, t.Part) or _name(each) in self.groups for each in t.inside(kind)
        )

    def _renamed(self, value: Any, kind: t.Type, by: Renaming) -> Any:
        return self.leaves.value(value, kind, lambda each, _: by.get(each, each))

    def renamed(self, state: State, by: Renaming) -> State:
        """The state with elements renamed."""
        return self.leaves.state(state, lambda each, _: by.get(each, each))

    # Canonical states.

    def canonical(self, state: State) -> tuple[State, int]:
        """The representative of the orbit, and the number of states in the orbit."""
        return self.placed(state)[:2]

    def placed(self, state: State) -> tuple[State, int, Renaming]:
        """The same, and a renaming that leads to the representative."""
        leaves = [(self._ordered(state, cells), cells) for cells in self._leaves(state, {})]
        size = prod(factorial(len(elements)) for elements in self.groups.values())
        if len(leaves) == 1:
            same, (least, cells) = 1, leaves[0]
        else:
            keys = [([len(cell) for cell in cells], self._text(of)) for of, cells in leaves]
            same, (least, cells) = keys.count(min(keys)), leaves[keys.index(min(keys))]
        # What leaves the state as it is: as many leaves as are equal, in each of which only
        # exchangeable elements can still change places.
        count = size // (same * prod(factorial(len(cell)) for cell in cells))
        return least, count, self._order(cells)

    def _ordered(self, state: State, cells: Cells) -> State:
        """The state with its elements renamed in the order of the cells."""
        return self.renamed(state, self._order(cells))

    def _order(self, cells: Cells) -> Renaming:
        elements = itertools.chain.from_iterable(self.groups.values())
        return dict(zip(itertools.chain(*cells), elements, strict=True))

    def _leaves(self, state: State, colours: Mapping[Any, int]) -> Iterator[Cells]:
        """Ways to tell all elements apart but those that are exchangeable: by all that the state
        holds of them; where that is the same, by taking each in turn as the first."""
        self.space.ask()
        cells = self._cells(state, colours)
        rest = [cell for cell in cells if not self._exchangeable(state, cell)]
        if rest and len(cells) > len(set(colours.values())):
            yield from self._leaves(state, _coloured(cells))
        elif rest:
            at = cells.index(rest[0])
            for first in rest[0]:
                others = [each for each in rest[0] if each != first]
                yield from self._leaves(
                    state, _coloured([*cells[:at], [first], others, *cells[at + 1 :]])
                )
        else:
            yield cells

    def _text(self, state: State) -> str:
        names = [p.name for p in self.machine.parameters]
        shown = self.space.shown(state)
        fixed = [repr(each) for each in state[len(state) - len(names) :]]
        return canonical([shown, [*fixed]])

    def _cells(self, state: State, colours: Mapping[Any, int]) -> Cells:
        """The elements, sort by sort, least first; those together that are of one colour and have
        one signature."""
        found: Cells = []
        colour = {e: colours.get(e, 0) for elements in self.groups.values() for e in elements}
        names = {e: f"#{n}" for e, n in colour.items()}
        for elements in self.groups.values():
            rows = [
                (colour[e], self._sign_state(state, self.machine, names | {e: "me"}), i)
                for i, e in enumerate(elements)
            ]
            for _, cell in itertools.groupby(sorted(rows), key=lambda row: row[:2]):
                found.append([elements[i] for _, _, i in cell])
        return found

    # Signatures: what the state holds of one element, of every other its sort and colour.

    def _sign_state(self, state: State, machine: ir.Machine, names: Names) -> str:
        kinds = [v.type for v in machine.variables] + [p.type for p in machine.parameters]
        return "|".join(
            self._sign(value, kind, names)
            for value, kind in zip(state, kinds, strict=True)
            if self.touches(kind)
        )

    def _sign(self, value: Any, kind: t.Type, names: Names) -> str:
        match kind:
            case t.Sort() | t.Opaque():
                return names.get(value) or repr(value)
            case t.Record(fields=fields):
                rows = (self._sign(getattr(value, name), of, names) for name, of in fields)
                return f"{kind.name}({','.join(rows)})"
            case t.Union():
                return self._sign(value, chosen(value, kind), names)
            case t.Tuple(items=items):
                pairs = zip(value, items, strict=True)
                return f"({','.join(self._sign(each, of, names) for each, of in pairs)})"
            case t.Seq(item=item):
                return f"[{','.join(self._sign(each, item, names) for each in value)}]"
            case t.Set(item=item):
                return f"{{{','.join(sorted(self._sign(each, item, names) for each in value))}}}"
            case t.Bag(item=item):
                rows = (f"{self._sign(k, item, names)}:{n}" for k, n in value.items())
                return f"{{{','.join(sorted(rows))}}}"
            case t.Map(key=key, value=of):
                pairs = value.items()
                rows = (f"{self._sign(k, key, names)}:{self._sign(v, of, names)}" for k, v in pairs)
                return f"{{{','.join(sorted(rows))}}}"
            case t.Part(machine=name):
                return f"<{self._sign_state(value, self.machine.part(name), names)}>"
            case _:
                return repr(value)

    def _exchangeable(self, state: State, block: Sequence[Any]) -> bool:
        """Whether every order of these elements gives the same state."""
        return all(
            self.renamed(state, {one: other, other: one}) == state
            for one, other in itertools.pairwise(block)
        )

    # What is said of properties.

    def judged(self, p: PropertyResult) -> PropertyResult:
        """A verdict that one state of each orbit supports; `unknown` where they do not."""
        j = next((j for j in self.space.judged if j.name == p.name), None)
        if j is None or p.verdict is Verdict.UNDEFINED:
            return p
        kinds = [plan.type for plan in j.rule.plans]
        lost = (
            j.kind in LIVENESS
            or (j.kind == "recoverable" and not self.plain(kinds))
            or (j.kind == "reachable" and not self.simple(kinds))
        )
        if not lost:
            return p
        why = "not decided with symmetry, which forgets which element is which"
        return dataclasses.replace(p, verdict=Verdict.UNKNOWN, why=why, trace=None, notes=())

    def plain(self, kinds: Sequence[t.Type]) -> bool:
        """Whether no parameter of these types can hold an interchangeable element."""
        return not any(map(self.touches, kinds))

    def simple(self, kinds: Sequence[t.Type]) -> bool:
        """Whether elements are parameters by themselves only, not inside of other values."""
        return all(_name(kind) in self.groups or not self.touches(kind) for kind in kinds)

    def pattern(self, args: Args, kinds: Sequence[t.Type]) -> Args:
        """Arguments up to renaming: elements in the order in which they are met first."""
        by: dict[Any, Any] = {}
        left = {name: list(elements) for name, elements in self.groups.items()}
        for value, kind in zip(args, kinds, strict=True):
            if value in self.groups.get(_name(kind), ()) and value not in by:
                by[value] = left[_name(kind)].pop(0)
        pairs = zip(args, kinds, strict=True)
        return tuple(by.get(v, v) if _name(kind) in left else v for v, kind in pairs)


def _coloured(cells: Cells) -> dict[Any, int]:
    return {e: colour for colour, cell in enumerate(cells) for e in cell}


def _interchangeable(kind: t.Type) -> bool:
    return isinstance(kind, t.Opaque) or (isinstance(kind, t.Sort) and not kind.ordered)


def _name(kind: t.Type) -> str:
    return kind.name if isinstance(kind, t.Sort | t.Opaque) else ""
