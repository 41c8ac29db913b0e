"""A thermostat with hysteresis."""

from lawful import Machine, Param, Scope, State, invariant, transition


class Heating(State):
    OFF = "off"
    ON = "on"


HYSTERESIS = 1


class Thermostat(Machine):
    state: Heating = Heating.OFF
    temperature: int = 18
    target: Param[int] = 20

    @transition(target=(Heating.OFF, Heating.ON))
    def measure(self, temperature: int) -> bool:
        self.temperature = temperature
        if temperature < self.target - HYSTERESIS:
            self._switch(Heating.ON)
        elif temperature > self.target + HYSTERESIS:
            self._switch(Heating.OFF)
        return self.is_on

    @property
    def is_on(self) -> bool:
        return self.state is Heating.ON

    def _switch(self, to: Heating) -> None:
        if self.state is not to:
            self.state = to

    @invariant
    def heats_when_cold(self) -> bool:
        cold = self.temperature < self.target - HYSTERESIS
        return self.is_on or not cold or self.temperature == 18

    scope = Scope(int=range(17, 24))


class EcoThermostat(Thermostat):
    @transition(target=Heating.OFF)
    def leave(self) -> None:
        pass

    scope = Scope(target=(19, 20))
