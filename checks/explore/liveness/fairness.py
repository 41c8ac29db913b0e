"""Fairness groups of a machine, one bit for every value that they hold for separately.

A group is enabled in a state where one of its steps changes the state, and taken by such a step
only (language page, "Fairness"); steps that the scope cuts count as enabled.
"""

from __future__ import annotations

from typing import Any

from lawful.spec.flat import Flat
from lawful.spec.text.reasons import text
from lawful.spec.values.world import encode

Bits = int  # A set of groups.


class Groups:
    """Numbers the groups in the order in which their steps are met."""

    def __init__(self, flat: Flat) -> None:
        self.rows = flat.machine.fairness
        self.weak: Bits = 0
        self.strong: Bits = 0
        self._names: list[str] = []
        self._known: dict[tuple[int, tuple[Any, ...]], Bits] = {}
        self._kinds = [
            {name: kind for plan in rule.plans for name, kind in [(plan.name, plan.type)]}
            for rule in flat.rules
        ]
        self._of = [
            [(i, each) for i, (_, names, each) in enumerate(self.rows) if rule.name in names]
            for rule in flat.rules
        ]

    def bits(self, rule: int, args: tuple[Any, ...]) -> Bits:
        """The groups that a step belongs to."""
        found: Bits = 0
        for group, each in self._of[rule]:
            given = dict(zip(self._kinds[rule], args, strict=True))
            key = group, tuple(given[name] for name in each)
            bit = self._known.get(key)
            found |= self._new(key, self._kinds[rule]) if bit is None else bit
        return found

    def _new(self, key: tuple[int, tuple[Any, ...]], kinds: dict[str, Any]) -> Bits:
        bit = self._known[key] = 1 << len(self._names)
        strength, names, each = self.rows[key[0]]
        given = (
            f"{name} = {text(encode(value, kinds[name]))}"
            for name, value in zip(each, key[1], strict=True)
        )
        of = f" for {', '.join(given)}" if each else ""
        self._names.append(f"{strength} fairness of {' or '.join(names)}{of}")
        if strength == "weak":
            self.weak |= bit
        else:
            self.strong |= bit
        return bit

    def kept(self) -> tuple[Any, ...]:
        """The steps met so far as plain data, for a snapshot."""
        return self.weak, self.strong, self._names, self._known

    def go_on(self, data: tuple[Any, ...]) -> None:
        """Be as it was when these were kept."""
        self.weak, self.strong, self._names, self._known = data

    def named(self, bits: Bits) -> list[str]:
        """The names of these groups, in the order of their numbers."""
        return [name for i, name in enumerate(self._names) if bits >> i & 1]
