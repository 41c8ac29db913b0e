"""The text of a generated function, and the values of its expressions.

Generated functions share one array of 64-bit cells, `w`: the state, then the cells that each
function needs for itself. A function returns a status: 0 done, or the reason why the step stops. If
a function has no room for a value, it returns ESCAPE, and the reference engine decides that step.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from lawful.spec.quick_dataclass import dataclass, field

from ..layout.codec import Codec
from ..layout.entries import Entries, entries
from ..layout.layouts import Layout, MachineLayout, NotGenerated, one_cell, width
from ..layout.packing import slots
from .prelude import ESCAPE

DONE, REFUSED, UNDEFINED, ASSERTS, BOUNDS, AMBIGUOUS = range(6)
STATUS = ("done", "refused", "undefined", "asserts", "bounds", "ambiguous", "escape")
BROKEN = 1  # In the cell `out`: the output breaks the bounds of its type.
LONG = 1 << 10  # Loops inside each other of so many rounds in all count them.
AT_ONCE = 1 << 12  # A loop of more rounds counts each of them; others count all when they begin.
SELDOM = "seldom called"  # The docstring of a function that is not to be inlined.
LEAST, GREATEST = -(2**63), 2**63 - 1  # That a cell holds.
MOST_CELLS = 200_000  # Of the shared array: more is no machine to be packed.


@dataclass(frozen=True, slots=True)
class Value:
    """A value: the name or literal of its one cell, or where its cells begin, or all its cells.

    `cells` are names or literals; of such a value `Writer.placed` says where it is put.
    """

    layout: Layout
    text: str
    cells: tuple[str, ...] = ()

    @property
    def single(self) -> bool:
        """Whether the text is the value itself."""
        return one_cell(self.layout)


@dataclass(frozen=True, slots=True)
class Target:
    """The destination of a value: its layout there, None if any will do."""

    layout: Layout | None = None


ANYWHERE = Target()


@dataclass
class Program:
    """The generated module: its functions, and the cells that they use."""

    codec: Codec
    cells: int
    ask: Callable[[], None]  # Raises an exception where there is no time for one more function.
    out: int = 0  # The cell that tells whether the output breaks the bounds of its type.
    texts: list[str] = field(default_factory=list[str])
    names: dict[object, str] = field(default_factory=dict[object, str])
    making: set[object] = field(default_factory=set[object])
    # Where guards are counted: by the identity of each guard the cell that says how often it was
    # true, with the one that says how often it refused behind it; and the cell that is 1, or 0
    # while nothing is counted.
    guards: dict[int, int] = field(default_factory=dict[int, int])
    counting: int = 0
    # Cells that hold numbers from the beginning, by the place of their first.
    tables: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    rounds: int = field(init=False)  # The cell of the rounds that are left; see `prelude.spent`.
    written: int = field(init=False)  # The cell of the entries that a step writes.
    entries: dict[str, Entries] = field(init=False)

    def __post_init__(self) -> None:
        self.rounds = self.frame(1)
        self.written = self.frame(1)
        whole = self.codec.machine(self.codec.flat.machine.name)
        self.entries = entries(whole, slots(whole))

    def frame(self, count: int) -> int:
        """Cells of a function's own."""
        at = self.cells
        self.cells += count
        if self.cells > MOST_CELLS:
            raise NotGenerated(f"a step that needs more than {MOST_CELLS:,} cells")
        return at

    def add(self, lines: Sequence[str]) -> None:
        """Add a function of these lines, if there is time for one."""
        self.ask()
        self.texts.append("\n".join(lines))

    @property
    def begun(self) -> list[int]:
        """All cells before the first step."""
        made = [0] * self.cells
        for at, row in self.tables.items():
            made[at : at + len(row)] = row
        return made

    def name(self, wanted: str) -> str:
        """A name for a function that no other has."""
        return f"{wanted}_{len(self.names)}"

    def seldom(self, key: object, params: str, lines: Sequence[str]) -> str:
        """The name of a function of these lines, which is seldom called and never inlined."""
        if key not in self.names:
            name = self.names[key] = self.name("rows")
            rows = (f"def {name}({params}):", repr(SELDOM), *lines)
            self.texts.append("\n    ".join(rows))
        return self.names[key]

    @property
    def source(self) -> str:
        """The module's text."""
        return "\n\n\n".join(self.texts) + "\n"


