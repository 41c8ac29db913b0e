from typing import NamedTuple

from lawful import Machine, Nat, Scope, State, invariant, require, transition


class Light(State):
    RED = "red"
    RED_YELLOW = "red-yellow"
    GREEN = "green"
    YELLOW = "yellow"
    BLINKING = "blinking"


NEXT = {
    Light.RED: Light.RED_YELLOW,
    Light.RED_YELLOW: Light.GREEN,
    Light.GREEN: Light.YELLOW,
    Light.YELLOW: Light.RED,
}

DURATIONS = {Light.RED: 3, Light.RED_YELLOW: 1, Light.GREEN: 2, Light.YELLOW: 1}


class Lamps(NamedTuple):
    red: bool
    yellow: bool
    green: bool


class Crossing(Machine):
    state: Light = Light.RED
    other: Light = Light.RED
    elapsed: Nat = 0
    walkers: Nat = 0

    @property
    def lamps(self) -> Lamps:
        s = self.state
        return Lamps(
            red=s in {Light.RED, Light.RED_YELLOW},
            yellow=s in (Light.RED_YELLOW, Light.YELLOW),
            green=s is Light.GREEN,
        )

    def duration(self) -> int:
        return DURATIONS.get(self.state, 1)

    @transition
    def tick(self) -> None:
        require(self.state != Light.BLINKING, "out of order")
        if self.elapsed + 1 < self.duration():
            self.elapsed += 1
        else:
            require(
                self.state != Light.RED or self.other == Light.RED, "the other street has green"
            )
            self.elapsed = 0
            self.state = NEXT[self.state]
            if self.state == Light.RED:
                self.walkers = 0

    @transition
    def other_changes(self) -> None:
        require(self.state is Light.RED)
        self.other = NEXT[self.other]

    @transition
    def press_button(self) -> None:
        self.walkers = min(self.walkers + 1, 2)

    @transition(source=Light.RED, target=Light.BLINKING)
    def fail(self) -> None:
        self.other = Light.BLINKING

    @transition(source=Light.BLINKING, target=Light.RED)
    def repair(self) -> None:
        self.other, self.elapsed = Light.RED, 0

    @invariant
    def never_both_green(self) -> bool:
        going = [
            light for light in (self.state, self.other) if light in (Light.GREEN, Light.YELLOW)
        ]
        return len(going) < 2

    @invariant
    def lamps_make_sense(self) -> bool:
        red, yellow, green = self.lamps
        return not (green and (red or yellow))

    scope = Scope(Nat=range(0, 4))
