"""Peterson's mutual exclusion for two processes.

Source: tlaplus/Examples, specifications/locks_auxiliary_vars/Peterson.tla, the translation of the
algorithm there, label by label; its `Inv` is the conjunction of the invariants here. Processes are
1 and 2 as in `process(proc in 1..2)`, since the algorithm starts with `turn = 1`.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import Machine, State, implies, invariant, reachable, require, total, transition

COUNTS = (42, 77, 11)

Process = Annotated[int, Interval(ge=1, le=2)]


class Label(State):
    """Where a process stands; `CS` is the critical section."""

    A0 = "a0"
    A1 = "a1"
    A2 = "a2"
    A3 = "a3"
    CS = "cs"
    A4 = "a4"


class Peterson(Machine):
    """Say that you want to enter, let the other go first, wait."""

    pc: dict[Process, Label] = total(Label.A0)
    wants: dict[Process, bool] = total(False)
    turn: Process = 1

    @transition(source=Label.A0, target=Label.A1, of="pc[p]")
    def start(self, p: Process) -> None: ...

    @transition(source=Label.A1, target=Label.A2, of="pc[p]")
    def want(self, p: Process) -> None:
        self.wants[p] = True

    @transition(source=Label.A2, target=Label.A3, of="pc[p]")
    def give_way(self, p: Process) -> None:
        self.turn = 3 - p

    @transition(source=Label.A3, target=Label.CS, of="pc[p]")
    def enter(self, p: Process) -> None:
        require(not self.wants[3 - p] or self.turn == p, "the other may go first")

    @transition(source=Label.CS, target=Label.A4, of="pc[p]")
    def leave(self, p: Process) -> None: ...

    @transition(source=Label.A4, target=Label.A0, of="pc[p]")
    def give_up(self, p: Process) -> None:
        self.wants[p] = False

    def inside(self, p: Process) -> bool:
        return self.pc[p] in (Label.CS, Label.A4)

    @invariant
    def mutual_exclusion(self) -> bool:
        return not (self.inside(1) and self.inside(2))

    @invariant
    def flag_tells_where(self, p: Process) -> bool:
        return self.wants[p] == (self.pc[p] not in (Label.A0, Label.A1))

    @invariant
    def inside_by_turn_or_alone(self, p: Process) -> bool:
        alone = self.pc[3 - p] in (Label.A0, Label.A1, Label.A2)
        return implies(self.inside(p), self.turn == p or alone)

    @reachable
    def enters(self, p: Process) -> bool:
        return self.pc[p] == Label.CS

    @reachable
    def both_want(self) -> bool:
        return self.pc[1] == Label.A3 and self.pc[2] == Label.A3