@dataclass
class Writer:
    """One function while it is generated: its lines and its names."""

    program: Program
    lines: list[str] = field(default_factory=list[str])
    depth: int = 1
    count: int = 0
    failed: int = UNDEFINED  # The status of an operation without a value.
    stopped: str = ""  # What is done instead where the function gives no status.
    refusing: str = ""  # What is done before the step is refused.
    nest: int = 1  # At most so many rounds do the loops around this line have, one inside another;
    longest: int = 1  # and the most that any line so far has.

    def line(self, text: str) -> None:
        """Add one line."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, header: str) -> Generator[None]:
        """The lines inside a compound statement; one without lines passes."""
        self.line(header)
        before = len(self.lines)
        self.depth += 1
        try:
            yield
        finally:
            if len(self.lines) == before:
                self.line("pass")
            self.depth -= 1

    @contextmanager
    def loop(self, header: str, rounds: int | None) -> Generator[None]:
        """A loop of at most so many rounds, None where nobody knows; a long one is metered."""
        around = self.nest
        self.nest *= LONG if rounds is None else max(1, rounds)
        self.longest = max(self.longest, self.nest)
        if rounds is not None and rounds <= AT_ONCE and self.nest >= LONG:
            self.metered(rounds)
        try:
            with self.block(header):
                if rounds is None or rounds > AT_ONCE:
                    self.metered()
                yield
        finally:
            self.nest = around

    def temporary(self) -> str:
        """A fresh name."""
        self.count += 1
        return f"t{self.count}"

    def hold(self, text: str) -> str:
        """The value of an expression, evaluated now, by name."""
        if text.isidentifier() or text.lstrip("-").isdigit():
            return text
        name = self.temporary()
        self.line(f"{name} = {text}")
        return name

    def stop_if(self, test: str, status: int) -> None:
        """The step stops there, where the test is true."""
        self.line(f"if {test}: {self.stop(status)}")

    def stop(self, status: int | str) -> str:
        """Stop the step with a status."""
        return self.stopped or f"{self.refusing if status == REFUSED else ''}return {status}"

    @contextmanager
    def guard(self, node: object) -> Generator[None]:
        """The lines that refuse where this guard is false; counted where guards are."""
        at, around = self.program.guards.get(id(node)), self.refusing
        if at is not None:
            self.refusing = f"w[{at + 1}] += w[{self.program.counting}]; "
        try:
            yield
        finally:
            self.refusing = around

    def was_true(self, node: object) -> None:
        """This guard was true; counted where guards are."""
        at = self.program.guards.get(id(node))
        if at is not None:
            self.line(f"w[{at}] += w[{self.program.counting}]")

    @contextmanager
    def uncounted(self) -> Generator[None]:
        """Guards that the lines inside call are not counted: whether a step is possible refuses
        nothing."""
        if not self.program.guards:
            yield
            return
        cell = f"w[{self.program.counting}]"
        before = self.hold(f"{cell} + 0")
        self.line(f"{cell} = 0")
        yield
        self.line(f"{cell} = {before}")

    def fail_if(self, test: str) -> None:
        """If the test is true, an operation has no value."""
        self.stop_if(test, self.failed)

    def escape_if(self, test: str) -> None:
        """If the test is true, the reference engine decides."""
        self.stop_if(test, ESCAPE)

    def metered(self, rounds: int = 1) -> None:
        """Count rounds of a loop that may be long; if none is left, the step is given up."""
        self.escape_if(f"spent(w, {self.program.rounds}, {rounds})")

    def calls(self, rounds: int) -> None:
        """A call of a function that may have so many rounds comes next."""
        inside = self.nest * rounds
        self.longest = max(self.longest, inside)
        if self.nest > 1 and 1 < rounds < LONG <= inside:  # A longer one counts its own.
            self.metered(rounds)

    def passing(self, status: str) -> None:
        """Return the status of a called function unless it is done."""
        name = self.hold(status)
        self.line(f"if {name} != 0: {self.stop(name)}")

    # Cells.

    def region(self, layout: Layout) -> str:
        """Cells for a value of a layout."""
        return str(self.program.frame(width(layout)))

    def load(self, layout: Layout, at: str) -> Value:
        """The value at a place: read now where it is one cell, otherwise the place itself."""
        value = Value(layout, at)
        return Value(layout, self.hold(f"w[{at}]")) if value.single else value

    def store(self, at: str, value: Value) -> None:
        """The value's cells put at a place, whose layout has the same cells."""
        if value.single:
            self.line(f"w[{at}] = {value.text}")
        elif value.cells:
            for i, cell in enumerate(value.cells):
                self.line(f"w[{plus(at, i)}] = {cell}")
        elif width(value.layout):
            self.move(at, value.text, width(value.layout))

    def move(self, to: str, of: str, count: int) -> None:
        """Cells copied."""
        if count <= 4:
            for i in range(count):
                self.line(f"w[{plus(to, i)}] = w[{plus(of, i)}]")
        else:
            self.line(f"copy(w, {to}, {of}, {count})")

    def blank(self, at: str, count: int) -> None:
        """Cells made blank."""
        if count <= 4:
            for i in range(count):
                self.line(f"w[{plus(at, i)}] = 0")
        else:
            self.line(f"clear(w, {at}, {count})")

    def cell(self, value: Value, number: int) -> str:
        """The text of one of a value's cells."""
        if value.cells:
            return value.cells[number]
        return value.text if value.single else f"w[{plus(value.text, number)}]"

    def known(self, value: Value) -> tuple[str, ...]:
        """All cells of a value by name, where they are known; nothing where they are in `w`."""
        return (value.text,) if value.single else value.cells

    def passed(self, value: Value) -> Value:
        """The value as functions take it: its one cell, or where its cells are."""
        return Value(value.layout, self.placed(value)) if value.cells else value

    def own(self, value: Value) -> Value:
        """The value in cells of its own, so that changes of its origin do not change it."""
        known = value.single or value.cells or width(value.layout) == 0
        if known or isinstance(value.layout, MachineLayout):
            return value
        at = self.region(value.layout)
        self.store(at, value)
        return Value(value.layout, at)

    def placed(self, value: Value) -> str:
        """The cells of the value; a value in one cell is put into cells of its own."""
        if not value.single and not value.cells:
            return value.text
        at = self.region(value.layout)
        self.store(at, value)
        return at


def plus(at: str, more: int | str) -> str:
    """The text of a place further on."""
    if str(more) == "0":
        return at
    if at.lstrip("-").isdigit() and str(more).lstrip("-").isdigit():
        return str(int(at) + int(more))
    return f"{at} + {more}"
