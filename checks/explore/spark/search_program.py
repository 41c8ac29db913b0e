"""What a worker needs to expand states: the machine within its scope as text, and how it is packed.

The worker generates the steps again and makes machine code of them, once in each process. A digest
of the steps says whether it packs states as the driver does.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from lawful.spec.codec import as_json
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.values.world import World

from ..compiled import kernel_rows as kernel
from ..compiled import llvm
from ..compiled.arrays import empty
from ..compiled.memory import MOST_ROUNDS, ROUNDS
from ..expansion.successors import Stepping
from ..layout.forms import FORM, Form
from ..space import Space

GATHERED = 1 << 16  # Steps that machine code gathers before it comes back.


@dataclass(frozen=True, slots=True)
class SearchProgram:
    """A machine within its scope as JSON text, the room of its sparse sets, the digest of its
    steps, and whether its machine code is optimised. It can be pickled."""

    text: str
    room: int
    digest: str
    optimised: bool

    @classmethod
    def of(cls, stepping: Stepping) -> SearchProgram:
        """The program of these steps."""
        text = as_json.canonical(as_json.flat_to_json(stepping.flat, places=False))
        optimised = llvm.SPEED > 0
        return cls(text, stepping.codec.form.room, digest_of(stepping), optimised)


def digest_of(stepping: Stepping) -> str:
    """Tells the steps and the packing of states from all others."""
    told = json.dumps([stepping.text, [repr(slot) for slot in stepping.slots]])
    return hashlib.sha256(told.encode()).hexdigest()


class Report(NamedTuple):
    """What was noted while states were expanded: the sums, for each note the first state that has
    it or -1, and the states that are left to the reference engine."""

    totals: list[int]
    firsts: list[int]
    escaped: list[int]


class Expander:
    """Expands states by machine code. Raises `ValueError` where its steps are not the driver's."""

    def __init__(self, program: SearchProgram) -> None:
        flat = as_json.flat_from_json(json.loads(program.text))
        machines = (flat.machine, *(each.machine for each in flat.abstracts))
        world = World.made_of(kind for machine in machines for kind in machine.types)
        form = Form(FORM.dense, program.room)
        self.stepping = Stepping(flat, world, Space(flat, world), form=form)
        if digest_of(self.stepping) != program.digest:
            name = flat.machine.name
            raise ValueError(f"{name}: a worker makes other steps; it has another lawful or Python")
        made = llvm.compiled if program.optimised else llvm.quick
        self.code = made(self.stepping.text)
        self.room, self.rounds = 1 << 8, ROUNDS
        self.begin()

    def begin(self) -> None:
        """Forget what was noted, and which states were met."""
        s = self.stepping
        self.arrays = empty(s.words, s.program.begun, s.notes.size)
        self.arrays.control[kernel.UNFOLDED] = 1
        self.escaped: list[int] = []
        self._make_room()

    def _make_room(self) -> None:
        self.arrays = self.arrays.with_room(self.stepping.words, self.room, GATHERED)
        self.arrays.control[kernel.PLACES] = self.room
        self.arrays.control[kernel.ENOUGH] = GATHERED

    def steps(self, block: Any, first: int) -> Iterator[tuple[Any, Any, Any]]:
        """The steps of these states, of which the first has that number: the number of the state,
        the rule, and the words of the state it leads to; each as an array."""
        self.arrays = self.arrays._replace(store=np.ascontiguousarray(block).reshape(-1))
        at, width = 0, self.stepping.words
        while at < len(block):
            a, begun = self.arrays, at
            c = a.control
            c[kernel.NEXT], c[kernel.LAST] = at, len(block)
            a.w[self.stepping.program.rounds] = self.rounds
            unset = a.firsts < 0
            status = self.code("scout", a)
            a.firsts[unset & (a.firsts >= 0)] += first
            at, left = int(c[kernel.NEXT]), int(c[kernel.LEFT])
            origins = a.origins[: 2 * left].reshape(left, 2)
            words = a.batch[: left * width].reshape(left, width)
            yield origins[:, 0] + first, origins[:, 1], words
            if status == kernel.ROOM:
                self.room *= 2
                self._make_room()
            elif status == kernel.ESCAPED:
                self.escaped.append(first + at - 1)
            elif status == kernel.SPENT and at == begun:
                if self.rounds < MOST_ROUNDS:
                    self.rounds *= 2
                else:
                    self.escaped.append(first + at)
                    at += 1

    @property
    def report(self) -> Report:
        """What was noted since `begin`."""
        a = self.arrays
        return Report(a.totals.tolist(), a.firsts.tolist(), list(self.escaped))


@functools.lru_cache(maxsize=8)
def expander_of(program: SearchProgram) -> Expander:
    """The expander of a program; kept, because a worker process runs many tasks."""
    return Expander(program)
