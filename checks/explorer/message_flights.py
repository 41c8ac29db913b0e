"""Messages on their way between the parts of a composed machine.

A channel is a variable of the whole, no ghost, that holds messages: a list or a bag of anything, a
set of records or tuples, and a map to one of these or to a record. What a step puts into one and
takes out of one is found by comparing the states before and after; which parts it called, by
running it again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.sorting import in_order
from lawful.spec.text.reasons import text
from lawful.spec.values.world import World, encode

from ..explore.space import Space
from ..reference import Reference
from ..reference.states import State, WorkingCopy

ROWS = 30  # Steps that a picture has: the last ones of a path.


class Message(NamedTuple):
    """A message in a channel, `inbox[N1]`; equal ones cannot be told apart. `item` is its JSON."""

    channel: str
    item: str


class Moves(NamedTuple):
    """What one step does: the lanes of the parts that it calls or changes, in the order of its
    calls, else of those that its arguments name; and the messages that are in the channels after it
    or before it alone."""

    lanes: tuple[str, ...]
    put: tuple[Message, ...]
    taken: tuple[Message, ...]


class Flight(NamedTuple):
    """The way of one message: the numbers of the steps that put it there and took it, and their
    lanes. `sent` is 0 for what is there from the start, `ended` None for what is in flight."""

    message: Message
    sent: int
    source: str | None
    ended: int | None = None
    target: str | None = None


class MessageFlights:
    """Follows the messages of one machine; `channels` are the names of its variables for them."""

    def __init__(self, space: Space) -> None:
        self._machine = space.machine
        self._callers = _Callers(space.machine, space.world)
        self._callers.domains = space.reference.domains
        rows = list(enumerate(space.machine.variables))
        self._parts = [(i, v) for i, v in rows if t.part_of(v.type) is not None]
        self._channels = [(i, v) for i, v in rows if not v.ghost and _carries(v.type)]
        between = len(self._parts) > 1 or any(_key(v) is not None for _, v in self._parts)
        self.channels = tuple(v.name for _, v in self._channels) if between else ()

    def messages(self, state: State) -> list[Message]:
        """What is in the channels, in their order; of a bag, each message as often as it holds
        it."""
        rows = (row for i, v in self._channels for row in _held(v.name, state[i], v.type))
        return [Message(name, json.dumps(encode(value, kind))) for name, value, kind in rows]

    def lanes(self, state: State) -> list[str]:
        """The names of the parts of a state, and of the members of families: `nodes[N1]`."""
        return [name for name, _ in self._members(state)]

    def moves(
        self,
        before: State,
        name: str,
        args: Mapping[str, Any],
        after: State,
        changed: Iterable[str],
    ) -> Moves:
        """What the transition with these arguments did; `changed` has the paths of what differs."""
        called = self._callers.called(before, name, args)
        lanes = [*self.lanes(before), *self.lanes(after)]
        touched = [_lane(path, lanes) for path in changed]
        acting = [*called, *filter(None, touched)] or [*self._named(name, args, lanes)]
        there, here = self.messages(before), self.messages(after)
        return Moves(
            tuple(dict.fromkeys(acting)),
            tuple(_beyond(here, there)),
            tuple(_beyond(there, here)),
        )

    def picture(self, states: Sequence[State], moves: Sequence[Moves]) -> dict[str, Json] | None:
        """What the page draws of a path: lanes, the last steps, the messages that were on their way
        then. None for a machine that has not several parts, and channels between them."""
        if not self.channels:
            return None
        first = max(1, len(moves) - ROWS + 1)
        found = [f for f in flights(self.messages(states[0]), moves) if (f.ended or first) >= first]
        rows = [*enumerate(moves, 1)][first - 1 :]
        shown = dict.fromkeys(states[first - 1 :])
        lanes = dict.fromkeys(lane for state in shown for lane in self.lanes(state))
        lanes |= dict.fromkeys(
            end for f in found for end in (f.source, f.target) if end is not None
        )
        return {
            "first": first,
            "lanes": list(lanes),
            "rows": [{"step": n, "lanes": list(row.lanes)} for n, row in rows],
            "messages": [_json(f) for f in found],
        }

    def _named(self, name: str, args: Mapping[str, Any], lanes: Sequence[str]) -> Iterator[str]:
        """The members that arguments are the keys of, for a step that only reads them."""
        kinds = dict(self._machine.transition(name).function.params)
        for _, v in self._parts:
            keys = [arg for arg, kind in kinds.items() if _key(v) == kind]
            wanted = {f"{v.name}[{text(encode(args[arg], kinds[arg]))}]" for arg in keys}
            yield from (lane for lane in lanes if lane in wanted)

    def _members(self, state: State) -> Iterator[tuple[str, Any]]:
        for i, v in self._parts:
            yield from members(v, state[i])


class _Callers(Reference):
    """Runs steps and notes which parts of the whole they call."""

    def __init__(self, machine: ir.Machine, world: World) -> None:
        super().__init__(machine, world)
        self._whole: WorkingCopy = WorkingCopy()
        self._called: list[str] = []

    def called(self, state: State, name: str, args: Mapping[str, Any]) -> list[str]:
        """The lanes of the parts that the transition calls, in the order of its calls."""
        self._called = []
        self.step(state, name, args)
        return list(dict.fromkeys(self._called))

    def enter(self, working: WorkingCopy, row: ir.Transition, args: Mapping[str, Any]) -> Any:
        if any(row is mine for mine in self.machine.transitions):
            self._whole = working
        return super().enter(working, row, args)

    def call_step(self, working: WorkingCopy, machine: str, name: str, args: list[Any]) -> Any:
        for value, v in zip(self._whole, self.machine.variables, strict=False):
            if t.part_of(v.type) is not None:
                self._called += [lane for lane, each in members(v, value) if each is working]
        return super().call_step(working, machine, name, args)


def members(v: ir.Variable, value: Any) -> Iterator[tuple[str, Any]]:
    """The name and state of the part that a variable holds, or of each member of its family."""
    if not isinstance(v.type, t.Map):
        yield v.name, value
        return
    for key in in_order(value):
        yield f"{v.name}[{text(encode(key, v.type.key))}]", value[key]


def flights(start: Iterable[Message], moves: Iterable[Moves]) -> list[Flight]:
    """The way of each message, in the order in which they were sent; of equal messages the one that
    was sent first is taken first."""
    found = [Flight(message, 0, None) for message in start]
    for number, row in enumerate(moves, 1):
        for message in row.taken:
            at = next(i for i, f in enumerate(found) if f.message == message and f.ended is None)
            found[at] = found[at]._replace(ended=number, target=_receiver(message, row.lanes))
        source = row.lanes[-1] if row.lanes else None
        found += [Flight(message, number, source) for message in row.put]
    return found


def _receiver(message: Message, lanes: Sequence[str]) -> str | None:
    """The lane that takes a message: `nodes[N1]` from `inbox[N1]`, else the one called first."""
    key = message.channel.partition("[")[2]
    its = (lane for lane in lanes if key and lane.endswith(f"[{key}"))
    return next(its, lanes[0] if lanes else None)


def _json(f: Flight) -> Json:
    return {
        "channel": f.message.channel,
        "item": json.loads(f.message.item),
        "sent": f.sent,
        "from": f.source,
        "ended": f.ended,
        "to": f.target,
    }


def _key(v: ir.Variable) -> t.Type | None:
    return v.type.key if isinstance(v.type, t.Map) else None


def _carries(kind: t.Type) -> bool:
    match kind:
        case t.Seq() | t.Bag():
            return True
        case t.Set(item=item):
            return _is_message(item)
        case t.Map(value=value):
            return _carries(value) or _is_message(value)
        case _:
            return False


def _is_message(kind: t.Type) -> bool:
    options = kind.options if isinstance(kind, t.Union) else (kind,)
    some = [option for option in options if not isinstance(option, t.Nothing)]
    return bool(some) and all(isinstance(option, t.Record | t.Tuple) for option in some)


def _held(name: str, value: Any, kind: t.Type) -> Iterator[tuple[str, Any, t.Type]]:
    """Each message in a channel, with the channel's name and the message's type."""
    match kind:
        case t.Seq(item=item):
            yield from ((name, each, item) for each in value)
        case t.Set(item=item):
            yield from ((name, each, item) for each in in_order(value))
        case t.Bag(item=item):
            yield from ((name, each, item) for each in in_order(value) for _ in range(value[each]))
        case t.Map(key=key, value=inner):
            for each in in_order(value):
                yield from _held(f"{name}[{text(encode(each, key))}]", value[each], inner)
        case _ if value is not None:
            yield name, value, kind
        case _:
            pass


def _beyond(mine: Sequence[Message], other: Sequence[Message]) -> Iterator[Message]:
    """The messages that are more often in one than in the other, in their order."""
    more = Counter(mine) - Counter(other)
    for message in more:
        yield from islice((m for m in mine if m == message), more[message])


def _lane(path: str, lanes: Iterable[str]) -> str | None:
    """The lane to which the path of a variable leads."""
    return next((lane for lane in lanes if path == lane or path.startswith(f"{lane}.")), None)
