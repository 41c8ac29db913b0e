"""`Machine`, the base class of declarations; its instances run.

The compiler and the modules for instances are imported when the first instance is made, or when
`lawful` of a class is read, so that the import of a declaration stays fast.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload

from lawful.spec.syntax.declare import Body, declared

from .kernel.state import Mark, State, Untold

if TYPE_CHECKING:
    from .elements import Universe
    from .instances.access import Access, InstanceAccess
    from .timers import Clock

M = TypeVar("M", bound="Machine")


class Door:
    """`Class.lawful` and `entry.lawful`; `made`: what makes them, once it is loaded."""

    def __init__(self) -> None:
        self.made: tuple[type[Access[Any]], type[InstanceAccess[Any]]] | None = None

    @overload
    def __get__(self, instance: None, owner: type[M]) -> Access[M]: ...
    @overload
    def __get__(self, instance: M, owner: type[M]) -> InstanceAccess[M]: ...
    def __get__(self, instance: M | None, owner: type[M]) -> Access[M] | InstanceAccess[M]:
        if self.made is None:
            from .instances import access  # Once: this takes as long as some events.

            self.made = access.Access, access.InstanceAccess
        of_class, of_instance = self.made
        return of_class(owner) if instance is None else of_instance(instance)


class Machine(State):
    """Base of every declaration; see the language page.

    An instance is made with the machine's parameters by keyword. `universe` maps sorts to their
    elements (needed where the machine iterates a sort), `clock` tells the time (by default the
    operating system's monotonic clock). From outside it is read-only: it changes by its events.
    Errors: TypeError for unknown or missing parameters and for values of another type,
    ValueError for values out of bounds and where an `@assume` is false.
    """

    __slots__ = ()
    lawful: ClassVar[Door] = Door()

    def __init_subclass__(cls, abstract: bool = False) -> None:
        super().__init_subclass__(abstract)
        # Never an ancestor's: `lifecycle.begin` puts one there that fits one class alone.
        cls.__init__ = Machine.__init__  # type: ignore[method-assign]  # the same function

    def __init__(
        self, *, universe: Universe | None = None, clock: Clock | None = None, **parameters: Any
    ) -> None:
        cls = type(self)
        new = "__plan__" not in vars(cls) and not declared(cls).abstract
        if new and universe is None and _in_class_statement(self):
            # A part in a class statement is only a mark: each instance of the whole makes its own
            # part. The part's class is compiled then, or when somebody prints the mark.
            self.__watch__ = Mark(clock, parameters)
            return
        from .instances import lifecycle

        try:
            lifecycle.begin(self, universe, clock, parameters, Machine.__init__)
        except Untold:
            if universe is not None or not _in_class_statement(self):
                raise

    def __eq__(self, other: object) -> bool:
        """Same machine, parameters and variables; of timers, whether they are armed.

        The ticks of a `Clock` are not compared: they go on by themselves.
        """
        from .instances import lifecycle

        if type(other) is not type(self):
            return NotImplemented
        return lifecycle.compared(self) == lifecycle.compared(other)

    if not TYPE_CHECKING:  # The class of an instance cannot be assigned.
        __class__ = property(type)

    __hash__ = None  # type: ignore[assignment]  # it changes, so it is no key

    def __repr__(self) -> str:
        from .instances import lifecycle

        return lifecycle.text_of(self)

    def _repr_html_(self) -> str:
        """The variables as a table, which notebooks show."""
        from .instances import lifecycle

        return lifecycle.html_of(self)

    def __copy__(self) -> Self:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Another instance on the same clock, without observers."""
        from .instances import lifecycle

        return lifecycle.copied(self)

    def __reduce__(self) -> tuple[Callable[..., State], tuple[Any, ...]]:
        """Pickle the class and the values; the copy is on the real clock, without observers."""
        from .instances import lifecycle

        return lifecycle.unpickled, lifecycle.pickled(self)


def _in_class_statement(machine: Machine) -> bool:
    """Whether the caller that makes this instance is the class statement of a declaration."""
    frame = inspect.currentframe()
    frame = None if frame is None else frame.f_back
    while frame is not None and frame.f_locals.get("self") is machine:
        frame = frame.f_back
    return frame is not None and isinstance(frame.f_locals, Body)
