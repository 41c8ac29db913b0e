"""Lockstep: all instances of a batch advance together, where their states are of fixed width.

Rows are taken by their rank within their instance: the first row of every instance, then the second
of every instance, and so on; those of one rank that do one event are a block, which arrays judge at
once. What does not plainly fit (a refused event, a number beyond `components.LARGE`, another
output) leaves its whole instance to the compiled steps, and where they do not fit, too, to the row
fold. So every finding is the row fold's.

Only instances with all their rows in the batch take part. The first and the last of a batch, which
may go on in another one, and those with many more rows than others are left to the compiled steps.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from lawful.spec import types as t
from lawful.spec.analysis.control_variable import control_variable
from lawful.spec.syntax.declare import slot

from ..parquet import arrow
from ..problems import FittingInstances
from .components import LARGE, Array, Symbols, beyond, components_of, dtypes, symbol
from .layout import INSTANCE, Layout, Leaf, Unsupported
from .regular import Keys
from .steps import Steps
from .vector_events import IGNORED, Block, Fields, VectorEvent, leaves, null_of, terminal_of
from .vectors import Frame

FEW = 64  # So many instances have to advance together; fewer go faster one by one.


def lockstep_of(steps: Steps, layout: Layout) -> Lockstep | None:
    """The lockstep of a machine; None where arrays run none of its events."""
    try:
        found = Lockstep(steps, layout)
    except Unsupported:
        return None
    return found if any(each is not None for each in found.events) else None


class Lockstep:
    """Judges the instances of a batch that plainly fit. Unsupported where arrays cannot."""

    def __init__(self, steps: Steps, layout: Layout) -> None:
        machine = steps.stepper.reference.machine
        self.machine = machine
        self.layout = layout
        self.events: list[VectorEvent | None] = []  # By code; None for what arrays do not run.
        self.leaves: list[list[Leaf]] = []
        self.told: list[Leaf | None] = []  # The recorded output.
        for name in layout.names:
            known = layout.events.get(name)
            event: VectorEvent | None = None
            if name not in layout.skipped and known is not None:
                try:
                    event = VectorEvent(machine, known)
                except Unsupported:
                    event = None
            self.events.append(event)
            origins = () if known is None else known.origins
            self.leaves.append([leaf for each in origins for leaf in leaves(each)])
            told = None if known is None or known.told is None else known.told.origin
            self.told.append(told if isinstance(told, Leaf) else None)
        self.skipped = np.array([name in layout.skipped for name in layout.names])
        self.slow = np.array([e is None for e in self.events]) & ~self.skipped
        self.terminal, read = terminal_of(machine)
        used = [each for each in self.events if each is not None]
        held = control_variable(machine)
        self.control, self.members = "", tuple[str, ...]()
        if held is not None and isinstance(held.type, t.Enum):
            self.control, self.members = held.name, held.type.members
        controls = {self.control} if self.control else set[str]()
        self.fields = {n for e in used for n in e.fields} | read | controls
        self.parameters = {n for e in used for n in e.parameters} | read
        state = steps.opened("", 0).state
        self.starts = [
            (v.name, v.type, getattr(state, slot(v.name)))
            for v in machine.variables
            if v.name in self.fields
        ]
        self.fixed = [
            (p.name, p.type, getattr(state, slot(p.name)))
            for p in machine.parameters
            if p.name in self.parameters
        ]
        for _, kind, value in (*self.starts, *self.fixed):
            components_of(value, kind, {})

    def judged(
        self, columns: Any, keys: Keys, going_on: bool
    ) -> tuple[FittingInstances | None, Any]:
        """The instances that fit, and the rows of all others.

        `going_on`: the first instance has rows in an earlier batch.
        """
        starts = keys.starts
        lengths = np.diff(np.r_[starts, columns.num_rows])
        together = columns.column(INSTANCE).is_valid().to_numpy(zero_copy_only=False)[starts]
        together[-1] = False
        if going_on:
            together[0] = False
        if np.count_nonzero(together) < FEW:
            return None, columns
        symbols: Symbols = {}
        arrays, bad = self.arrays(columns, keys, symbols)
        together &= np.add.reduceat(bad, starts) == 0
        skipped = np.add.reduceat(self.skipped[keys.codes], starts)
        together &= skipped < lengths
        if self.layout.mapping.dense:
            together &= keys.seqs[starts] == self.layout.mapping.first
        ordered = np.sort(lengths[together])
        if len(ordered) < FEW:
            return None, columns
        together &= lengths <= ordered[-FEW]
        batch = _Batch(self, keys, together, Inputs(arrays, symbols))
        fits = batch.run()
        if not fits.any():
            return None, columns
        made = batch.fitting(columns, skipped[together])
        together[together] = fits
        return made, columns.filter(arrow().array(np.repeat(~together, lengths)))

    def arrays(self, columns: Any, keys: Keys, symbols: Symbols) -> tuple[dict[str, Array], Array]:
        """An array for each path, and the rows that arrays do not judge."""
        bad = keys.bad | self.slow[keys.codes]
        arrays: dict[str, Array] = {}
        for code, event in enumerate(self.events):
            if event is None:
                continue
            told = self.told[code]
            for leaf in (*self.leaves[code], *([told] if told else [])):
                column = columns.column(leaf.path)
                if leaf.path not in arrays:
                    arrays[leaf.path] = array_of(column, leaf.kind, symbols)
                wrong = _outside(arrays[leaf.path], leaf.kind)
                if wrong is not None and leaf is told:
                    wrong &= column.is_valid().to_numpy(zero_copy_only=False)
                if wrong is not None:
                    bad |= wrong & (keys.codes == code)
            if told is not None and (null := null_of(told.path)) not in arrays:
                is_null = columns.column(told.path).is_null()
                arrays[null] = is_null.to_numpy(zero_copy_only=False)
        return arrays, bad


def _outside(values: Array, kind: t.Type) -> Array | None:
    """Where a column has no value of this type; None where it always has one."""
    match kind:
        case t.Enum():
            return values < 0
        case t.Int(low=low, high=high):
            least = -LARGE if low is None else max(low, -LARGE)
            return beyond(values, least, LARGE if high is None else min(high, LARGE))
        case _:
            return None


def array_of(column: Any, kind: t.Type, symbols: Symbols) -> Array:
    """A column as an array: members of enums and elements of sorts by number, nulls as zero."""
    pa = arrow()
    pc = pa.compute
    match kind:
        case t.Enum(members=members):
            found = pc.index_in(column, pa.array(members))
            return pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        case t.Sort():
            encoded = column.dictionary_encode()
            names = encoded.dictionary.to_pylist()
            numbers = np.array([*(symbol(symbols, each) for each in names), 0], dtype=np.int64)
            return numbers[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        case t.Bool():
            return pc.fill_null(column, fill_value=False).to_numpy(zero_copy_only=False)
        case _:
            return pc.fill_null(column, 0).to_numpy(zero_copy_only=False)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The columns of a batch as arrays, by path."""

    arrays: dict[str, Array]
    symbols: Symbols


