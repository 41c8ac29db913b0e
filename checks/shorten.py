"""A sequence of events that fails, made as short and as simple as it will go and still fail.

Hypothesis shrinks the choices that led to a run; arguments drawn near a state become others when
an event before them is left out. Events themselves can be left out, and run again, as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Generic, TypeVar

from lawful.spec import types as t
from lawful.spec.bounds import breach
from lawful.spec.values import FrozenBag, FrozenMap, Token, chosen

from .meaning import iterate

A = TypeVar("A")
MOST_RUNS = 2_000
LEAPS = 12  # Of so few events any number next to each other is left out at once.


class _Spent(Exception):
    """No more runs."""


class Shortening(Generic[A]):
    """Tries shorter and simpler sequences; `simpler` gives what may stand in an event's place."""

    def __init__(
        self, fails: Callable[[Sequence[A]], bool], simpler: Callable[[A], Iterator[A]]
    ) -> None:
        self.fails = fails
        self.simpler = simpler
        self.left = MOST_RUNS
        self.best: list[A] = []

    def run(self, acts: Sequence[A]) -> list[A]:
        """The shortest sequence found that fails."""
        self.best = list(acts)
        try:
            while self._shorter() or self._simpler() or self._leap():
                pass
        except _Spent:
            pass
        return self.best

    def _try(self, acts: list[A]) -> bool:
        """Whether it fails; then it is the best so far."""
        if not self.left:
            raise _Spent
        self.left -= 1
        if self.fails(acts):
            self.best = acts
            return True
        return False

    def _shorter(self) -> bool:
        """Leave out events, many at once and then one by one."""
        before, size = len(self.best), len(self.best) // 2
        while size:
            at = len(self.best) - size
            while at >= 0:
                self._try(self.best[:at] + self.best[at + size :])
                at -= size
            size //= 2
        return len(self.best) < before

    def _simpler(self) -> bool:
        """Replace one event by a simpler one."""
        return any(
            self._try([*self.best[:at], act, *self.best[at + 1 :]])
            for at, old in enumerate(self.best)
            for act in self.simpler(old)
        )


    def _leap(self) -> bool:
        """Leave out any events next to each other, and make the last one simpler at once."""
        last = len(self.best) - 1
        if last > LEAPS:
            return False
        return any(
            self._try([*self.best[:start], *self.best[end:last], act])
            for size in range(last, 0, -1)
            for start in range(last - size + 1)
            for end in (start + size,)
            for act in (self.best[last], *self.simpler(self.best[last]))
        )


class Simpler:
    """Simpler values of a type: closer to 0, to empty, to the first.

    `domain` has the values of small types; `only` those that types which the test draws by itself
    may have, the simplest first.
    """

    def __init__(
        self,
        domain: Callable[[t.Type], Sequence[Any]],
        only: Callable[[t.Type], Sequence[Any] | None],
    ) -> None:
        self.domain = domain
        self.only = only

    def of(self, value: Any, kind: t.Type) -> Iterator[Any]:
        """Each is simpler than the value, by an order without endless descent."""
        only = self.only(kind)
        if only is not None:
            yield from _before(value, only)
            return
        match kind:
            case t.Int():
                for each in dict.fromkeys((0, value // 2, value - 1, value + 1)):
                    if abs(each) < abs(value) and breach(each, kind) is None:
                        yield each
            case t.Bool() | t.Enum() | t.Sort():
                yield from _before(value, self.domain(kind))
            case t.Opaque(name=name):
                yield from (Token(name, 0),) if isinstance(value, Token) and value.id else ()
                yield from (value[:0],) if isinstance(value, bytes | str) and value else ()
            case t.Record(fields=fields):
                for name, of in fields:
                    for each in self.of(getattr(value, name), of):
                        yield dataclasses.replace(value, **{name: each})
            case t.Union():
                if value is not None:
                    yield from (None for option in kind.options if isinstance(option, t.Nothing))
                    yield from self.of(value, chosen(value, kind))
            case _:
                yield from self._containers(value, kind)

    def _containers(self, value: Any, kind: t.Type) -> Iterator[Any]:
        match kind:
            case t.Tuple(items=items):
                yield from self._at_each(value, items)
            case t.Seq(item=item):
                yield from (value[:i] + value[i + 1 :] for i in range(len(value)))
                yield from self._at_each(value, (item,) * len(value))
            case t.Set(item=item):
                for each in iterate(value):
                    rest = value - {each}
                    yield rest
                    yield from (rest | {other} for other in self.of(each, item))
            case t.Map(value=of, total=total):
                for key, held in value.items():
                    rest = {k: v for k, v in value.items() if k != key}
                    yield from () if total else (FrozenMap(rest),)
                    yield from (FrozenMap({**value, key: v}) for v in self.of(held, of))
            case t.Bag():
                for key, count in value.items():
                    rest = {k: n for k, n in value.items() if k != key}
                    yield FrozenBag({**rest, key: count - 1} if count > 1 else rest)
            case _:
                return

    def _at_each(self, value: tuple[Any, ...], kinds: Sequence[t.Type]) -> Iterator[Any]:
        for i, of in enumerate(kinds):
            for each in self.of(value[i], of):
                yield (*value[:i], each, *value[i + 1 :])


def _before(value: Any, values: Sequence[Any]) -> Sequence[Any]:
    return values[: values.index(value)] if value in values else ()
