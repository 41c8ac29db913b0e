"""A traffic light with a button for pedestrians."""

from enum import Enum

from lawful import Machine, Scope, State, Timer, invariant, transition


class Colour(State):
    RED = "red"
    GREEN = "green"
    YELLOW = "yellow"


class Walk(Enum):
    STOP = "stop"
    GO = "go"


SECONDS = {Colour.RED: 20.0, Colour.GREEN: 30.0, Colour.YELLOW: 3.0}
NEXT = {Colour.RED: Colour.GREEN, Colour.GREEN: Colour.YELLOW, Colour.YELLOW: Colour.RED}


class Light(Machine):
    state: Colour = Colour.RED
    walk: Walk = Walk.STOP
    requested: bool = False
    phase: Timer = Timer()

    @transition
    def switch_on(self) -> None:
        self._start_phase()

    @transition(timer="phase", target=list(Colour))
    def change(self) -> Colour:
        self.state = NEXT[self.state]
        self.walk = Walk.GO if self.state is Colour.RED and self.requested else Walk.STOP
        if self.walk is Walk.GO:
            self.requested = False
        self._start_phase()
        return self.state

    @transition
    def press(self) -> None:
        if not self.requested:
            self.requested = True

    def _start_phase(self) -> None:
        self.phase.start(SECONDS[self.state])

    @invariant
    def walk_only_at_red(self) -> bool:
        return not (self.walk is Walk.GO and self.state is not Colour.RED)

    scope = Scope()
