"""Generated code between the packed words of a state and its cells in `w`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from ..codegen.text import Program, Writer, plus
from ..layout.entries import Entries
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
        """The cells of the state; those that are always 0 are so before and after each step."""
        for word in range(self.words):
            f.line(f"p{word} = store[at + {word}]")
            f.line(f"w[{self.packed + word}] = p{word}")
        for s in self.slots:
            if not s.bits:
                if s.low:
                    f.line(f"w[{s.cell}] = {s.low}")
                continue
            text = f"(p{s.word} >> {s.shift} & {(1 << s.bits) - 1})"
            f.line(f"w[{s.cell}] = {text}{f' + {s.low}' if s.low else ''}")

    def pack(self, f: Writer, spans: tuple[Span, ...]) -> None:
        """The words of the state in `w`, changed in these cells, written to `out`; entries that
        were written are put back."""
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
                self._pack_entry(f, of, k, at)
                f.move(at, f"{at} + {self.original}", of.stride)
        if known:
            f.line(f"w[{self.program.written}] = 0")

    def _pack_entry(self, f: Writer, of: Entries, k: str, at: str) -> None:
        """One entry of a map, the k-th, put into the words in `out`."""
        up = f"{k} * {of.words}"
        right = "0"
        if of.in_word >= of.count:
            up, right = "0", f.hold(f"{k} * {of.bits}")
        elif of.in_word > 1:  # Divided by how many are in a word: there are few.
            up = f.hold(f"{k} * {(1 << 16) // of.in_word + 1} >> 16")
            right = f.hold(f"({k} - {up} * {of.in_word}) * {of.bits}")
        for word in sorted({s.word for s in of.slots if s.bits}):
            mine = [s for s in of.slots if s.bits and s.word == word]
            mask = sum((1 << s.bits) - 1 << s.shift for s in mine)
            parts = [
                f"(w[{plus(at, s.cell - of.begin)}]{f' - {s.low}' if s.low else ''}) << {s.shift}"
                for s in mine
            ]
            made = " | ".join(f"({p})" for p in parts)
            place = f.hold(f"n * {self.words} + {word} + {up}")
            f.line(f"out[{place}] = out[{place}] & ~({mask} << {right}) | ({made}) << {right}")

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
