"""The scope applied: each type gets its bounds, each sort its size, each parameter its values.

Every parameter of a rule may then have every value of its type; `argument_plans` says how few of
them are enough.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .. import ir
from .. import types as t
from ..analysis.growth import growing_sorts
from ..analysis.named_elements import explored
from ..analysis.scope_keys import SERIAL, Keys, with_keys
from ..errors import Place, Problems, a, nearest
from ..flat import Flat, Plan, Rule
from ..ir import Json
from ..records import field_names, is_record_value
from ..values.bounds import belongs
from ..values.world import encode, rank
from ..words import Scope, Sort
from .serial_bits import Narrowed

Named = Mapping[str, tuple[str, ...]]  # The elements of each sort that the declaration names.


def with_bounds(narrowed: Narrowed, scope: Scope, named: Named, problems: Problems) -> Flat:
    """The machine within its scope, without plans; `named` are the elements that it names itself.

    Raises `DeclarationError` with `problems` and every bound that is missing or wrong.
    """
    return _Bounding(narrowed, scope, named, problems).run()


class _Bounding:
    def __init__(self, narrowed: Narrowed, scope: Scope, named: Named, problems: Problems) -> None:
        self.bounds = scope.bounds
        self.named = named
        self.inherited = scope.inherited
        self.problems = problems
        self.machine = narrowed.machine
        self.serials = narrowed.serials
        self.known: set[str] = {"Nat", "int", SERIAL}
        self.wrong: set[str] = set()
        self.sizes: dict[str, int] = {}
        self.tokens: dict[str, dict[str, int]] = {}  # The opaque values of parameters, numbered.
        self.long: dict[tuple[str, ...], bool] = {}  # Whether a number under these is a length.

    def run(self) -> Flat:
        m = self.machine
        sizes = self.sizes = {
            k.name: self._size(k.name, m.place) for k in m.types if isinstance(k, t.Sort | t.Opaque)
        }
        growing = {sort.name for sort in growing_sorts(m)}
        elements = tuple(
            (k.name, self._elements(k, sizes[k.name])) for k in m.types if isinstance(k, t.Sort)
        )
        fields = tuple(
            (owner.name, v.name, self._field(owner, v))
            for owner in (m, *m.parts)
            for v in owner.variables
        )
        parameters = tuple((p.name, self._values(p)) for p in m.parameters)
        initials = tuple(self._rule(f) for f in m.initials)
        declared = [row for row in m.transitions if not m.is_of_ignores(row)]
        rules = tuple(
            self._rule(dataclasses.replace(row.function, name=row.name)) for row in declared
        )
        rules += tuple(
            self._of_ignores(row, rules) for row in m.transitions if m.is_of_ignores(row)
        )
        properties = tuple(self._property(o, p) for o in (m, *m.parts) for p in o.properties)
        of_parts = {p.name: part.name for part in m.parts for p in part.parameters}
        for key in self.bounds:
            if key in self.known or key in self.inherited:
                continue
            if key in of_parts:
                self.problems.add(
                    "L302",
                    m.place,
                    f"{key} in the scope of {m.name}, whose it is not",
                    f"a parameter of {m.name}: that of a part is given where the part is made",
                    f"write {of_parts[key]}({key}=...) in {m.name}, or make it a parameter there",
                )
            else:
                self.problems.add(
                    "L302",
                    m.place,
                    f"{key} in the scope of {m.name}",
                    f"one of {', '.join(sorted(k for k in self.known if k.isidentifier()))}",
                    nearest(key, self.known, "remove the key"),
                )
        self.problems.stop_if_any()
        text = tuple(
            (k, f"1..{v} (growing)" if k in growing else _spelled(v))
            for k, v in self.bounds.items()
        )
        return Flat(
            *(m, tuple(sizes.items()), fields, parameters, initials, rules, properties, text),
            serials=self.serials,
            elements=elements,
        )

    def _elements(self, sort: t.Sort, size: int) -> tuple[str, ...]:
        """The elements of a sort that are explored."""
        found = explored(sort.name, size, self.named)
        if sort.growing and len(found) == 1:
            self.problems.add(
                "L303",
                self.machine.place,
                f"{sort.name}=1, which can only begin and never grow",
                "two elements or more of a growing sort",
                f"Scope({sort.name}=2)",
            )
        if sort.ordered and size and len(found) > size:
            self.problems.add(
                "L303",
                self.machine.place,
                f"{sort.name}({found[size]!r}) in {self.machine.name}, beside "
                f"{sort.name}={size}: its place in the order is not known",
                f"one of {', '.join(found[:size])}",
                "make the element a Param, and let the scope give values",
            )
        return found

    def _size(self, name: str, place: Place) -> int:
        self.known.add(name)
        size = self.bounds.get(name)
        if type(size) is int and size >= 1:
            return size
        number = "L301" if size is None else "L303"
        self.problems.add(
            number,
            place,
            name if size is None else f"{name}={size!r}",
            "its number of elements",
            f"Scope({name}=2)",
        )
        return 0

    def _field(self, owner: ir.Machine, v: ir.Variable) -> t.Type:
        names = f"{owner.name}.{v.name}", v.name
        if isinstance(v.type, t.Clock):
            # A part's clock is that of the whole.
            return self._clock(v.type, names, v.place) if owner is self.machine else v.type
        return self.scoped(v.type, names, v.place)

    def _clock(self, kind: t.Clock, names: tuple[str, str], place: Place) -> t.Type:
        """The clock with its last tick within the scope."""
        self.known.update(names)
        found, example = self._bound(names), f"Scope({names[1]}=range(0, 6))"
        if found is None:
            what = f"{names[1]}: Clock"
            self.problems.add("L301", place, what, "a range of ticks, from 0 on", example)
            return kind
        ticks = range(found + 1) if type(found) is int and found >= 0 else found
        if isinstance(ticks, range) and ticks.step == 1 and ticks.start == 0 and len(ticks):
            return dataclasses.replace(kind, most=ticks.stop - 1)
        what = f"{names[1]}={found!r}"
        self.problems.add("L303", place, what, "a range of ticks, from 0 on", example)
        return kind

    def scoped(self, kind: t.Type, names: tuple[str, ...], place: Place) -> t.Type:
        """The type with the scope's bounds; `names` are the keys that may give them."""

        def bounded(each: t.Type, keys: Keys) -> t.Type:
            self.known.update(keys)
            self.long.setdefault(keys, _has_length(each))
            match each:
                case t.Serial():
                    return each  # It has the scope's bits already.
                case t.Int():
                    return self._integer(each, keys, place)
                case t.Seq(most=None) | t.Bag(most=None):
                    return dataclasses.replace(each, most=self._length(each, keys, place))
                case _:
                    return each

        return with_keys(kind, names, bounded)

    def _integer(self, kind: t.Int, names: tuple[str, ...], place: Place) -> t.Type:
        finite = kind.low is not None and kind.high is not None
        # What has bounds of its own is not an integer like any other.
        own = () if self.long[names] and type(self._bound(names)) is int else names
        # Integers of a `NewType` have a key of their own, and else that of the plain ones.
        self.known.add(kind.name)
        plain = "int" if kind.low is None else "Nat"
        found = self._bound(own if finite else (*own, kind.name, plain))
        if found is None and finite:
            return kind
        if isinstance(found, range) and found.step == 1 and len(found):
            low = found.start if kind.low is None else max(found.start, kind.low)
            high = found.stop - 1 if kind.high is None else min(found.stop - 1, kind.high)
            if low <= high:
                return t.Int(low, high, kind.name)
        key = next((n for n in own if n.isidentifier()), kind.name)
        if found is None:
            rewrite = f"Scope({key}=range(0, 4))"
            if key != kind.name:
                rewrite += f", or Scope({kind.name}=range(0, 4)) for all of them"
            self.problems.add(
                "L301", place, f"{key}: {kind}", "a range of consecutive integers", rewrite
            )
        else:
            given = next(n for n in (*names, kind.name, plain) if n in self.bounds)
            self._wrong_range(given, found, kind, place)
        return t.Int(0, 0, kind.name)

    def _wrong_range(self, key: str, found: object, kind: t.Int, place: Place) -> None:
        """Note a range that is none; one for all integers of a kind is noted once."""
        if key not in self.wrong:
            self.wrong.add(key)
            self.problems.add(
                "L303",
                place,
                f"{key}={found!r}",
                f"a range of consecutive integers that {a(kind)} can have",
                f"Scope({key}=range(0, 4))",
            )

    def _is_variable(self, name: str) -> bool:
        return any(v.name == name for v in self.machine.variables)

    def _length(self, kind: t.Type, names: tuple[str, ...], place: Place) -> int:
        found = self._bound(names)
        if type(found) is int and found >= 0:
            return found
        key = names[-1]
        if names[0] != f"{self.machine.name}.{key}" and self._is_variable(key):
            key = names[0]  # The plain name is that of a variable, too.
        example = f"Scope({key}=3)" if key.isidentifier() else f'Scope({{"{key}": 3}})'
        number = "L301" if found is None else "L303"
        self.problems.add(
            number,
            place,
            f"{key}: {kind}" if found is None else f"{key}={found!r}",
            "its greatest length or total",
            example,
        )
        return 0

    def _bound(self, names: Iterable[str]) -> Any:
        return next((self.bounds[name] for name in names if name in self.bounds), None)

    def _values(self, p: ir.Parameter) -> tuple[Json, ...]:
        """The values to try for a parameter of the machine, in JSON form."""
        self.known.update((p.name, f"{self.machine.name}.{p.name}"))
        given = self._bound((f"{self.machine.name}.{p.name}", p.name))
        if given is None:
            if isinstance(p.type, t.Opaque) and p.default is None:
                return tuple(_token(p.type.name, i) for i in range(self.sizes[p.type.name]))
            if p.default is None:
                example = f'{p.type}("{p.type}1"),' if isinstance(p.type, t.Sort) else "1, 2"
                self.problems.add(
                    "L301",
                    p.place,
                    f"{p.name}: {p.type}, without a default",
                    "the values to try",
                    f"Scope({p.name}=({example})), or a default in the declaration",
                )
            return ()
        several = given.__class__ in (tuple, list, range, set, frozenset)
        values: tuple[Any, ...] = tuple(given) if several else ()
        wrong = [v for v in values if not belongs(v, p.type)]
        if not values or wrong:
            found = f"{wrong[0]!r} for {p.name}: {p.type}" if wrong else f"{p.name}={given!r}"
            self.problems.add(
                "L303",
                p.place,
                found,
                f"a tuple of values of type {p.type}",
                f"Scope({p.name}=(...,)) with the values to try",
            )
            return ()
        self._explored(p, values)
        encoded = [self._numbered(encode(value, p.type), p) for value in values]
        # The order of a set is that of nothing.
        return tuple(sorted(encoded, key=rank) if given.__class__ in (set, frozenset) else encoded)

    def _numbered(self, data: Any, p: ir.Parameter) -> Any:
        """The same with one of the scope's values for each opaque value."""
        if data.__class__ is list:
            return [self._numbered(each, p) for each in data]
        if data.__class__ is not dict:
            return data
        if data.keys() != {"$opaque", "id"}:
            return {key: self._numbered(each, p) for key, each in data.items()}
        name: str = data["$opaque"]
        known = self.tokens.setdefault(name, {})
        number = known.setdefault(data["id"], len(known))
        if number == self.sizes[name]:
            self.problems.add(
                "L303",
                p.place,
                f"{len(known)} values of {name} in parameters",
                f"at most {name}={self.sizes[name]}, as many as the scope has",
                f"Scope({name}={len(known)}), or fewer values of {p.name}",
            )
        return _token(name, number)

    def _explored(self, p: ir.Parameter, values: tuple[Any, ...]) -> None:
        """The types with the scope's elements of each sort."""
        for element in (e for value in values for e in _elements(value)):
            name = type(element).__name__
            size = self.bounds.get(name)
            known = explored(name, size, self.named) if type(size) is int else ()
            if known and str(element) not in known:
                self.problems.add(
                    "L303",
                    p.place,
                    f"{element!r} in {p.name}",
                    f"one of {', '.join(known)}",
                    f"name elements that Scope({name}={size}) explores",
                )

    def _rule(self, f: ir.Function) -> Rule:
        plans: list[Plan] = []
        for name, kind in f.params:
            scoped = self.scoped(kind, (f"{f.name}.{name}", name), f.place)
            if isinstance(scoped, t.Float):
                self.problems.add(
                    "L304",
                    f.place,
                    f"{name}: float",
                    "a type with finitely many values",
                    "make it a Param, or count in integers",
                )
            plans.append(Plan(name, scoped))
        return Rule(f.name, tuple(plans))

    def _of_ignores(self, row: ir.Transition, rules: tuple[Rule, ...]) -> Rule:
        """The step of an event's `ignore`s: its arguments are those of the event's transition."""
        serving = [served.name for served in self.machine.serving(row.event)]
        found = next((rule for rule in rules if rule.name in serving), None)
        if found is None:
            return dataclasses.replace(
                self._rule(dataclasses.replace(row.function, name=row.event)), name=row.name
            )
        kinds = zip(row.function.params, found.plans, strict=True)
        return Rule(row.name, tuple(Plan(name, plan.type) for (name, _), plan in kinds))

    def _property(self, owner: ir.Machine, p: ir.Property) -> Rule:
        params = p.function.params[1 if p.kind == "step_property" else 0 :]
        name = f"{owner.name}.{p.name}"
        return self._rule(dataclasses.replace(p.function, name=name, params=params))


