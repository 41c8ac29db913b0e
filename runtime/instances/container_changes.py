"""What an event changed, as JSON: of a large container the entries that differ, else the value.

    change := {"$changed": {"added": [item], "removed": [item]}}                of a set
            | {"$changed": {"set": [[key, value or change]], "removed": [key]}} of a map, of a bag
            | {"$changed": {"at": place, "removed": number, "added": [item]}}   of a list

In a bag the value of an item is how often it is there. A map of containers has a change for each
of them that differs, where it had that key. In a map of parts, those that differ are told whole,
unless all do. A container of at most `LEAST` entries that have no
containers in them is told whole, and so is one of which more has changed than is left.

`merging` makes the state after an event from the JSON of the state before it, whatever the types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from lawful.spec import types as t
from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json

from ..json_text import Form, Texter, head_of, text_of, texter
from ..kernel.before_images import BeforeImage, Recorded
from ..kernel.dispatch import UNSET
from ..kernel.event_record import Stepped
from ..kernel.plan import Plan
from .change_forms import CHANGED, Exact, Told, told_as
from .touched_entries import Both, Touched, touched_by


class Teller:
    """Tells what events of one machine changed; `forms` gives for a type the function that makes
    the JSON form of its values. `exact`: of which types a value is told, too, that is equal and has
    another text. One serves all instances of a machine."""

    __slots__ = ("exact", "forms", "heads", "known", "plan", "touches")

    def __init__(
        self, plan: Plan, forms: Callable[[t.Type], Form], exact: Exact = lambda kind: False
    ) -> None:
        self.plan = plan
        self.forms = forms
        self.exact = exact
        self.known: dict[str, Told] = {}
        self.heads: dict[str, str] = {}
        self.touches: dict[str | None, Mapping[str, Touched]] = {}

    def changes(self, done: Stepped) -> dict[str, Json]:
        """What an event changed, by the names of variables."""
        out: dict[str, Json] = {}
        moved, parts = done.moved, done.parts
        for name in self.plan.variables if parts else moved:
            told = self.known.get(name) or self._known(name)
            if name in parts:
                out[name] = told.parts(parts[name])
            if name not in moved:
                continue
            data = self._change(told, name, done, *moved[name])
            if data is not UNSET:
                out[name] = data
        return out

    def text(self, done: Stepped) -> str:
        """The same as text."""
        if self.plan.families:
            return text_of(self.changes(done))
        of = done.record
        if len(of) == 13 and of[12] is not None and len(of[12]) == 4 and of[10] is of[11]:
            return self._one_place(of[9][0], of[12], of[11])
        members: list[str] = []
        for name, old, new, place in done.rows:
            told = self.known.get(name) or self._known(name)
            text: str | None = None
            if told.__class__ is Told:
                text = told.text(new) if told.differs_from(old, new) else ""
            elif place is not None:
                text = told.placed(place, new)
            else:
                data = self._change(told, name, done, old, new)
                text = "" if data is UNSET else text_of(data)
            if text is None:
                text = told.text(new)
            if text:
                members.append(self.heads[name] + text)
        return "{" + ",".join(members) + "}"

    def _one_place(self, name: str, place: Recorded, new: Any) -> str:
        """The same of an event that may write one variable alone, and did nothing but change one
        place of the container in it: most events of containers are such."""
        told = self.known.get(name) or self._known(name)
        text = told.placed(place, new)
        if text is None:
            text = told.text(new)
        return f"{{{self.heads[name]}{text}}}" if text else "{}"

    def is_plain(self, name: str) -> bool:
        """Whether the new value of a variable is always told whole, and nothing else."""
        told = self.known.get(name) or self._known(name)
        return told.__class__ is Told

    def is_exact(self, name: str) -> bool:
        """Whether equal values of a variable may have different texts, which are told."""
        told = self.known.get(name) or self._known(name)
        return told.exact

    def texter(self, kind: t.Type) -> Texter:
        """The function that makes the text of values of this type."""
        return texter(kind, self.forms(kind))

    def _known(self, name: str) -> Told:
        kind = self.plan.fields[name]
        self.heads[name] = head_of(name)  # First: an interrupt may come between both.
        told = self.known[name] = told_as(kind, self.forms, self.exact)
        return told

    def _change(self, told: Told, name: str, done: Stepped, old: Any, new: Any) -> Any:
        """What to tell of a variable; UNSET where there is nothing."""
        known = old is not UNSET and not isinstance(old, BeforeImage)
        if known and told.least is not None and len(new) > told.least:
            touched = self.touched(done.transition).get(name)
            if touched is not None:
                data = told.touched(Both(old, new, touched, done.given, done.instance))
                if data is not None:
                    return data
        return told.news(old, new)

    def touched(self, transition: str | None) -> Mapping[str, Touched]:
        """What a transition does to containers."""
        known = self.touches.get(transition)
        if known is None:
            known = self.touches[transition] = touched_by(self.plan, transition)
        return known


def is_change(data: Json) -> TypeGuard[dict[str, Any]]:
    """Whether this is a change, not a value."""
    return is_object(data) and CHANGED in data
