"""Generated code between the packed words of a state and its cells in `w`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from ..codegen.text import Program, Writer, plus
from ..layout.entries import Entries, Run, runs
from ..layout.packing import Slot
from .footprint import Span, meets, without


class PackedState:
    """The state that is expanded: its words at `packed`, its cells at 0, those before a step at
    `original`."""

    def __init__(self, program: Program, slots: Sequence[Slot], original: int) -> None:
        self.program = program
        self.slots = slots
        self.words = slots[-1].word + 1 if slots else 1
        self.original = original
        self.packed = program.frame(self.words)

    def unpack(self, f: Writer) -> None:
        for word in range(self.words):
            f.line(f"p{word} = store[at + {word}]")
            f.line(f"w[{self.packed + word}] = p{word}")
        for s in self.slots:
            if not s.bits:
                f.line(f"w[{s.cell}] = {s.low}")
                continue
            text = f"(p{s.word} >> {s.shift} & {(1 << s.bits) - 1})"
            f.line(f"w[{s.cell}] = {text}{f' + {s.low}' if s.low else ''}")

    def pack(self, f: Writer, spans: tuple[Span, ...]) -> None:
        """The words of the state in `w`, changed in these cells, written to `out`."""
        f.line("if n >= room: return -1")
        known = self._known(spans)
        for word in range(self.words):
            changed = [
                s
                for s in self.slots
                if s.word == word
                and s.bits
                and meets((s.cell, s.cell + 1), spans)
                and not any(of.begin <= s.cell < of.end for of in known)
            ]
            kept = ~sum((1 << s.bits) - 1 << s.shift for s in changed)
            parts = [f"w[{self.packed + word}]{f' & {kept}' if changed else ''}"]
            parts += [
                f"(w[{s.cell}]{f' - {s.low}' if s.low else ''}) << {s.shift}" for s in changed
            ]
            f.line(f"out[n * {self.words} + {word}] = {' | '.join(f'({p})' for p in parts)}")
        for of in known:
            with written(f, of) as (k, at):
                for run in runs(of, self.slots):
                    with f.block(f"if {run.first} <= {k} <= {run.last}:"):
                        self._pack_entry(f, run, k, at)

    def _pack_entry(self, f: Writer, run: Run, k: str, at: str) -> None:
        """One entry of a map, the k-th of a run, put into the words in `out`."""
        for word in sorted({s.word for s in run.slots if s.bits}):
            mine = [s for s in run.slots if s.bits and s.word == word]
            least, cell = min(s.shift for s in mine), run.slots[0].cell
            mask = sum((1 << s.bits) - 1 << s.shift - least for s in mine)
            parts = [
                f"(w[{plus(at, s.cell - cell)}]{f' - {s.low}' if s.low else ''})"
                f" << {s.shift - least}"
                for s in mine
            ]
            here = f.hold(f"{least} + ({k} - {run.first}) * {run.bits}" if run.bits else str(least))
            place = f"out[n * {self.words} + {word}]"
            f.line(
                f"{place} = {place} & ~({mask} << {here}) | "
                f"({' | '.join(f'({p})' for p in parts)}) << {here}"
            )

    def _known(self, spans: tuple[Span, ...]) -> list[Entries]:
        """The maps in these cells whose written entries are noted."""
        return [of for of in self.program.entries.values() if meets((of.begin, of.end), spans)]

    def put_back(self, f: Writer, spans: tuple[Span, ...]) -> None:
        """These cells are as before the step."""
        known = self._known(spans)
        for of in known:
            with written(f, of) as (_, at):
                f.move(at, f"{at} + {self.original}", of.stride)
        for begin, end in without(spans, [(of.begin, of.end) for of in known]):
            f.move(str(begin), str(self.original + begin), end - begin)
        if known:
            f.line(f"w[{self.program.written}] = 0")
        f.line(f"w[{self.program.out}] = 0")


@contextmanager
def written(f: Writer, of: Entries) -> Generator[tuple[str, str]]:
    """A loop over the entries of a map that the step wrote: their numbers and first cells."""
    left = f.hold(f"w[{f.program.written}] >> {of.bit} & {(1 << of.count) - 1}")
    with f.block(f"while {left} != 0:"):
        k = f.hold(f"popcount(({left} & -{left}) - 1)")
        f.line(f"{left} = {left} & ({left} - 1)")
        yield k, f.hold(f"{of.begin} + {k} * {of.stride}")
