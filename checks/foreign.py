"""Z3 itself: the one place that imports it, and what is asked of its objects.

Z3 has no types of its own: what is typed `Term` or `Shape` is its object, and `Any` is confined to
the files that say `z3`.
"""

from __future__ import annotations

from typing import Any, NewType, final

import z3 as _z3

z3: Any = _z3


@final
class Foreign:
    """An object of Z3; only this file, `logic` and `solve` look inside."""


Term = NewType("Term", Foreign)
Shape = NewType("Shape", Foreign)


def inner(term: object) -> Any:
    """The object, without a type."""
    return term


def number(term: Term) -> int:
    """Its number: terms that are one have one number, as long as they are kept."""
    return int(inner(term).get_id())


def order(term: Term) -> tuple[int, int]:
    """A key for an order of terms that is, but for rare terms alike, the same in every context."""
    return int(inner(term).hash()), number(term)


def arguments(term: Term) -> list[Term]:
    """What the term is applied to."""
    return [Term(arg) for arg in inner(term).children()]


def bound_names(term: Term) -> list[str]:
    """The names that the term itself binds."""
    t = inner(term)
    return [t.var_name(i) for i in range(t.num_vars())] if z3.is_quantifier(t) else []


def is_value(term: Term) -> bool:
    """Whether it is a numeral."""
    return bool(z3.is_int_value(term) or z3.is_rational_value(term))


def is_literal(term: Term) -> bool:
    """Whether it is `true` or `false`."""
    return bool(z3.is_true(term) or z3.is_false(term))


def is_boolean(term: Term) -> bool:
    """Whether it is a condition."""
    # Z3's own `is_bool` takes a lambda for a condition.
    return bool(inner(term).sort().kind() == z3.Z3_BOOL_SORT)


def is_constructed(term: Term) -> bool:
    """Whether it is made by a constructor."""
    return bool(z3.is_app_of(term, z3.Z3_OP_DT_CONSTRUCTOR))


def is_by_cases(term: Term) -> bool:
    """Whether it is an array that a lambda gives, at some point."""
    t = inner(term)
    if z3.is_quantifier(t):
        return bool(t.is_lambda())
    if not isinstance(t.sort(), z3.ArraySortRef):
        return False
    if z3.is_store(t) or z3.is_app_of(t, z3.Z3_OP_ITE):
        return any(is_by_cases(arg) for arg in arguments(term))
    return False


def variant_of(term: Term) -> int:
    """Which variant of its datatype a term made by a constructor is."""
    sort, constructor = inner(term).sort(), inner(term).decl()
    return next(i for i in range(sort.num_constructors()) if constructor.eq(sort.constructor(i)))


def recognizer_of(term: Term) -> Any:
    """The test for the variant that the term is."""
    return inner(term).sort().recognizer(variant_of(term))


def accessors_of(term: Term) -> list[Any]:
    """The fields of the variant that the term is."""
    sort, variant = inner(term).sort(), variant_of(term)
    return [sort.accessor(variant, i) for i in range(inner(term).num_args())]


def same(a: Term, b: Term) -> bool:
    """Whether both are one term."""
    return bool(inner(a).eq(b))


def conjuncts(term: Term) -> list[Term]:
    """The parts of a conjunction, all the way down."""
    if not z3.is_and(term):
        return [term]
    return [part for arg in arguments(term) for part in conjuncts(arg)]


def occurs(name: Term, term: Term) -> bool:
    """Whether the constant occurs in the term."""
    seen: set[int] = set()
    stack = [term]
    while stack:
        each = stack.pop()
        if number(each) in seen:
            continue
        seen.add(number(each))
        if same(each, name):
            return True
        stack.extend(arguments(each))
    return False
