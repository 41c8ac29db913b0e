"""Shrinking of a failing run: a shorter sequence of simpler actions that fails in the same way.

Why not Hypothesis's shrinker: it shrinks the random choices behind a run. Arguments are drawn near
the current state, so removing one event changes the arguments of all later ones. Here the actions
themselves are removed or simplified, and run again. (`checks.explore.simulate` has a third, small
one: it only removes events, because the arguments of a random walk are already within the scope.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from lawful.spec import types as t
from lawful.spec.sorting import in_order
from lawful.spec.values.bounds import breach
from lawful.spec.values.world import FrozenBag, FrozenMap, Token, chosen

from ..explore.value_pool import Near
from .lockstep import Subject, replay
from .oracle import Action, Call, Fire, Grow, Start

MOST_RUNS = 2_000
LEAPS = 12  # Actions up to which `_leap` and `_renumber` try all combinations.


def shrunk(
    subject: Subject[Any], actions: Sequence[Action], kind: type[Exception], given: Collection[str]
) -> list[Action]:
    """A short sequence of actions that still raises this kind of exception.

    Arguments whose type or parameter is in `given` keep to values that occur in `actions`.
    """
    simpler = SimplerActions(SimplerValues(subject.model(subject.like).values.of), actions, given)

    def fails(tried: Sequence[Action]) -> bool:
        try:
            replay(subject, tried)
        except Exception as error:
            return isinstance(error, kind)
        return False

    return Shrinker(fails, simpler).run(actions)


class _Spent(Exception):
    """`MOST_RUNS` runs were made."""


class Shrinker:
    """Searches for the shortest and simplest sequence of actions for which `fails` is true."""

    def __init__(self, fails: Callable[[Sequence[Action]], bool], simpler: SimplerActions) -> None:
        self.fails = fails
        self.simpler = simpler.of
        self.lower = simpler.lower
        self.left = MOST_RUNS
        self.best: list[Action] = []

    def run(self, actions: Sequence[Action]) -> list[Action]:
        """The shortest failing sequence that was found."""
        self.best = list(actions)
        try:
            while self._shorter() or self._simpler() or self._leap() or self._renumber():
                pass
        except _Spent:
            pass
        return self.best

    def _try(self, actions: list[Action]) -> bool:
        """Whether the sequence fails; then it is the best so far."""
        if not self.left:
            raise _Spent
        self.left -= 1
        if self.fails(actions):
            self.best = actions
            return True
        return False

    def _shorter(self) -> bool:
        """Remove actions: first large blocks, then one by one."""
        before, size = len(self.best), len(self.best) // 2
        while size:
            at = len(self.best) - size
            while at >= 0:
                self._try(self.best[:at] + self.best[at + size :])
                at -= size
            size //= 2
        return len(self.best) < before

    def _simpler(self) -> bool:
        """Replace one action by a simpler one."""
        return any(
            self._try([*self.best[:at], action, *self.best[at + 1 :]])
            for at, old in enumerate(self.best)
            for action in self.simpler(old)
        )

    def _leap(self) -> bool:
        """Remove a block of actions and simplify the last action in the same try."""
        last = len(self.best) - 1
        if last > LEAPS:
            return False
        return any(
            self._try([*self.best[:start], *self.best[end:last], action])
            for size in range(last, 0, -1)
            for start in range(last - size + 1)
            for end in (start + size,)
            for action in (self.best[last], *self.simpler(self.best[last]))
        )

    def _renumber(self) -> bool:
        """Remove one action and lower a number in all later ones: a counter is then one behind."""
        if len(self.best) > LEAPS:
            return False
        return any(
            self._try([*self.best[:at], *lowered])
            for at in range(len(self.best) - 1)
            for lowered in self.lower(self.best[at + 1 :])
        )


class SimplerActions:
    """Simpler variants of actions; `given` are the types and parameters with fixed values."""

    def __init__(
        self, simpler: SimplerValues, actions: Sequence[Action], given: Collection[str]
    ) -> None:
        self.simpler = simpler
        self.given = given
        self.occurring = Near()
        for action in actions:
            for name, kind, value in _arguments(action):
                self.occurring.add(kind, value, name)
        simpler.only = self._only

    def of(self, action: Action) -> Iterator[Action]:
        """The action with one argument replaced by a simpler value, in every way."""
        for at, (name, kind, value) in enumerate(_arguments(action)):
            own = _sorted(self.occurring.named(kind, name)) if name in self.given else None
            simpler = self.simpler.of(value, kind) if own is None else _before(value, own)
            yield from (_with(action, at, each) for each in simpler)

    def lower(self, actions: Sequence[Action]) -> Iterator[list[Action]]:
        """The actions with one number lowered by one wherever it occurs, for every number."""
        numbers = Near()
        for action in actions:
            for name, kind, value in _arguments(action):
                if name not in self.given:
                    numbers.add(kind, value)
        for number in numbers.like(t.NAT):
            if number > 0 and not {"Nat", "int"} & set(self.given):
                yield [_lowered(action, number) for action in actions]

    def _only(self, kind: t.Type) -> Sequence[Any] | None:
        name = kind.name if isinstance(kind, t.Int) else str(kind)
        return _sorted(self.occurring.like(kind)) if name in self.given else None


def _arguments(action: Action) -> list[tuple[str, t.Type, Any]]:
    """The arguments: name as in `given` ("event.parameter"), type, value."""
    match action:
        case Call(entry_point=entry_point, args=args):
            name, params = entry_point.event.name, entry_point.event.params
        case Start(function=function, args=args):
            name, params = function.name, function.params
        case Fire() | Grow():
            return []
    rows = zip(params, args, strict=True)
    return [(f"{name}.{param}", kind, value) for (param, kind), value in rows]


def _with(action: Action, at: int, value: Any) -> Action:
    match action:
        case Call(entry_point=entry_point, args=args):
            return Call(entry_point, (*args[:at], value, *args[at + 1 :]))
        case Start(function=function, args=args):
            return Start(function, (*args[:at], value, *args[at + 1 :]))
        case Fire() | Grow():
            return action


def _lowered(action: Action, number: int) -> Action:
    for at, (_, kind, value) in enumerate(_arguments(action)):
        action = _with(action, at, lowered(value, kind, number))
    return action


def lowered(value: Any, kind: t.Type, number: int) -> Any:
    """The value with `number` lowered by one wherever it occurs in it, if bounds allow."""
    match kind:
        case t.Int():
            less = value - 1 if value == number else value
            return less if breach(less, kind) is None else value
        case t.Record(fields=fields):
            rows = {n: lowered(getattr(value, n), of, number) for n, of in fields}
            return dataclasses.replace(value, **rows)
        case t.Union():
            return None if value is None else lowered(value, chosen(value, kind), number)
        case t.Tuple(items=items):
            return tuple(lowered(value[i], of, number) for i, of in enumerate(items))
        case t.Seq(item=item):
            return tuple(lowered(each, item, number) for each in value)
        case t.Set(item=item):
            return frozenset(lowered(each, item, number) for each in value)
        case _:
            return value


def _sorted(values: Sequence[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (len(repr(value)), repr(value)))


class SimplerValues:
    """Simpler values of a type: closer to 0, to empty, to the first member.

    `domain` gives all values of a small type. `only` gives the values that a type is restricted
    to, or None.
    """

    def __init__(self, domain: Callable[[t.Type], Sequence[Any]]) -> None:
        self.domain = domain
        self.only: Callable[[t.Type], Sequence[Any] | None] = lambda kind: None

    def of(self, value: Any, kind: t.Type) -> Iterator[Any]:
        """Values that are simpler than this one, in a well-founded order."""
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
                if isinstance(value, Token) and isinstance(value.id, int):
                    yield from (Token(name, i) for i in range(value.id))
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
                for each in in_order(value):
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
