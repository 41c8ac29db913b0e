"""What an event that may change parts has changed: they change where they stand, so their values
before the event are kept."""

from __future__ import annotations

import copy
from typing import Any

from lawful.spec.syntax.declare import slot

from ..kernel.dispatch import UNSET, tree
from ..kernel.event_record import Changes
from ..kernel.plan import Way
from ..kernel.state import State
from ..kernel.views import viewed


class PartsBefore:
    """The values of an instance and its parts before an event that may change them."""

    def __init__(self, state: State, way: Way) -> None:
        self.values = {name: getattr(state, slot(name), UNSET) for name in way.writes}
        self.parts = {name: _inside(state, name) for name in state.__plan__.families}

    def changed(self, state: State) -> tuple[dict[str, Any], Changes]:
        """The variables whose values differ now, in the order of the declaration; and of those that
        are no parts, the values before and now."""
        plan, out, both = state.__plan__, dict[str, Any](), dict[str, tuple[Any, Any]]()
        for name in plan.variables:
            if name in self.parts:
                if _inside(state, name) != self.parts[name]:
                    out[name] = copy.deepcopy(getattr(state, slot(name)))
            elif name in self.values:
                new, old = getattr(state, slot(name), UNSET), self.values[name]
                if new is not old and new != old:
                    out[name] = viewed(new, plan.fields[name])
                    both[name] = old, new
        return out, both


def _inside(state: State, name: str) -> list[tuple[int, list[Any]]]:
    """The identities and values of the parts that a variable holds, theirs included."""
    held = getattr(state, slot(name), None)
    parts = () if held is None else held.values() if state.__plan__.families[name] else (held,)
    return [
        (id(each), [getattr(each, n, UNSET) for n in each.__plan__.slots])
        for part in parts
        for each in tree(part)
    ]
