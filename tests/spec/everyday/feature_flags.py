from typing import Annotated

from annotated_types import Interval

from lawful import Machine, Scope, Sort, State, invariant, require, transition

Percent = Annotated[int, Interval(ge=0, le=100)]
STEPS = [0, 10, 50, 100]


class Flag(Sort): ...


class Rollout(State):
    OFF = "off"
    ROLLING = "rolling"
    ON = "on"
    KILLED = "killed"


class FeatureFlags(Machine):
    state: Rollout = Rollout.OFF
    percent: Percent = 0
    overrides: dict[Flag, bool] = {}
    requires: dict[Flag, set[Flag]] = {}

    @property
    def step(self) -> int:
        return STEPS.index(self.percent)

    def enabled(self, flag: Flag, *, default: bool = False) -> bool:
        value = self.overrides.get(flag)
        if value is None:
            return default
        return value and all(self.overrides.get(f, default) for f in self.requires.get(flag, set()))

    @transition(source=[Rollout.OFF, Rollout.ROLLING])
    def advance(self) -> Percent:
        for upper in STEPS:
            if upper > self.percent:
                self.percent = upper
                break
        self.state = Rollout.ON if self.percent == STEPS[-1] else Rollout.ROLLING
        return self.percent

    @transition(source=[Rollout.ROLLING, Rollout.ON])
    def back_off(self) -> None:
        lower = [s for s in STEPS if s < self.percent]
        *_, self.percent = lower
        if self.percent == 0:
            self.state = Rollout.OFF
        else:
            self.state = Rollout.ROLLING

    @transition(source=[Rollout.ROLLING, Rollout.ON], target=Rollout.KILLED)
    def kill(self) -> None:
        self.percent = 0
        self.overrides = {flag: False for flag in self.overrides}

    @transition(source=Rollout.KILLED, target=Rollout.OFF)
    def reset(self) -> None: ...

    @transition
    def override(self, flag: Flag, on: bool | None) -> None:
        if on is None:
            self.overrides.pop(flag, None)
        else:
            self.overrides[flag] = on

    @transition
    def depend(self, flag: Flag, on: Flag) -> None:
        require(flag != on and flag not in self.requires.get(on, ()), "a cycle")
        self.requires.setdefault(flag, set()).add(on)

    @invariant
    def percent_is_a_step(self) -> bool:
        return self.percent in STEPS and 0 <= self.step < len(STEPS)

    @invariant
    def no_cycles(self) -> bool:
        return not any(
            a in self.requires.get(b, set()) for a, bs in self.requires.items() for b in bs
        )

    scope = Scope(Flag=2)
