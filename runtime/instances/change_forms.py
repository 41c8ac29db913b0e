"""How the values of each type are told: whole, or as what differs (see `container_changes`).

Equal values may have different texts: `Decimal("1.0")` and `Decimal("1.00")`, the two hours of a
night in which clocks go back. Where rows are to give back the very values (`Exact`), those of a
type that has such values are told where the texts differ, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.values.unlike import unlike, unlike_keys, unlike_span
from lawful.spec.values.world import rank

from ..json_text import Form, text_of, texter
from ..kernel.before_images import ABSENT, BeforeImage, ListBefore, Recorded
from ..kernel.dispatch import UNSET
from ..kernel.event_record import ChangedParts
from .touched_entries import Both

CHANGED = "$changed"  # The one key of a change.
LEAST = 8
Exact = Callable[[t.Type], bool]  # Whether equal values of a type may have different texts.


def told_as(kind: t.Type, forms: Callable[[t.Type], Form], exact: Exact) -> Told:
    """How values of this type are told."""
    made = _told_as(kind, forms, exact)
    made.exact = exact(kind)
    return made


def _told_as(kind: t.Type, forms: Callable[[t.Type], Form], exact: Exact) -> Told:
    form, inside = forms(kind), partial(told_as, forms=forms, exact=exact)
    match kind:
        case t.Timer():
            return _Timer(kind, form)
        case t.Map(key=key, value=t.Part() as of):
            return _Parts(kind, form, forms(key), forms(of))
        case t.Set(item=item):
            return _Set(kind, form, _least(item), inside(item))
        case t.Seq(item=item):
            return _List(kind, form, _least(item), inside(item))
        case t.Map(key=key, value=of):
            return _Map(kind, form, _least(of), inside(key), inside(of))
        case t.Bag(item=item):
            return _Bag(kind, form, _least(item), inside(item), inside(t.INT))
        case _:
            return Told(kind, form)


def _least(item: t.Type) -> int:
    """A change of a container of these is told if it has more entries, and if that is shorter."""
    return LEAST if t.immutable(item) or isinstance(item, t.Timer) else -1


class Told:
    """How values of a type are told: always whole, where `least` is None. `exact`: also where equal
    values have different texts."""

    __slots__ = ("exact", "form", "least", "text")

    def __init__(self, kind: t.Type, form: Form, least: int | None = None) -> None:
        self.exact = False
        self.form = form
        self.least = least
        self.text = texter(kind, form)

    def parts(self, change: ChangedParts) -> Any:
        """The change of a variable that holds parts, or the new value: a part is told whole."""
        return self.form(change.whole())

    def is_small(self, new: Any) -> bool:
        """Whether a value is told whole, whatever has changed in it."""
        return self.least is None or len(new) <= self.least

    def differs_from(self, old: Any, new: Any) -> bool:
        """Whether a value is to be told that was `old` before."""
        return unlike(old, new) if self.exact else old != new

    def news(self, old: Any, new: Any) -> Any:
        """The change or the new value; UNSET where both are the same."""
        if self.exact and isinstance(old, BeforeImage):
            if old.twice or not self.is_small(new):
                return self.told(old, new)  # It looks at what was recorded.
            old = old.restored()
        return self.told(old, new) if self.differs_from(old, new) else UNSET

    def told(self, old: Any, new: Any) -> Any:
        """The change or the new value of what is another object; UNSET where a closer look shows
        that both have the same form."""
        if old is UNSET or self.is_small(new):
            return self.form(new)
        if not isinstance(old, BeforeImage):
            found = self.differs(old, new)
        elif old.container is new:
            found = self.imaged(old, new)
        else:  # A copy was changed, too, and what was recorded is not all.
            found = self.differs(old.whole(), new)
        return self.form(new) if found is None else found

    def differs(self, old: Any, new: Any) -> Any:
        """The change; None where it is told whole, UNSET where there is none."""
        return None

    def imaged(self, old: BeforeImage, new: Any) -> Any:
        """The same as `differs` of a container that was changed in place."""
        return self.differs(old.restored() if self.exact else old.whole(), new)

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

    def differs(self, old: Any, new: Any) -> Any:
        at, same = unlike_span(old, new)
        if at == len(old) == len(new):
            return UNSET
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
    __slots__ = ("item", "item_text", "items_exact")

    def __init__(self, kind: t.Type, form: Form, least: int, item: Told) -> None:
        super().__init__(kind, form, least)
        self.item = item.form
        self.item_text = item.text
        self.items_exact = item.exact

    def differs(self, old: Any, new: Any) -> Any:
        added = new - old
        swapped = _swapped(old, new) if self.items_exact else {}
        if swapped:
            added, lost = [*added, *swapped.values()], [*(old - new), *swapped]
            return None if len(added) + len(lost) >= len(new) else self.change(added, lost)
        gone = old - new if len(old) + len(added) != len(new) else ()
        if len(added) + len(gone) >= len(new):
            return None
        return self.change(added, gone)

    def touched(self, both: Both) -> Any:
        keys = None if self.items_exact else both.keys()
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
        if self.items_exact and isinstance(old, BeforeImage):
            again = _put_again(old, new)
            added, gone = [*added, *again.values()], [*gone, *again]
        return self.change(added, gone) if added or gone else UNSET

    def change(self, added: Iterable[Any], gone: Iterable[Any]) -> Json:
        both = (_ranked([self.item(each) for each in some]) for some in (added, gone))
        return {CHANGED: dict(zip(("added", "removed"), both, strict=True))}


class _Map(Told):
    __slots__ = ("key", "key_text", "keys_exact", "value")

    def __init__(self, kind: t.Type, form: Form, least: int, key: Told, value: Told) -> None:
        super().__init__(kind, form, least)
        self.key = key.form
        self.key_text = key.text
        self.keys_exact = key.exact
        self.value = value

    def differs(self, old: Any, new: Any) -> Any:
        put: list[Any] = []
        more = 0
        swapped = _swapped(old, new) if self.keys_exact else {}
        for k in unlike_keys(old, new):
            more += k not in old
            told = self.value.news(old.get(k, UNSET), new[k])
            if told is not UNSET and k not in swapped:
                put.append([self.key(k), told])
        gone = [*(old.keys() - new.keys() if len(old) + more != len(new) else ()), *swapped]
        put += ([self.key(k), self.value.told(UNSET, new[k])] for k in swapped.values())
        if len(put) + len(gone) >= max(len(new), 1) and self.least == LEAST:
            return None
        return self.change(put, gone)

    def touched(self, both: Both) -> Any:
        keys = None if self.keys_exact else both.keys()
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
        if now is was or not self.value.differs_from(was, now):
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
        again = _put_again(old, new) if self.keys_exact and isinstance(old, BeforeImage) else {}
        for k in keys:
            value, was = new.get(k, UNSET), old.get(k, UNSET)
            if k in again:
                gone.append(k)
                put.append([self.key(again[k]), self.value.told(UNSET, value)])
                continue
            if value is was:
                continue
            if value is UNSET:
                gone.append(k)
                continue
            told = self.value.news(was, value)
            if told is not UNSET:
                put.append([self.key(k), told])
        return self.change(put, gone) if put or gone else UNSET

    def change(self, put: list[Any], gone: Iterable[Any]) -> Json:
        if len(put) > 1:
            put.sort(key=_rank_of_key)
        return {CHANGED: {"set": put, "removed": _ranked([self.key(k) for k in gone])}}


class _Bag(_Map):
    __slots__ = ()

    def differs(self, old: Any, new: Any) -> Any:
        return super().differs(_there(old), _there(new))

    def of_keys(self, keys: list[Any], old: Mapping[Any, Any], new: Mapping[Any, Any]) -> Any:
        both = ({k: each[k] for k in keys if each[k]} for each in (old, new))
        return super().of_keys(keys, *both)


def _swapped(old: Iterable[Any], new: Any) -> dict[Any, Any]:
    """The items or keys of `old` in whose place `new` has an equal one with another text, and that
    one."""
    known = {each: each for each in old}
    return {known[each]: each for each in new if each in known and unlike(known[each], each)}


def _put_again(old: BeforeImage, new: Any) -> dict[Any, Any]:
    """The items or keys that an event has changed twice, and that were there and are: they may have
    been taken out and put in with another text. And what is there now."""
    again = [each for each in old.twice if each in old and each in new]
    return {each: next(held for held in new if held == each) for each in again}


def _rank_of_key(row: list[Any]) -> tuple[int, Any]:
    return rank(row[0])


def _ranked(items: list[Json]) -> list[Json]:
    return sorted(items, key=rank) if len(items) > 1 else items


def _there(bag: Mapping[Any, int]) -> Mapping[Any, int]:
    """The items that are in a bag, which may keep a count of 0 of others."""
    return {k: n for k, n in bag.items() if n} if 0 in bag.values() else bag
