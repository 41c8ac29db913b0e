"""What an event changed, as JSON: of a large container the entries that differ, else the value.

    change := {"$changed": {"added": [item], "removed": [item]}}                of a set
            | {"$changed": {"set": [[key, value or change]], "removed": [key]}} of a map, of a bag
            | {"$changed": {"at": place, "removed": number, "added": [item]}}   of a list

In a bag the value of an item is how often it is there. A map of containers has a change for each
of them that differs, where it had that key. Of a map of parts those that differ are told whole,
unless all do. A container of at most `LEAST` entries that have no
containers in them is told whole, and so is one of which more has changed than is left.

`merging` makes the state after an event from the JSON of the state before it, whatever the types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

from lawful.spec import types as t
from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json
from lawful.spec.values.unlike import unlike_keys, unlike_span
from lawful.spec.values.world import rank

from ..json_text import Form, Texter, head_of, text_of, texter
from ..kernel.before_images import ABSENT, BeforeImage, ListBefore, Recorded
from ..kernel.dispatch import UNSET
from ..kernel.event_record import ChangedParts, Stepped
from ..kernel.plan import Plan
from .touched_entries import Both, Touched, touched_by

CHANGED = "$changed"  # The one key of a change.
LEAST = 8


class Teller:
    """Tells what events of one machine changed; `forms` gives for a type the function that makes
    the JSON form of its values. One serves all instances of a machine."""

    __slots__ = ("forms", "heads", "known", "plan", "touches")

    def __init__(self, plan: Plan, forms: Callable[[t.Type], Form]) -> None:
        self.plan = plan
        self.forms = forms
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
                text = told.text(new) if old != new else ""
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

    def texter(self, kind: t.Type) -> Texter:
        """The function that makes the text of values of this type."""
        return texter(kind, self.forms(kind))

    def _known(self, name: str) -> Told:
        kind = self.plan.fields[name]
        self.heads[name] = head_of(name)  # First: an interrupt may come between both.
        told = self.known[name] = told_as(kind, self.forms)
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
        return UNSET if old == new else told.told(old, new)

    def touched(self, transition: str | None) -> Mapping[str, Touched]:
        """What a transition does to containers."""
        known = self.touches.get(transition)
        if known is None:
            known = self.touches[transition] = touched_by(self.plan, transition)
        return known


def is_change(data: Json) -> TypeGuard[dict[str, Any]]:
    """Whether this is a change, not a value."""
    return is_object(data) and CHANGED in data


def told_as(kind: t.Type, forms: Callable[[t.Type], Form]) -> Told:
    """How values of this type are told."""
    form = forms(kind)
    match kind:
        case t.Timer():
            return _Timer(kind, form)
        case t.Map(key=key, value=t.Part() as of):
            return _Parts(kind, form, forms(key), forms(of))
        case t.Set(item=item):
            return _Set(kind, form, _least(item), told_as(item, forms))
        case t.Seq(item=item):
            return _List(kind, form, _least(item), told_as(item, forms))
        case t.Map(key=key, value=of):
            return _Map(kind, form, _least(of), told_as(key, forms), told_as(of, forms))
        case t.Bag(item=item):
            return _Bag(kind, form, _least(item), told_as(item, forms), told_as(t.INT, forms))
        case _:
            return Told(kind, form)


def _least(item: t.Type) -> int:
    """Of containers of this, a change is told where there are more entries, if it is shorter."""
    return LEAST if t.immutable(item) or isinstance(item, t.Timer) else -1


class Told:
    """How values of a type are told: always whole, where `least` is None."""

    __slots__ = ("form", "least", "text")

    def __init__(self, kind: t.Type, form: Form, least: int | None = None) -> None:
        self.form = form
        self.least = least
        self.text = texter(kind, form)

    def parts(self, change: ChangedParts) -> Any:
        """The change of a variable that holds parts, or the new value: a part is told whole."""
        return self.form(change.whole())

    def is_small(self, new: Any) -> bool:
        """Whether a value is told whole, whatever has changed in it."""
        return self.least is None or len(new) <= self.least

    def told(self, old: Any, new: Any) -> Any:
        """The change or the new value; UNSET where both values have the same form."""
        if old is UNSET or self.is_small(new):
            return self.form(new)
        if not isinstance(old, BeforeImage):
            found = self.differs(old, new)
        elif old.container is new:
            found = self.imaged(old, new)
        else:  # A copy was changed, too, and what was recorded is not all.
            found = self.differs(old.whole(), new)
        return self.form(new) if found is None else found

    def differs(self, old: Any, new: Any) -> Json | None:
        """The change; None where it is told whole."""
        return None

    def imaged(self, old: BeforeImage, new: Any) -> Any:
        """The same as `differs` of a container that was changed in place."""
        return self.differs(old.whole(), new)

    def placed(self, place: Recorded, new: Any) -> str | None:
        """The text of the change of a container that was changed at this one place; "" where it is
        as before, None where it is told whole."""
        return None

    def touched(self, both: Both) -> Any:
        """The change of a container of which it is known which entries may have changed: no other
        one is looked at. UNSET where none has, None where it is not known after all."""
        return None


class _Timer(Told):
    __slots__ = ()

    def told(self, old: Any, new: Any) -> Any:
        whole = self.form(new)
        return UNSET if old is not UNSET and self.form(old) == whole else whole


class _Parts(Told):
    """A map of parts: those that have changed are told."""

    __slots__ = ("key", "part")

    def __init__(self, kind: t.Type, form: Form, key: Form, part: Form) -> None:
        super().__init__(kind, form)
        self.key = key
        self.part = part

    def parts(self, change: ChangedParts) -> Any:
        if len(change.put) + len(change.gone) >= len(change):
            return self.form(change.whole())
        put = [[self.key(k), self.part(change.part(k))] for k in change.put]
        gone = _ranked([self.key(k) for k in change.gone])
        return {CHANGED: {"set": sorted(put, key=_rank_of_key), "removed": gone}}


class _List(Told):
    __slots__ = ("item", "item_text")

    def __init__(self, kind: t.Type, form: Form, least: int, item: Told) -> None:
        super().__init__(kind, form, least)
        self.item = item.form
        self.item_text = item.text

    def differs(self, old: Any, new: Any) -> Json | None:
        at, same = unlike_span(old, new)
        added = new[at : len(new) - same]
        if len(added) >= max(len(new), 1):
            return None
        rows = [self.item(each) for each in added]
        return {CHANGED: {"at": at, "removed": len(old) - same - at, "added": rows}}

    def imaged(self, old: BeforeImage, new: Any) -> Any:
        ends = old.ends() if isinstance(old, ListBefore) else None
        if ends is None:
            return super().imaged(old, new)
        at, less = ends
        rows = [self.item(each) for each in new[at:]] if not less else []
        if len(rows) >= max(len(new), 1):
            return None
        return {CHANGED: {"at": at, "removed": less, "added": rows}}

    def placed(self, place: Recorded, new: Any) -> str | None:
        assert place is not None
        _, pops, _, length = place
        if self.is_small(new):
            return None
        if pops:
            return f'{{"{CHANGED}":{{"at":0,"removed":1,"added":[]}}}}'
        item = self.item_text(new[length])
        return f'{{"{CHANGED}":{{"at":{length},"removed":0,"added":[{item}]}}}}'

    def touched(self, both: Both) -> Any:
        place = both.place()
        if place is None:
            return None
        at, less = place
        rows = [self.item(each) for each in both.new[at:]] if not less else []
        if not rows and not less:
            return UNSET
        return {CHANGED: {"at": at, "removed": less, "added": rows}}


class _Set(Told):
    __slots__ = ("item", "item_text")

    def __init__(self, kind: t.Type, form: Form, least: int, item: Told) -> None:
        super().__init__(kind, form, least)
        self.item = item.form
        self.item_text = item.text

    def differs(self, old: Any, new: Any) -> Json | None:
        added = new - old
        gone = old - new if len(old) + len(added) != len(new) else ()
        if len(added) + len(gone) >= len(new):
            return None
        return self.change(added, gone)

    def touched(self, both: Both) -> Any:
        keys = both.keys()
        if keys is None or len(keys) >= max(len(both.new), 1):
            return None
        return self.of_keys(keys, both.old, both.new)

    def imaged(self, old: BeforeImage, new: Any) -> Any:
        keys = [*old.changed]
        return None if len(keys) >= max(len(new), 1) else self.of_keys(keys, old, new)

    def placed(self, place: Recorded, new: Any) -> str | None:
        assert place is not None
        _, _, at, was = place
        there = at in new
        if there == was:
            return ""
        if self.is_small(new):
            return None
        item = self.item_text(at)
        added, gone = (item, "") if there else ("", item)
        return f'{{"{CHANGED}":{{"added":[{added}],"removed":[{gone}]}}}}'

    def of_keys(self, keys: list[Any], old: Any, new: Any) -> Any:
        added = [k for k in keys if k in new and k not in old]
        gone = [k for k in keys if k in old and k not in new]
        return self.change(added, gone) if added or gone else UNSET

    def change(self, added: Iterable[Any], gone: Iterable[Any]) -> Json:
        both = (_ranked([self.item(each) for each in some]) for some in (added, gone))
        return {CHANGED: dict(zip(("added", "removed"), both, strict=True))}


class _Map(Told):
    __slots__ = ("key", "key_text", "value")

    def __init__(self, kind: t.Type, form: Form, least: int, key: Told, value: Told) -> None:
        super().__init__(kind, form, least)
        self.key = key.form
        self.key_text = key.text
        self.value = value

    def differs(self, old: Any, new: Any) -> Json | None:
        put: list[Any] = []
        more = 0
        for k in unlike_keys(old, new):
            more += k not in old
            told = self.value.told(old.get(k, UNSET), new[k])
            if told is not UNSET and (k not in old or old[k] != new[k]):
                put.append([self.key(k), told])
        gone = old.keys() - new.keys() if len(old) + more != len(new) else ()
        if len(put) + len(gone) >= max(len(new), 1) and self.least == LEAST:
            return None
        return self.change(put, gone)

    def touched(self, both: Both) -> Any:
        keys = both.keys()
        if keys is None or len(keys) >= max(len(both.new), 1):
            return None
        return self.of_keys(keys, both.old, both.new)

    def imaged(self, old: BeforeImage, new: Any) -> Any:
        keys = [*old.changed]
        whole = self.least == LEAST and len(keys) >= max(len(new), 1)
        return None if whole else self.of_keys(keys, old, new)

    def placed(self, place: Recorded, new: Any) -> str | None:
        assert place is not None
        _, _, at, was = place
        now = new.get(at, ABSENT)
        if now is was or now == was:
            return ""
        if self.is_small(new):
            return None
        if now is ABSENT:
            return f'{{"{CHANGED}":{{"set":[],"removed":[{self.key_text(at)}]}}}}'
        if self.value.__class__ is Told:
            text = self.value.text(now)
        else:
            text = text_of(self.value.told(UNSET if was is ABSENT else was, now))
        return f'{{"{CHANGED}":{{"set":[[{self.key_text(at)},{text}]],"removed":[]}}}}'

    def of_keys(self, keys: list[Any], old: Any, new: Mapping[Any, Any]) -> Any:
        put: list[Any] = []
        gone: list[Any] = []
        for k in keys:
            value, was = new.get(k, UNSET), old.get(k, UNSET)
            if value is was:
                continue
            if value is UNSET:
                gone.append(k)
            elif value != was:
                told = self.value.told(was, value)
                if told is not UNSET:
                    put.append([self.key(k), told])
        return self.change(put, gone) if put or gone else UNSET

    def change(self, put: list[Any], gone: Iterable[Any]) -> Json:
        if len(put) > 1:
            put.sort(key=_rank_of_key)
        return {CHANGED: {"set": put, "removed": _ranked([self.key(k) for k in gone])}}


class _Bag(_Map):
    __slots__ = ()

    def differs(self, old: Any, new: Any) -> Json | None:
        return super().differs(_there(old), _there(new))

    def of_keys(self, keys: list[Any], old: Mapping[Any, Any], new: Mapping[Any, Any]) -> Any:
        both = ({k: each[k] for k in keys if each[k]} for each in (old, new))
        return super().of_keys(keys, *both)


def _rank_of_key(row: list[Any]) -> tuple[int, Any]:
    return rank(row[0])


def _ranked(items: list[Json]) -> list[Json]:
    return sorted(items, key=rank) if len(items) > 1 else items


def _there(bag: Mapping[Any, int]) -> Mapping[Any, int]:
    """The items that are in a bag, which may keep a count of 0 of others."""
    return {k: n for k, n in bag.items() if n} if 0 in bag.values() else bag
