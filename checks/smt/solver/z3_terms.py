"""Z3's objects for our terms: the one module that imports Z3.

Z3 has no static types: `Any` is confined to this package.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast
from weakref import WeakKeyDictionary

import z3 as _z3

from ..algebra.logic import Logic
from ..algebra.term import Shape, Term, bound, fraction, numeral, occurs, variant

z3: Any = _z3


class Translation:
    """The Z3 objects of one context for the terms of one logic; each is made once.

    With `sparing`, quantifiers are instantiated at array reads only (`triggers`): that proves less,
    and ends soon.
    """

    def __init__(self, *, sparing: bool = False) -> None:
        self.sparing = sparing
        self.context = z3.Context()
        # Python may free an object of Z3 in any thread, while another one searches.
        z3.Z3_enable_concurrent_dec_ref(self.context.ref())
        self._terms: dict[Term, Any] = {}
        self._shapes: dict[Shape, Any] = {}
        self._functions: dict[tuple[object, ...], Any] = {}

    def shape(self, shape: Shape) -> Any:
        """Z3's sort."""
        if shape not in self._shapes:
            self._shapes[shape] = self._shape(shape)
        return self._shapes[shape]

    def _shape(self, shape: Shape) -> Any:
        match shape.of:
            case "bool":
                return z3.BoolSort(self.context)
            case "int":
                return z3.IntSort(self.context)
            case "real":
                return z3.RealSort(self.context)
            case "sort":
                return z3.DeclareSort(shape.name, self.context)
            case "array":
                return z3.ArraySort(*map(self.shape, shape.inner))
            case "data":
                # A field's accessor is named after its variant too: Z3 keeps one name space.
                new = z3.Datatype(shape.name, ctx=self.context)
                for name, fields in shape.variants:
                    new.declare(name, *((f"{name}.{f}", self.shape(of)) for f, of in fields))
                return new.create()

    def __call__(self, term: Term) -> Any:
        """Z3's term."""
        found = self._terms.get(term)
        if found is not None:
            return found
        stack = [term]
        while stack:
            each = stack[-1]
            left = [arg for arg in each.args if arg not in self._terms]
            if left:
                stack += left
            elif stack.pop() not in self._terms:
                self._terms[each] = self._made(each, [self._terms[arg] for arg in each.args])
        return self._terms[term]

    def _made(self, term: Term, args: list[Any]) -> Any:
        if term.op in OPERATORS:
            return OPERATORS[term.op](*args)
        match term.op:
            case "true" | "false":
                return z3.BoolVal(term.op == "true", self.context)
            case "constant":
                return z3.Const(str(term.data), self.shape(term.shape))
            case "value" if term.shape.of == "int":
                return z3.IntVal(numeral(term), self.context)
            case "value":
                exact = fraction(term)
                return z3.Q(exact.numerator, exact.denominator, self.context)
            case "everywhere":
                return z3.K(self.shape(term.shape.inner[0]), *args)
            case "forall":
                names = [self(name) for name in bound(term)]
                at = triggers(term) if self.sparing else []
                return z3.ForAll(names, args[0], patterns=[self(each) for each in at])
            case "lambda":
                return z3.Lambda([self(name) for name in bound(term)], args[0])
            case "make":
                return self.shape(term.shape).constructor(variant(term))(*args)
            case "is":
                return args[0].sort().recognizer(term.data)(*args)
            case "field":
                return args[0].sort().accessor(*cast(tuple[int, int], term.data))(*args)
            case _:
                shapes = tuple(arg.shape for arg in term.args)
                key = term.data, shapes, term.shape
                if key not in self._functions:
                    every = map(self.shape, (*shapes, term.shape))
                    self._functions[key] = z3.Function(str(term.data), *every)
                return self._functions[key](*args)

    def known(self, value: Any, shape: Shape, logic: Logic) -> Term:
        """A constant for a value from a model."""
        term = logic.const(f"value {value.sexpr()}", shape)
        self._terms.setdefault(term, value)
        return term


def triggers(term: Term) -> list[Term]:
    """The triggers of a quantifier: the reads of its containers at its bound keys.

    Without these, Z3 instantiates it at any term that reads a field of its own.
    """
    names, found, seen = bound(term), dict[Term, None](), set[Term]()
    stack = [*term.args]
    while stack:
        each = stack.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.op == "select" and each.args[1] in names and _is_path(each.args[0], names):
            found[each] = None
        stack += each.args
    return list(found) if len(names) == 1 else []


def _is_path(array: Term, names: tuple[Term, ...]) -> bool:
    """Whether it is a container in the state that does not depend on the bound names."""
    while array.op in ("select", "field"):
        key = array.args[-1]
        if array.op == "select" and (not _is_pattern(key) or any(occurs(n, key) for n in names)):
            return False
        array = array.args[0]
    return array.op == "constant" and array not in names


def _is_pattern(term: Term) -> bool:
    """Whether Z3 accepts it in a trigger: a term without conditions."""
    return term.op in PATTERN and all(map(_is_pattern, term.args))


def _quotient(a: Any, b: Any) -> Any:
    return a / b


OPERATORS: dict[str, Callable[..., Any]] = {
    "not": z3.Not,
    "and": z3.And,
    "if": z3.If,
    "=": operator.eq,
    "<=": operator.le,
    "+": z3.Sum,
    "*": operator.mul,
    "-": operator.neg,
    "div": _quotient,
    "mod": operator.mod,
    "real": z3.ToReal,
    "floor": z3.ToInt,
    "select": z3.Select,
    "store": z3.Store,
}

PATTERN = ("constant", "value", "make", "field", "select")

_made: WeakKeyDictionary[Logic, dict[bool, Translation]] = WeakKeyDictionary()


def translation(logic: Logic, *, sparing: bool = False) -> Translation:
    """The translation of this logic's terms."""
    made = _made.setdefault(logic, {})
    if sparing not in made:
        made[sparing] = Translation(sparing=sparing)
    return made[sparing]


def forget() -> None:
    """Give every question from now on a new context.

    Z3 searches differently when it has met the same terms in another order. With new contexts an
    answer does not depend on earlier questions.
    """
    _made.clear()


def renew(logic: Logic, *, sparing: bool = False) -> None:
    """Give the next question of this logic a new context.

    After Z3 has cut a search short, the next search in its context at times never ends, or crashes.
    """
    _made.setdefault(logic, {}).pop(sparing, None)
