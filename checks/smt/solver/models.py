"""Values from models as JSON, and JSON values as terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, islice, product
from math import prod
from typing import Any, cast

from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.values.world import EXACT, rank

from ..algebra.term import Term
from ..encode.sorts import NotEncodable
from ..encode.symbolic import (
    Composite,
    Elements,
    OtherState,
    Unencodable,
    Value,
)
from ..encode.time import stopped
from ..encode.values import Encoding
from .solve import FAR, Model, Undecided

MANY = 4096  # Keys of more values than this are shown only where the model names them.


class Witness:
    """Reads one model.

    `infinite`: not all of it can be written down. A collection in it is infinite, or its keys are
    not decided, or a real number is not that of the float that is written.
    """

    def __init__(self, encoding: Encoding, model: Model) -> None:
        self.encoding = encoding
        self.model = model
        self.infinite = False

    def value(self, value: Value, kind: t.Type) -> Json:
        """The JSON form of a value, as `spec.values` has it; `$unknown` for what has no encoding,
        or what the model does not decide."""
        match value:
            case Elements(rows=rows, item=item) if not any(row.names for row in rows):
                items = [self.value(r.value, item) for r in rows if self.model.truth(r.when)]
                return items if isinstance(kind, t.Seq) and kind.mutable else {"$tuple": items}
            case Composite(fields=fields):
                return self._named_fields(fields, kind)
            case Elements() | Unencodable() | OtherState():
                return {"$unknown": str(kind)}
            case _:
                try:
                    return self.term(value, kind)
                except Undecided:
                    self.infinite = True
                    return {"$unknown": str(kind)}

    def _named_fields(self, values: Sequence[Value], kind: t.Type) -> Json:
        kind = self.encoding.product(kind, len(values))
        fields = self.encoding.variants(kind)[0][1]
        pairs = zip(fields, values, strict=True)
        return _product_json({name: self.value(value, of) for (name, of), value in pairs}, kind)

    def term(self, term: Term, kind: t.Type) -> Json:
        """The JSON form of a term of this type."""
        model, encoding = self.model, self.encoding
        match kind:
            case t.Timer() if encoding.tick:
                left = model.integer(term)
                return None if left < 0 else _integer(left)
            case t.Bool() | t.Timer():
                return model.truth(term)
            case t.Text():
                return "..."  # The proof does not know it.
            case t.Int() | t.Clock():
                return _integer(model.integer(term))
            case t.Float():
                real = model.real(term)
                # Ticks are counted, not seconds: the float that is written may have others.
                same = model.truth(encoding.logic.equal(term, encoding.logic.fraction(real)))
                self.infinite = self.infinite or not same
                return real
            case t.Nothing():
                return None
            case t.Opaque(name=name):
                return {"$opaque": name, "id": model.number(term)}
            case t.Sort(name=name) if name not in encoding.options.sizes:
                return self._element(term, kind)
            case t.Enum() | t.Sort():
                return encoding.variants(kind)[model.variant(term)][0]
            case t.Union(options=options):
                i = model.variant(term)
                data = encoding.data(kind)
                if not data.variants[i][1]:
                    return None
                return self.term(encoding.logic.field(data, i, 0, term), options[i])
            case t.Record() | t.Tuple() | t.Part():
                return self._product(term, kind)
            case t.Seq(item=item, mutable=mutable):
                rows = encoding.items(term, kind)[: model.variant(term)]
                items = [self.term(value, item) for _, value in rows]
                return items if mutable else {"$tuple": items}
            case _:
                return self._container(term, kind)

    def _element(self, term: Term, kind: t.Sort) -> str:
        """The text of an element of a sort that may have any number of them."""
        named, logic = self.encoding.all_named(kind), self.encoding.logic
        for text, value in named.items():
            if self.model.truth(logic.equal(term, value)):
                return text
        others = (f"{kind.name}{i}" for i in count(1))
        free = (text for text in others if text not in named)
        return next(islice(free, self.model.number(term), None))

    def _product(self, term: Term, kind: t.Type) -> Json:
        data, fields = self.encoding.data(kind), self.encoding.variants(kind)[0][1]
        values = {
            name: self.term(self.encoding.logic.field(data, 0, i, term), of)
            for i, (name, of) in enumerate(fields)
        }
        return _product_json(values, kind)

    def _container(self, term: Term, kind: t.Type) -> Json:
        item = t.element(kind)
        assert item is not None
        pairs: list[tuple[Json, Json]] = []
        for key in self._keys(term, kind, item):
            there, value = self.encoding.get(kind, term, key)
            if self.model.truth(there):
                pairs.append((self.term(key, item), self._held(value, kind)))
            elif not self.model.truth(self.encoding.logic.negate(there)):
                self.infinite = True  # A model may leave open whether two sets are equal.
        pairs.sort(key=lambda pair: rank(pair[0]))
        if isinstance(kind, t.Set):
            return {"$set": [key for key, _ in pairs]}
        if isinstance(item, t.Enum | t.Sort | t.Text):
            return {str(k): v for k, v in pairs}
        return {"$map": [[k, v] for k, v in pairs]}

    def _held(self, value: Term, kind: t.Type) -> Json:
        if isinstance(kind, t.Set):
            return True
        return self.term(value, kind.value if isinstance(kind, t.Map) else t.INT)

    def _keys(self, term: Term, kind: t.Type, item: t.Type) -> Sequence[Term]:
        """Every key that may be in the container; sets `infinite` where there are always more."""
        encoding = self.encoding
        listed = encoding.keys(kind) if isinstance(kind, t.Map) and kind.total else None
        if listed is not None:
            return listed
        shape = encoding.shape(item)
        numbers = self.model.integers(term)
        far = numbers[-1] + FAR
        keys = self._values(item, numbers)
        beyond = self._values(item, [far])
        if keys is None or beyond is None:
            return self.model.mentioned(term, shape)
        if self._has_integers(item):
            there = [encoding.get(kind, term, key)[0] for key in beyond]
            self.infinite = self.infinite or any(self.model.truth(t) for t in there)
        return keys

    def _values(self, kind: t.Type, numbers: Sequence[int]) -> list[Term] | None:
        """Every value of a type whose integers are among these; None where there are too many."""
        encoding, logic = self.encoding, self.encoding.logic
        match kind:
            case t.Int():
                return [logic.number(i) for i in numbers]
            case t.Opaque():
                return self.model.elements(encoding.shape(kind))
            case t.Sort(name=name) if name not in encoding.options.sizes:
                return self.model.elements(encoding.shape(kind))
            case t.Record() | t.Tuple():
                columns = [self._values(of, numbers) for _, of in encoding.variants(kind)[0][1]]
                whole = [column for column in columns if column is not None]
                if len(whole) < len(columns) or prod(map(len, whole)) > MANY:
                    return None
                return [logic.make(encoding.data(kind), 0, row) for row in product(*whole)]
            case t.Union(options=options):
                found: list[Term] = []
                for i, option in enumerate(options):
                    values = self._values(option, numbers)
                    if values is None:
                        return None
                    found += [encoding.inject(value, kind, i) for value in values]
                return found
            case t.Set(item=item):
                return self._subsets(kind, item, numbers)
            case _:
                return encoding.universe(kind)

    def _subsets(self, kind: t.Set, item: t.Type, numbers: Sequence[int]) -> list[Term] | None:
        """Every finite set of elements; None where there are too many, or they have integers."""
        elements = None if self._has_integers(item) else self._values(item, numbers)
        if elements is None or 2 ** len(elements) > MANY:
            return None
        found = [self.encoding.empty(kind)]
        for each in elements:
            found += [self.encoding.logic.write(s, each, self.encoding.logic.true) for s in found]
        return found

    def _has_integers(self, kind: t.Type) -> bool:
        return t.contains(kind, t.Int)


def _product_json(values: dict[str, Json], kind: t.Type) -> Json:
    """The JSON form of a tuple, a record or a part from those of its fields."""
    match kind:
        case t.Tuple():
            return {"$tuple": list(values.values())}
        case t.Record(name=name):
            return {"$": name, **values}
        case _:
            return values


def _integer(value: int) -> Json:
    return {"$int": str(value)} if abs(value) > EXACT else value


def literal(encoding: Encoding, data: Any, kind: t.Type) -> Term:
    """The term for a value in JSON form.

    Raises NotEncodable for a type without encoding, and for a value that was not written down.
    """
    logic = encoding.logic
    if _is_untold(data):
        raise NotEncodable(f"a value of type {kind}")
    match kind:
        case t.Timer() if encoding.tick and data is None:
            return stopped(encoding)
        case t.Bool() | t.Timer() if not (encoding.tick and isinstance(kind, t.Timer)):
            return logic.truth(bool(data))
        case t.Text():
            return logic.true
        case t.Int() | t.Clock() | t.Timer():
            return logic.number(data if isinstance(data, int) else int(data["$int"]))
        case t.Float():
            return logic.fraction(data)
        case t.Nothing():
            return logic.make(encoding.data(kind), 0, [])
        case t.Opaque(name=name):
            return encoding.named(kind, f"{name} {data['id']}")
        case t.Sort(name=name) if name not in encoding.options.sizes:
            return encoding.named(kind, str(data))
        case t.Enum() | t.Sort():
            return encoding.element(kind, data)
        case t.Union(options=options):
            option = next(o for o in options if _is_of(data, o))
            return encoding.inject(literal(encoding, data, option), kind, options.index(option))
        case t.Record(fields=fields):
            args = [literal(encoding, data[name], of) for name, of in fields]
            return logic.make(encoding.data(kind), 0, args)
        case t.Tuple(items=items):
            args = [literal(encoding, d, i) for d, i in zip(data["$tuple"], items, strict=True)]
            return logic.make(encoding.data(kind), 0, args)
        case t.Seq(item=item):
            most = encoding.longest(kind)
            given: list[Any] = data["$tuple"] if _is_tuple(data) else data
            if len(given) > most:
                raise NotEncodable(f"a {kind} of {len(given)} items")
            return encoding.logic.make(
                encoding.data(kind), len(given), [literal(encoding, d, item) for d in given]
            )
        case t.Part():
            args = [literal(encoding, data[f], of) for f, of in encoding.variants(kind)[0][1]]
            return logic.make(encoding.data(kind), 0, args)
        case _:
            return _literal_container(encoding, data, kind)


def _is_of(data: Any, option: t.Type) -> bool:
    if isinstance(option, t.Nothing) or data is None:
        return data is None and isinstance(option, t.Nothing)
    if isinstance(option, t.Record):
        return _record_name(data) == option.name
    return _record_name(data) is None


def _is_untold(data: Any) -> bool:
    return isinstance(data, dict) and "$unknown" in data


def _is_tuple(data: Any) -> bool:
    return isinstance(data, dict) and "$tuple" in data


def _record_name(data: Any) -> str | None:
    if not isinstance(data, dict):
        return None
    return cast(dict[str, Any], data).get("$")


def _literal_container(encoding: Encoding, data: Any, kind: t.Type) -> Term:
    logic = encoding.logic
    made = encoding.empty(kind)
    match kind:
        case t.Set(item=item):
            for each in data["$set"]:
                made = logic.write(made, literal(encoding, each, item), logic.true)
        case t.Bag(item=item):
            for key, count in _pairs(data):
                made = logic.write(made, literal(encoding, key, item), logic.number(count))
        case t.Map(key=item, value=of, total=total):
            for key, value in _pairs(data):
                held = literal(encoding, value, of)
                entry = held if total else encoding.present(of, held)
                made = logic.write(made, literal(encoding, key, item), entry)
        case _:
            raise NotEncodable(f"a value of type {kind}")
    return made


def _pairs(data: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    return [(k, v) for k, v in data["$map"]] if "$map" in data else list(data.items())
