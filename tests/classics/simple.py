"""Who is last reads a one: the example of "Teaching concurrency".

Source: L. Lamport, "Teaching concurrency", SIGACT News 40(1), 2009; as in tlaplus/Examples,
specifications/TeachingConcurrency/Simple.tla, whose manifest has the figures for five processes.
Like the translation there, `rest` is a step that changes nothing once all are done.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import Machine, State, implies, invariant, reachable, require, total, transition

COUNTS = (723, 1842, 11)

Process = Annotated[int, Interval(ge=0, le=4)]
Bit = Annotated[int, Interval(ge=0, le=1)]


class Label(State):
    """Where a process stands."""

    A = "a"
    B = "b"
    DONE = "done"


class Simple(Machine):
    """Each process writes its own x, then copies the x of the one before it to its y."""

    pc: dict[Process, Label] = total(Label.A)
    x: dict[Process, Bit] = total(0)
    y: dict[Process, Bit] = total(0)

    @transition(source=Label.A, target=Label.B, of="pc[p]")
    def write(self, p: Process) -> None:
        self.x[p] = 1

    @transition(source=Label.B, target=Label.DONE, of="pc[p]")
    def read(self, p: Process) -> None:
        self.y[p] = self.x[(p - 1) % 5]

    @transition()
    def rest(self) -> None:
        require(self.all_done(), "somebody works")

    def all_done(self) -> bool:
        return all(label == Label.DONE for label in self.pc.values())

    @invariant
    def somebody_read_a_one(self) -> bool:
        """PCorrect."""
        return implies(self.all_done(), any(self.y[i] == 1 for i in range(5)))

    @invariant
    def has_written(self, p: Process) -> bool:
        """Inv, its second conjunct."""
        return implies(self.pc[p] in (Label.B, Label.DONE), self.x[p] == 1)

    @reachable
    def all_but_one_read_a_zero(self) -> bool:
        return self.all_done() and sum(self.y.values()) == 1
