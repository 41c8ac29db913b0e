"""Bounds of types: which values of a state break them, with the path to each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.text.reasons import text
from lawful.spec.values import bounds
from lawful.spec.values.world import encode

from .states import State


@dataclass(frozen=True, slots=True)
class Breaches:
    """Checks the states of machines; parameters of `whole` were checked when they were given."""

    machines: Mapping[str, ir.Machine]
    whole: str

    def of(self, machine: str, state: State, before: State | None) -> str | None:
        """The first breach, or None; values that are the same object in `before` were checked."""
        m = self.machines[machine]
        fixed = () if machine == self.whole else m.parameters
        rows = [(v.name, v.type) for v in m.variables] + [(p.name, p.type) for p in fixed]
        for i, (name, kind) in enumerate(rows):
            value, old = state[i], None if before is None else before[i]
            if value is old:
                continue
            found = self._in(kind, value, old)
            if found is not None:
                return f"{name}{found}" if found[0] in ".[ " else f"{name}: {found}"
        return None

    def _in(self, kind: t.Type, value: Any, before: Any) -> str | None:
        match kind:
            case t.Part(machine=name):
                found = self.of(name, value, before)
                return None if found is None else f".{found}"
            case t.Map(key=key, value=t.Part() as part):
                return self._in_family(key, part, value, before or {})
            case _:
                return bounds.breach(value, kind)

    def _in_family(
        self, key: t.Type, part: t.Part, value: Mapping[Any, State], before: Mapping[Any, State]
    ) -> str | None:
        for k, member in value.items():
            found = bounds.breach(k, key)
            if found is not None:
                return f" as key: {found}"
            found = self._in(part, member, before.get(k))
            if found is not None:
                return f"[{text(encode(k, key))}]{found}"
        return None
