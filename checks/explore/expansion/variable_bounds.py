"""The tests of the bounds of a machine's variables, and of those of its parts."""

from __future__ import annotations

from typing import NamedTuple

from lawful.spec.quick_dataclass import dataclass

from ..codegen.bounds import (
    behind_broken,
    behind_outside,
    broken,
    entry_broken,
    entry_outside,
    outside,
)
from ..codegen.text import Program
from ..layout.codec import Codec
from ..layout.entries import Entries
from ..layout.layouts import (
    Layout,
    MachineLayout,
    MapLayout,
    key_count,
    offsets,
    stride,
    width,
)
from .footprint import Span


class Bounds(NamedTuple):
    """The bounds of a variable: where it is, tests that it breaks the bounds of its type, and tests
    that it is outside the scope. A variable in the entries of a map has those of the entry that
    begins at `at`."""

    name: str
    span: Span
    broken: list[str]
    outside: list[str]
    of: Entries | None = None


def bounds_of(program: Program, codec: Codec, whole: MachineLayout) -> list[Bounds]:
    """The bounds of each variable, parts' ones by `part.variable`, in the order of the cells.

    Maps whose entries the program notes have those of one entry each: a step tests the entries that
    it wrote.
    """
    layouts = [layout for _, layout in whole.fields]
    found: list[Bounds] = []
    for (name, layout), place in zip(whole.fields, offsets(layouts), strict=True):
        of = program.entries.get(name)
        if isinstance(layout, MapLayout) and of is not None:
            found += _of_entry(program, codec, (name, layout), of)
        else:
            found += _Tests(program, codec, "").field(whole, (name, layout), place, ("", ""))
    return found


def _of_entry(
    program: Program, codec: Codec, field: tuple[str, MapLayout], of: Entries
) -> list[Bounds]:
    (name, layout), span = field, (of.begin, of.end)
    if not isinstance(layout.value, MachineLayout):
        one, begin = (program, layout, "at"), (program, layout, str(of.begin))
        entry = Bounds(name, span, entry_broken(*one), entry_outside(*one), of)
        more = of.end, of.begin + width(layout)
        return [entry, Bounds(name, more, behind_broken(*begin), behind_outside(*begin))]
    there = "" if layout.total else "w[at] != 0 and "
    inside = _Tests(program, codec, "at + ").part(
        layout.value, int(not layout.total), (f"{name}.", there)
    )
    return [row._replace(span=span, of=of) for row in inside]


@dataclass(frozen=True, slots=True)
class _Tests:
    """The bounds of variables; `base`: the place that those of their cells count from.

    `within` is what stands before a variable's name, and what asks whether its part is there.
    """

    program: Program
    codec: Codec
    base: str

    def part(self, whole: MachineLayout, at: int, within: tuple[str, str]) -> list[Bounds]:
        layouts = [layout for _, layout in whole.fields]
        rows = zip(whole.fields, offsets(layouts, at), strict=True)
        return [x for field, place in rows for x in self.field(whole, field, place, within)]

    def field(
        self, whole: MachineLayout, field: tuple[str, Layout], place: int, within: tuple[str, str]
    ) -> list[Bounds]:
        (name, layout), (prefix, guard) = field, within
        if isinstance(layout, MachineLayout):
            return self.part(layout, place, (f"{prefix}{name}.", guard))
        if isinstance(layout, MapLayout) and isinstance(layout.value, MachineLayout):
            found: list[Bounds] = []
            for i in range(key_count(layout.key)):
                begin = place + i * stride(layout)
                there = guard if layout.total else f"{guard}w[{self.base}{begin}] != 0 and "
                inside = begin + (not layout.total)
                found += self.part(layout.value, inside, (f"{prefix}{name}.", there))
            return found
        if name not in {v.name for v in self.codec.machines[str(whole.type)].variables}:
            return []
        at = f"{self.base}{place}"
        tests = broken(self.program, layout, at), outside(self.program, layout, at)
        worse, more = ([f"({guard}{x})" if guard else x for x in row] for row in tests)
        return [Bounds(prefix + name, (place, place + width(layout)), worse, more)]
