"""Conversions between the mutable containers inside an instance and the immutable ones outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from lawful.spec import types as t
from lawful.spec.values.world import FrozenBag, FrozenMap
from lawful.spec.words import Timer

T = TypeVar("T")


class ListView(list[T]):
    """A read-only list; it equals any list of the same items."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("a machine's list changes by its transitions only; list(...) copies it")

    if not TYPE_CHECKING:
        __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
        append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[type[list[T]], tuple[list[T]]]:
        return list, (list(self),)


def viewer(kind: t.Type) -> Callable[[Any], Any] | None:
    """The function from a value inside to the value that users read; None where they are the same.

    A view may wrap the container itself: a step changes a container in place only if nobody else
    holds it, so a value that was read never changes.
    """
    match kind:
        case t.Timer(urgent=urgent):
            return lambda deadline: Timer(urgent, deadline)
        case t.Set(mutable=True):
            return frozenset
        case t.Seq(mutable=True, item=item):
            return _each(ListView, viewer(item))
        case t.Bag():
            return FrozenBag
        case t.Map(mutable=True, value=value):
            inner = viewer(value)
            if inner is None:
                return MappingProxyType
            return lambda held: FrozenMap({k: inner(v) for k, v in held.items()})
        case _:
            return None


def viewed(value: Any, kind: t.Type) -> Any:
    """A value as code outside reads it."""
    view = viewer(kind)
    return value if view is None else view(value)


def _each(make: Callable[[Any], Any], inner: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    return make if inner is None else lambda held: make(inner(each) for each in held)


def native(value: Any, kind: t.Type) -> Any:
    """The value inside, in containers of its own, of a value from outside; no timers or parts."""
    match kind:
        case t.Set(item=item, mutable=True):
            return {native(each, item) for each in value}
        case t.Seq(item=item, mutable=True):
            return [native(each, item) for each in value]
        case t.Map(value=of, mutable=True):
            return {k: native(v, of) for k, v in value.items()}
        case t.Bag():
            return Counter({k: n for k, n in value.items() if n})
        case t.Map():
            return FrozenMap(value)
        case _:
            return value
