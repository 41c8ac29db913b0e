"""The lines of one function in LLVM's assembly language: its blocks, and where its locals are.

LLVM makes registers of places on the stack, but to read and write these takes most of a text, and
so most of the time to compile it. A local whose value is known where it is read needs no place. It
is known from where it is assigned up to where ways come together on which it has several values.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple


class Operand(NamedTuple):
    """A number, or a truth value of one bit."""

    text: str
    bit: bool = False


class Stored(NamedTuple):
    """Lines that write a local to its place, if it has one."""

    name: str
    text: str


Known = dict[str, Operand]  # Values of locals at some point.


def common(ways: Sequence[Known]) -> Known:
    """What is known where these ways come together: what is the same on all of them."""
    first, *others = ways
    if not others:
        return first
    return {n: v for n, v in first.items() if all(other.get(n) == v for other in others)}


class Lines:
    """Lines as they are written, one block after another."""

    def __init__(self) -> None:
        self.lines: list[str | Stored] = []
        self.count = 0
        self.open = True  # Whether control comes to the end of what is written.
        self.loops: list[tuple[str, str]] = []  # Where `continue` and `break` go.
        self.known: Known = {}
        self.read: dict[str, None] = {}  # Locals that are read where their value is not known.

    def placed(self) -> Iterator[str]:
        """All lines, before them the places of the locals that need one; these are 0 at first."""
        for name in self.read:
            yield f"  %v.{name} = alloca i64\n  store i64 0, ptr %v.{name}"
        for line in self.lines:
            if isinstance(line, str):
                yield line
            elif line.name in self.read:
                yield line.text

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def hold(self, text: str, bit: bool = False) -> Operand:
        self.count += 1
        name = f"%t.{self.count}"
        self.lines.append(f"  {name} = {text}")
        return Operand(name, bit)

    def whole(self, value: Operand) -> Operand:
        """A number, of a truth value 0 or 1."""
        return self.hold(f"zext i1 {value.text} to i64") if value.bit else value

    # Blocks.

    def label(self) -> str:
        self.count += 1
        return f"b{self.count}"

    def end(self, text: str) -> None:
        if self.open:
            self.line(text)
        self.open = False

    def begin(self, label: str, known: Known | None = None) -> None:
        """A block begins, to which control may have come from the line before; where values are
        given, they alone are known there."""
        self.end(f"br label %{label}")
        self.lines.append(f"{label}:")
        self.open = True
        if known is not None:
            self.known = dict(known)

    def branch(self, test: Operand, yes: str, no: str) -> None:
        self.end(f"br i1 {test.text}, label %{yes}, label %{no}")

    @contextmanager
    def loop(self, again: str, after: str) -> Generator[None]:
        self.loops.append((again, after))
        yield
        self.loops.pop()

    # Locals.

    def store(self, name: str, value: Operand) -> None:
        self.known[name] = value
        if not value.bit:
            self.lines.append(Stored(name, f"  store i64 {value.text}, ptr %v.{name}"))
            return
        self.count += 1
        number = f"%t.{self.count}"
        whole = f"  {number} = zext i1 {value.text} to i64"
        self.lines.append(Stored(name, f"{whole}\n  store i64 {number}, ptr %v.{name}"))

    def load(self, name: str) -> Operand:
        found = self.known.get(name)
        if found is None:
            self.read.setdefault(name)
            found = self.known[name] = self.hold(f"load i64, ptr %v.{name}")
        return found

    def unchanged(self, names: Collection[str]) -> Known:
        """What is known in each round of a loop that assigns these locals."""
        return {name: value for name, value in self.known.items() if name not in names}
