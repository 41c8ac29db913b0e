"""`LockedLawfulMachine`, a replacement for `transitions.extensions.LockedMachine`: a declaration
decides, inside the contexts of the machine and the model."""

from __future__ import annotations

from . import upstream
from .decided import Event, Transition
from .drop_in import LawfulMachine


class LockedEvent(Event, upstream.LockedEvent):
    """A trigger that enters the contexts of its machine and model."""


class LockedLawfulMachine(LawfulMachine, upstream.LockedMachine):
    """Replaces `LockedMachine`, as `LawfulMachine` replaces `Machine`."""

    event_cls = LockedEvent
    decided_by = (Transition, LockedEvent)
    beside = frozenset({"LockedMachine"})
