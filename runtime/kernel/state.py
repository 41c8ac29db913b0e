"""An instance from inside, and what refuses its events where it takes none from outside.

A class statement and `import lawful` load this module of the runtime and `timers`; all else is
loaded when the first instance is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

from lawful.spec.syntax.declare import Declaration

if TYPE_CHECKING:
    from ..timers import Clock, Environment
    from .plan import Plan


class Watch(Protocol):
    """Handles each call of an event from outside: for observers, a journal, a store, assertions."""

    def call(self, machine: State, way: str, args: tuple[Any, ...]) -> Any:
        """Run the event, or raise an exception that says why it cannot run."""
        ...


class State(Declaration):
    """An instance from inside; `instance.Machine` is the same with what users call.

    The class of each machine has a slot for each of its fields, whose name is the field's between
    underscores (see `spec.syntax.declare.slot`). Two slots are the runtime's: `__watch__` is None,
    or what an event goes through; `__environment__` has the time and the universe.
    """

    __slots__ = ("__environment__", "__watch__", "__weakref__")
    __plan__: ClassVar[Plan]
    __watch__: Watch | None
    __environment__: Environment


class Untold(RuntimeError):
    """The caller did not say which elements a sort has."""


class Closed:
    """Refuses the events of an instance that takes none from outside now."""

    def __init__(self, why: str) -> None:
        self.why = why

    def call(self, machine: State, way: str, args: tuple[Any, ...]) -> NoReturn:
        """Raise RuntimeError with the reason."""
        raise RuntimeError(f"{type(machine).__name__}.{way}: {self.reason(machine)}")

    def reason(self, machine: State) -> str:
        return self.why


class Unstarted(Closed):
    """Refuses the events of an instance until one of its `@initial` methods was called."""

    def reason(self, machine: State) -> str:
        return self.why.format(" or ".join(machine.__plan__.starts))


UNKNOWN = Closed(
    "its log does not say whether it has the last event: restore the instance, and use that one"
)
PART = Closed("a part changes by the transitions of its whole only")
UNSTARTED = Unstarted("{} has to be called first")


class Mark(Closed):
    """Marks a part that a class statement declares: an object that is no instance."""

    def __init__(self, clock: Clock | None, parameters: dict[str, Any]) -> None:
        super().__init__("it is a part that a class declares, and no instance")
        self.clock = clock
        self.parameters = parameters
