"""The shortest fair lasso through a component: from where it is entered, round, and back.

The shortest is found by breadth-first search over states with what fairness still asks of the
loop. That set of asks can be large, so the search has a budget; beyond it the loop goes from one
ask to the nearest next, which is fair, too, but may be longer.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from lawful.spec.quick_dataclass import dataclass

from .fairness import Bits
from .graph import Graph

BUDGET = 400_000  # Steps that are looked at for one property.


@dataclass(frozen=True, slots=True)
class Loop:
    """The states of a loop, the first one being where it is entered and left out at the end; for
    each the groups that the step out of it takes. A loop of no steps stops in its one state."""

    states: tuple[int, ...]
    taken: tuple[Bits, ...]

    def __len__(self) -> int:
        return len(self.taken)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The progress of a loop: weak groups answered, strong ones enabled and taken, and whether a
    state that the loop must visit was visited."""

    answered: Bits
    enabled: Bits
    taken: Bits
    met: bool


_NOTHING = _Asked(0, 0, 0, False)
_At = tuple[int, _Asked]


class Loops:
    """Looks for loops in one component; `must` says which states a loop has to visit one of."""

    def __init__(self, graph: Graph, component: Sequence[int], must: Callable[[int], bool]) -> None:
        self.graph = graph
        self.inside = frozenset(component)
        self.must = must
        groups = graph.groups
        self.weak, self.strong = groups.weak, groups.strong

    def best(self, distance: Mapping[int, int], left: list[int]) -> Loop:
        """The loop with the least way to it and round it; `left` is the budget, in one place."""
        found: Loop | None = None
        length = 0
        for start in sorted(self.inside, key=lambda number: (distance[number], number)):
            room = None if found is None else length - distance[start]
            if room is not None and room <= 0:
                break
            loop = self._shortest(start, room, left)
            if loop is not None:
                found, length = loop, distance[start] + len(loop)
            if left[0] <= 0:
                break
        if found is not None:
            return found
        return self._greedy(min(self.inside, key=lambda number: (distance[number], number)))

    # The shortest.

    def _visit(self, number: int, so_far: _Asked, taken: Bits) -> _Asked:
        enabled = self.graph.enabled[number]
        return _Asked(
            so_far.answered | (self.weak & (taken | ~enabled)),
            so_far.enabled | (self.strong & enabled),
            so_far.taken | (self.strong & taken),
            so_far.met or self.must(number),
        )

    def _fair(self, asked: _Asked) -> bool:
        return asked.met and not self.weak & ~asked.answered and not asked.enabled & ~asked.taken

    def _shortest(self, start: int, room: int | None, left: list[int]) -> Loop | None:
        """The shortest fair loop from this state, of fewer than `room` steps if that is given."""
        first = start, self._visit(start, _NOTHING, 0)
        if self._fair(first[1]):
            return Loop((start,), ())
        came: dict[_At, tuple[_At, Bits]] = {}
        level = [first]
        steps = 1
        while level and (room is None or steps < room):
            following: list[_At] = []
            for at in level:
                for target, bits in self.graph.steps(at[0]):
                    if target not in self.inside:
                        continue
                    left[0] -= 1
                    reached = target, self._visit(target, at[1], bits)
                    if reached in came or reached == first:
                        continue
                    came[reached] = at, bits
                    if target == start and self._fair(reached[1]):
                        return _loop(came, reached, first)
                    following.append(reached)
                if left[0] <= 0:
                    return None
            level = following
            steps += 1
        return None

    # One ask after the other.

    def _greedy(self, start: int) -> Loop:
        states, taken = [start], list[Bits]()
        while True:
            asked = _NOTHING
            for number, bits in zip(states, [0, *taken], strict=True):
                asked = self._visit(number, asked, bits)
            if not self._fair(asked):
                self._go(states, taken, functools.partial(self._helps, asked))
            elif states[-1] != start:
                self._go(states, taken, lambda number, _: number == start)
            else:
                return Loop(tuple(states[:-1] if taken else states), tuple(taken))

    def _helps(self, asked: _Asked, number: int, bits: Bits) -> bool:
        """Whether this step does something that the loop still needs."""
        then = self._visit(number, asked, bits)
        return (
            then.met > asked.met
            or bool(then.answered & ~asked.answered)
            or bool(then.taken & asked.enabled & ~asked.taken)
        )

    def _go(
        self, states: list[int], taken: list[Bits], wanted: Callable[[int, Bits], bool]
    ) -> None:
        """Go on to the nearest step that is wanted; a fair component has one."""
        first = states[-1]
        came: dict[int, tuple[int, Bits]] = {}
        queue = deque([first])
        while True:
            at = queue.popleft()
            for target, bits in self.graph.steps(at):
                if target not in self.inside:
                    continue
                if wanted(target, bits):
                    way = [(target, bits)]
                    while at != first:
                        before, how = came[at]
                        way.append((at, how))
                        at = before
                    states += [number for number, _ in reversed(way)]
                    taken += [how for _, how in reversed(way)]
                    return
                if target not in came and target != first:
                    came[target] = at, bits
                    queue.append(target)


def _loop(came: Mapping[_At, tuple[_At, Bits]], last: _At, first: _At) -> Loop:
    states, taken = list[int](), list[Bits]()
    while last != first:
        last, bits = came[last]
        states.append(last[0])
        taken.append(bits)
    return Loop(tuple(reversed(states)), tuple(reversed(taken)))
