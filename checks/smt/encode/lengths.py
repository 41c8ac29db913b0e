"""Greatest lengths of lists and sequences: by `MaxLen`, or by the scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.scope_keys import Keys, with_keys


@lru_cache(maxsize=4096)
def erase(type: t.Type) -> t.Type:
    """The type without bounds and mutability, on which its encoding does not depend."""
    match type:
        case t.Int():
            return t.INT
        case t.Record(name=name, fields=fields):
            return t.Record(name, tuple((f, erase(ft)) for f, ft in fields))
        case t.Union(options=options):
            return t.union(tuple(erase(option) for option in options))
        case t.Tuple(items=items):
            return t.Tuple(tuple(erase(item) for item in items))
        case t.Seq(item=item):
            return t.Seq(erase(item), mutable=False)
        case t.Set(item=item):
            return t.Set(erase(item), mutable=False)
        case t.Map(key=key, value=value, total=total):
            return t.Map(erase(key), erase(value), mutable=False, total=total)
        case t.Bag(item=item):
            return t.Bag(erase(item))
        case t.Timer():
            return t.Timer()
        case t.Clock():
            return t.Clock()
        case _:
            return type


class Lengths:
    """The greatest lengths of sequences: `longest` by type of item, and `used` by key of the scope.

    All sequences of one type of item share a shape, which has room for the longest of them.
    """

    def __init__(self, machine: ir.Machine, sizes: Mapping[str, int]) -> None:
        self.sizes = sizes
        self.longest: dict[t.Type, int] = {}
        self.used: dict[str, int] = {}
        unbounded: list[tuple[str, t.Type]] = []
        for names, kind in _places(machine):
            for seq in _sequences(self.scoped(kind, names)):
                item = erase(seq.item)
                if seq.most is None:
                    unbounded.append((names[-1], item))
                else:
                    self.longest[item] = max(seq.most, self.longest.get(item, 0))
        for name, item in unbounded:
            if item in self.longest:
                self.used[name] = self.longest[item]

    def variables(self, machine: ir.Machine) -> dict[str, t.Type]:
        """The variables whose lengths the scope bounds: their types with no other bounds."""
        found: dict[str, t.Type] = {}
        for v in machine.variables:
            names, plain = (f"{machine.name}.{v.name}", v.name), erase(v.type)
            if self.scoped(v.type, names) == v.type:
                continue
            if isinstance(v.type, t.Map) and isinstance(plain, t.Map) and plain.total:
                plain = replace(plain, key=v.type.key)  # A total map has no values at other keys.
            found[v.name] = self.scoped(plain, names)
        return found

    def scoped(self, kind: t.Type, names: tuple[str, ...]) -> t.Type:
        """The type with the scope's lengths; `names` are the keys that may give them."""

        def limited(each: t.Type, keys: Keys) -> t.Type:
            given = next((key for key in keys if key in self.sizes), None)
            if not isinstance(each, t.Seq) or each.most is not None or given is None:
                return each
            self.used[given] = self.sizes[given]
            return replace(each, most=self.sizes[given])

        return with_keys(kind, names, limited)


def _places(machine: ir.Machine) -> Iterator[tuple[tuple[str, ...], t.Type]]:
    """Each variable, parameter and argument: the keys of the scope that bound it, and its type."""
    for v in machine.variables:
        yield (f"{machine.name}.{v.name}", v.name), v.type
    for p in machine.parameters:
        yield (f"{machine.name}.{p.name}", p.name), p.type
    taken = [*(row.function for row in machine.transitions), *machine.initials]
    for f in (*taken, *(p.function for p in machine.properties)):
        yield from (((f"{f.name}.{name}", name), kind) for name, kind in f.params)
    for part in machine.parts:
        yield from _places(part)


def _sequences(kind: t.Type) -> Iterator[t.Seq]:
    """The sequence types in a type, itself included."""
    return (each for each in t.inside(kind) if isinstance(each, t.Seq))
