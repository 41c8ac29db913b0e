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

from lawful.spec.codec import as_json
from lawful.spec.flat import Flat
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.values.world import World

from ..compiled import llvm
from ..expansion.successors import Stepping
from ..layout.forms import FORM, Form
from ..native import kernel_rows as kernel
from ..space import Space
from ..spill.block_expansion import Block
from .sent_states import SentStates


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
        world = world_of(flat)
        form = Form(FORM.dense, program.room)
        self.stepping = Stepping(flat, world, Space(flat, world), form=form)
        if digest_of(self.stepping) != program.digest:
            name = flat.machine.name
            raise ValueError(f"{name}: a worker makes other steps; it has another lawful or Python")
        made = llvm.compiled if program.optimised else llvm.quick
        self.sent = SentStates(self.stepping, made(self.stepping.text))
        self.escaped: list[int] = []

    def begin(self) -> None:
        """Forget what was noted, and which states were sent."""
        self.sent.forget()
        self.escaped.clear()

    def end(self) -> None:
        """Give back the memory of the states that were sent; what was noted stays."""
        self.sent.release()

    def rows(self, words: Any, first: int) -> Iterator[Any]:
        """Expand these states, of which the first has that number; rows to be sent whenever there
        are many."""
        block, at = Block(words, first), 0
        while at < len(words):
            status, at = self.sent.expand(block, at)
            if status == kernel.FULL:
                yield self.sent.take()
            elif status == kernel.ESCAPED:
                self.escaped.append(first + at - 1)

    @property
    def report(self) -> Report:
        """What was noted since `begin`."""
        a = self.sent.arrays
        return Report(a.totals.tolist(), a.firsts.tolist(), list(self.escaped))


def world_of(flat: Flat) -> World:
    """Classes for the values of a machine that came without its own."""
    machines = (flat.machine, *(each.machine for each in flat.abstracts))
    return World.made_of(kind for machine in machines for kind in machine.types)


@functools.lru_cache(maxsize=8)
def expander_of(program: SearchProgram) -> Expander:
    """The expander of a program; kept, because a worker process runs many tasks."""
    return Expander(program)
