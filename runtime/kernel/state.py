"""An instance from inside, and what stands before one that takes no events from outside.

What a class statement and `import lawful` need of the runtime is here; all else is imported when
the first instance is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

if TYPE_CHECKING:
    from lawful.runtime.instance import Machine
    from lawful.runtime.timers import Around, Clock

    from .plan import Plan


class Watch(Protocol):
    """What stands between a call of an event from outside and the machine."""

    def call(self, machine: Machine, way: str, args: tuple[Any, ...]) -> Any:
        """Run the event, or raise what says why it cannot run."""
        ...


class State:
    """An instance from inside; the class of each machine has a slot for each of its fields, whose
    name is the field's after an underscore (see `spec.declare.slot`).

    `__watch__`: None, or what an event goes through. An instance has nothing else of its own:
    what is rare is in its `Around`, or in `ODD`.
    """

    __slots__ = ("__around__", "__watch__", "__weakref__")
    __plan__: ClassVar[Plan]
    __watch__: Watch | None
    __around__: Around


# The instances, by their identity, into whose containers something out of its bounds was written
# in this step: these are judged whole when it ends. One too many costs time and nothing else.
ODD = set[int]()


class Untold(RuntimeError):
    """The instance was not told which elements a sort has."""


class Closed:
    """What stands before a machine that takes no events from outside now."""

    def __init__(self, why: str) -> None:
        self.why = why

    def call(self, machine: Machine, way: str, args: tuple[Any, ...]) -> NoReturn:
        """Raise RuntimeError, saying why."""
        starts = type(machine).lawful.plan.starts
        raise RuntimeError(f"{type(machine).__name__}.{way}: {self.why.format(', '.join(starts))}")


PART = Closed("a part changes by the transitions of its whole only")
UNSTARTED = Closed("one of {} has to be called first")


class Mark(Closed):
    """What stands before a part that a class statement declares: no instance of its own."""

    def __init__(self, clock: Clock | None, parameters: dict[str, Any]) -> None:
        super().__init__("it is a part that a class declares, and no instance")
        self.clock = clock
        self.parameters = parameters
