"""Values as they are read from outside, and back: what is mutable inside is immutable outside."""

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
    """A list as read from outside: equal to any list of these items, and never changed."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("a machine's list changes by its transitions only; list(...) copies it")

    if not TYPE_CHECKING:
        __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
        append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[type[list[T]], tuple[list[T]]]:
        return list, (list(self),)


def viewer(kind: t.Type) -> Callable[[Any], Any] | None:
    """The function that makes the outside's value of the inside's; None where they are one.

    A container inside is not changed where it stands once a step is over, so what was read stays
    as it was read.
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


def _each(make: Callable[[Any], Any], inner: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    return make if inner is None else lambda held: make(inner(each) for each in held)


def native(value: Any, kind: t.Type) -> Any:
    """The inside's value, its own containers, of one from outside; timers and parts aside."""
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