def _token(opaque: str, number: int) -> dict[str, Json]:
    """The JSON form of one of the values that exploration gives an opaque type."""
    return {"$opaque": opaque, "id": number}


def _has_length(kind: t.Type) -> bool:
    """Whether a type has a list, tuple or bag inside whose length its field's name gives."""
    match kind:
        case t.Seq(most=most) | t.Bag(most=most):
            return most is None
        case t.Union(options=inner) | t.Tuple(items=inner):
            return any(map(_has_length, inner))
        case t.Map(key=key, value=value):
            return _has_length(key) or _has_length(value)
        case t.Set(item=item):
            return _has_length(item)
        case _:
            return False


def _elements(value: Any) -> Iterator[Sort]:
    """The elements of sorts inside a value."""
    inside: Iterable[Any] = ()
    if isinstance(value, Sort):
        yield value
    elif is_record_value(value):
        inside = (getattr(value, name) for name in field_names(value.__class__))
    elif issubclass(value.__class__, Mapping):
        inside = value.items()
    elif value.__class__ in (tuple, list, set, frozenset):
        inside = value
    for each in inside:
        yield from _elements(each)


def _spelled(value: Any) -> str:
    if isinstance(value, range):
        return f"{value.start}..{value.stop - 1}"
    if value.__class__ in (tuple, list):
        return ",".join(v.name if isinstance(v, enum.Enum) else str(v) for v in value)
    return str(value)
