"""Bounds of types: which values of a state break them, with the path to each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.text.reasons import text
from lawful.spec.values import bounds
from lawful.spec.values.unlike import unlike_keys, unlike_span
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
                return _breach(value, before, kind)

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


def _breach(value: Any, old: Any, kind: t.Type) -> str | None:
    """The breach of a value that replaces `old`, which was checked, or is None.

    Only entries of a container that are not in `old` are gone through, and all where one of them is
    out of bounds: the message names the first.
    """
    match kind:
        case t.Set(item=item) if old is not None:
            within = all(bounds.breach(each, item) is None for each in value - old)
        case t.Map(key=key, value=of) if old is not None:
            within = all(
                (k in old or bounds.breach(k, key) is None)
                and _breach(value[k], old.get(k), of) is None
                for k in unlike_keys(old, value)
            )
        case t.Seq(item=item, most=most) if old is not None:
            at, same = unlike_span(old, value)
            new = value[at : len(value) - same]
            within = most is None or len(value) <= most
            within = within and all(bounds.breach(each, item) is None for each in new)
        case _:
            within = False
    return None if within else bounds.breach(value, kind)
