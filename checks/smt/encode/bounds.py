"""The bounds of symbolic values, and which facts a question needs."""

from __future__ import annotations

from collections.abc import Iterable

from lawful.spec import types as t

from ..algebra.logic import Logic
from ..algebra.term import Term
from .sorts import NotEncodable
from .symbolic import Composite, Elements, OtherState, Unencodable, Value
from .values import Encoding


def inside(encoding: Encoding, value: Value, kind: t.Type) -> Term:
    """Whether a value keeps its type's bounds; a value that is no term, element by element."""
    match value:
        case Elements(rows=rows, item=item):
            wanted, logic = t.element(kind) or item, encoding.logic
            each = [logic.forall(r.names, r.when, inside(encoding, r.value, wanted)) for r in rows]
            if isinstance(kind, t.Seq) and kind.most is not None:
                each.append(logic.at_most(count(logic, value), logic.number(kind.most)))
            return logic.all(each)
        case Composite(fields=fields):
            whole = encoding.product(kind, len(fields))
            kinds = [of for _, of in encoding.variants(whole)[0][1]]
            pairs = zip(fields, kinds, strict=True)
            return encoding.logic.all(inside(encoding, v, k) for v, k in pairs)
        case Unencodable() | OtherState():
            return encoding.logic.true
        case _:
            return encoding.bounds(value, kind)


def pertinent(encoding: Encoding, facts: Iterable[Term]) -> tuple[Term, ...]:
    """The facts, without the encoding's facts about constants that occur nowhere else.

    Such constants belong to other questions. Which of those a process has asked before depends on
    the schedule, and must not change this question.
    """
    rows, known, mask = tuple(facts), {*encoding.facts}, 0
    for row in rows:
        mask |= 0 if row in known else row.free
    return tuple(row for row in rows if row not in known or not row.free & ~mask)


def limit(logic: Logic, value: Value, kind: t.Type) -> None:
    """Note the bounds of an integer constant's type, for the encoding of divisions.

    Every question about the constant has to contain these bounds as a fact.
    """
    match kind:
        case t.Int(low=int() as low, high=int() as high):
            if isinstance(value, Term) and value.op == "constant":
                logic.limit(value, low, high)
        case _:
            pass


def count(logic: Logic, elements: Elements) -> Term:
    """How many of the elements are there; raises NotEncodable where they are not listed."""
    if not elements.listed:
        raise NotEncodable("the length of a sequence without a bound")
    one, none = logic.number(1), logic.number(0)
    return logic.add(none, *(logic.choose(row.when, one, none) for row in elements.rows))