class _Batch:
    """The instances of one batch that advance together."""

    def __init__(
        self,
        lockstep: Lockstep,
        keys: Keys,
        together: Array,
        inputs: Inputs,
    ) -> None:
        self.lockstep = lockstep
        self.symbols = symbols = inputs.symbols
        starts = keys.starts[together]
        lengths = np.diff(np.r_[keys.starts, len(keys.seqs)])[together]
        self.starts, self.lengths = starts, lengths
        count = len(starts)
        self.instance = np.repeat(np.arange(count), lengths)
        first = np.cumsum(lengths) - lengths
        rank = np.arange(len(self.instance)) - np.repeat(first, lengths)
        rows = rank + np.repeat(starts, lengths)
        codes = keys.codes[rows].astype(np.int64)
        block = rank * len(lockstep.events) + codes
        if block.size and block.max() < 1 << 16:
            block = block.astype(np.uint16)  # These are sorted in linear time.
        order = np.argsort(block, kind="stable")
        self.instance, self.codes = self.instance[order], codes[order]
        rows = rows[order]
        self.arrays = {path: values[rows] for path, values in inputs.arrays.items()}
        edges = np.flatnonzero(np.diff(block[order])) + 1
        self.edges = [0, *edges.tolist(), len(order)]
        self.state: dict[str, tuple[Array, ...]] = {}
        for name, kind, value in lockstep.starts:
            parts = zip(components_of(value, kind, symbols), dtypes(kind), strict=True)
            self.state[name] = tuple(np.full(count, each, dtype) for each, dtype in parts)
        self.fixed: Fields = {
            name: components_of(value, kind, symbols) for name, kind, value in lockstep.fixed
        }
        self.failed = np.zeros(count, dtype=bool)
        self.seen = np.zeros(len(order), dtype=np.int64)  # The control state after each row.
        self.taken = np.zeros(len(order), dtype=np.int64)

    def run(self) -> Array:
        """Which instances fit."""
        with np.errstate(all="ignore"):  # Rows that failed before may compute anything.
            for start, end in zip(self.edges, self.edges[1:], strict=False):
                self._block(start, end)
            self.ended = self._ended()
        return ~self.failed

    def _block(self, start: int, end: int) -> None:
        at = self.instance[start:end]
        event = self.lockstep.events[int(self.codes[start])]
        if event is not None:
            fields = {name: tuple(c[at] for c in self.state[name]) for name in event.fields}
            for name in event.parameters:
                fields[name] = self.fixed[name]
            served = event.served(fields, Block(self.arrays, self.symbols, start, end))
            for name, new in served.written.items():
                for kept, value in zip(self.state[name], new, strict=True):
                    kept[at] = value
            self.failed[at] |= served.failed
            self.taken[start:end] = served.taken
        if self.lockstep.members:
            self.seen[start:end] = self.state[self.lockstep.control][0][at]

    def _ended(self) -> Array:
        """Where an instance may end in the state that it is in."""
        tests = self.lockstep.terminal
        if not tests:
            return np.ones(len(self.failed), dtype=bool)
        frame = Frame({**self.state, **self.fixed}, {}, self.symbols)
        found: Array = np.zeros(len(self.failed), dtype=bool)
        for test in tests:
            found = found | test(frame)
        for each in (*frame.faults, *frame.refused):
            self.failed |= each
        return found

    def fitting(self, columns: Any, skipped: Array) -> FittingInstances:
        """The instances that fit, and what they covered."""
        fits = ~self.failed
        names = columns.column(INSTANCE).take(arrow().array(self.starts[fits])).to_pylist()
        rows = self.lengths[fits]
        return FittingInstances(
            self.lockstep.layout.mapping.machine,
            names,
            np.where(self.ended[fits], "fits", "open").tolist(),
            rows.tolist(),
            (rows - skipped[fits]).tolist(),
            self._transitions(fits[self.instance]),
            self._states(fits),
        )

    def _transitions(self, fits: Array) -> Counter[str]:
        """How often each transition was taken in the rows that fit."""
        out: Counter[str] = Counter()
        for code, event in enumerate(self.lockstep.events):
            if event is None:
                continue
            taken = self.taken[fits & (self.codes == code)]
            counts = np.bincount(taken[taken != IGNORED], minlength=len(event.names))
            out.update({n: c for n, c in zip(event.names, counts.tolist(), strict=True) if c})
        return out

    def _states(self, fits: Array) -> Counter[str]:
        """How often each control state was reached; an instance begins in one."""
        instances = int(np.count_nonzero(fits))
        of_rows = fits[self.instance]
        members = self.lockstep.members
        if not members:
            return Counter({"": instances + int(np.count_nonzero(of_rows))})
        counts = np.bincount(self.seen[of_rows], minlength=len(members))
        out = Counter({n: c for n, c in zip(members, counts.tolist(), strict=True) if c})
        control = self.lockstep.control
        (first,) = (value for name, _, value in self.lockstep.starts if name == control)
        out[first.name] += instances
        return out
