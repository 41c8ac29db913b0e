"""What `parse` gives: the syntax of a declaration in our own words, names not yet looked up.

Method := params, body: Statement*
Statement := Set | Augment | Delete | Evaluate | Choose | Match | Each | While | Give | Claim | Skip
           | Leave | Next
Expression := Literal | Name | Attribute | Subscript | Cut | Apply | Binary | Unary | Compare
            | Both | Either | Conditional | Display | Pairs | Comprehension | Interpolated
            | Formatted | Function
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, cast

from ..errors import Place, Problem
from ..quick_dataclass import dataclass

if TYPE_CHECKING:
    from ..ir import Plain


# The names into which a tuple that a loop gives is taken apart, those of outer tuples first.
Inner = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Tree:
    place: Place


@dataclass(frozen=True, slots=True)
class Literal(Tree):
    value: Plain


@dataclass(frozen=True, slots=True)
class Name(Tree):
    name: str


@dataclass(frozen=True, slots=True)
class Attribute(Tree):
    of: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Subscript(Tree):
    of: Expression
    key: Expression


@dataclass(frozen=True, slots=True)
class Cut(Tree):
    """A slice `of[low:high]`, or `of[::-1]`, which is `backwards`."""

    of: Expression
    low: Expression | None
    high: Expression | None
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class Apply(Tree):
    function: Expression
    args: tuple[Expression, ...]
    keywords: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Binary(Tree):
    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Unary(Tree):
    op: str
    of: Expression


@dataclass(frozen=True, slots=True)
class Compare(Tree):
    first: Expression
    rest: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Both(Tree):
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Either(Tree):
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Tree):
    test: Expression
    then: Expression
    other: Expression


@dataclass(frozen=True, slots=True)
class Display(Tree):
    """A `set`, `list` or `tuple` written out; `empty` is whichever of them is meant."""

    kind: str
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Pairs(Tree):
    """A dict written out."""

    items: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class For(Tree):
    """`inner` are names that are tuples of names themselves: `(a, b)` in `for (a, b), n in m`."""

    names: tuple[str, ...]
    over: Expression
    conditions: tuple[Expression, ...]
    inner: Inner = ()


@dataclass(frozen=True, slots=True)
class Comprehension(Tree):
    """`kind` is set, list, map or generator; `key` is given for maps alone."""

    kind: str
    element: Expression
    key: Expression | None
    clauses: tuple[For, ...]


@dataclass(frozen=True, slots=True)
class Interpolated(Tree):
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Formatted(Tree):
    """A part of an f-string that says how its text is made: `{x:>4}`; of `{x!r}` it is `QUOTED`."""

    value: Expression
    spec: str


QUOTED = "!r"


@dataclass(frozen=True, slots=True)
class Function(Tree):
    """A lambda."""

    params: tuple[str, ...]
    body: Expression


Expression = (
    Literal
    | Name
    | Attribute
    | Subscript
    | Cut
    | Apply
    | Binary
    | Unary
    | Compare
    | Both
    | Either
    | Conditional
    | Display
    | Pairs
    | Comprehension
    | Interpolated
    | Formatted
    | Function
)


@dataclass(frozen=True, slots=True)
class Set(Tree):
    """`target = value`; `typed` if it has an annotation, whose names are looked up later."""

    target: Expression
    value: Expression
    annotation: str | None


@dataclass(frozen=True, slots=True)
class Augment(Tree):
    op: str
    target: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class Delete(Tree):
    target: Expression


@dataclass(frozen=True, slots=True)
class Evaluate(Tree):
    value: Expression


@dataclass(frozen=True, slots=True)
class Choose(Tree):
    test: Expression
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Pattern(Tree):
    """One alternative of a case: a value, a class with field patterns, a capture, or anything.

    `items` are the patterns of the items of a tuple or list. `rest` is where a star stands among
    them, `[first, *others]`, and the name that it binds, if any.
    """

    value: Expression | None
    cls: Expression | None
    positional: tuple[tuple[Pattern, ...], ...]
    keyword: tuple[tuple[str, tuple[Pattern, ...]], ...]
    capture: str | None
    items: tuple[tuple[Pattern, ...], ...] | None = None
    rest: tuple[int, str | None] | None = None


@dataclass(frozen=True, slots=True)
class Case(Tree):
    patterns: tuple[Pattern, ...]
    guard: Expression | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Match(Tree):
    subject: Expression
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Each(Tree):
    names: tuple[str, ...]
    over: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class While(Tree):
    test: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Give(Tree):
    value: Expression | None


@dataclass(frozen=True, slots=True)
class Claim(Tree):
    test: Expression


@dataclass(frozen=True, slots=True)
class Skip(Tree):
    pass


@dataclass(frozen=True, slots=True)
class Leave(Tree):
    pass


@dataclass(frozen=True, slots=True)
class Next(Tree):
    pass


Statement = (
    Set
    | Augment
    | Delete
    | Evaluate
    | Choose
    | Match
    | Each
    | While
    | Give
    | Claim
    | Skip
    | Leave
    | Next
)


BLOCKS = (Choose, Match, Each, While)  # The statements that have others inside.


@dataclass(frozen=True, slots=True)
class Method(Tree):
    """A function of the class body or of a module; `problems` count only if it is used.

    `params` without a default come first. `unwritten`: its body is `raise NotImplementedError`, as
    an event's may be.
    """

    name: str
    params: tuple[str, ...]
    body: tuple[Statement, ...]
    doc: str
    problems: tuple[Problem, ...]
    decorators: tuple[Place, ...] = ()
    unwritten: bool = False


@dataclass(frozen=True, slots=True)
class FieldDeclared(Tree):
    name: str
    default: Expression | None


@dataclass(frozen=True, slots=True)
class Class(Tree):
    """The class statement: fields and methods in order; `assigned` has the places of other
    assignments.

    `lambdas` holds the functions given to `ignore(when=...)`, by the name assigned.
    """

    name: str
    doc: str
    fields: tuple[FieldDeclared, ...]
    methods: tuple[Method, ...]
    assigned: tuple[tuple[str, Place], ...]
    lambdas: tuple[tuple[str, Function], ...]
    bases: tuple[Place, ...] = ()


def nodes(value: object) -> Iterator[Tree]:
    """A node and all that is in it, or all that is in several."""
    if isinstance(value, Tree):
        yield value
        for each in fields(value):
            yield from nodes(getattr(value, each.name))
    elif isinstance(value, tuple):
        for item in cast(tuple[object, ...], value):
            yield from nodes(item)


def assigned_names(body: tuple[Statement, ...]) -> frozenset[str]:
    """The names that statements assign anywhere: in Python they are local from the first line."""
    return frozenset(name for stmt in body for name in _assigned(stmt))


def _assigned(stmt: Statement) -> Iterator[str]:
    yield from assigned_by(stmt)
    match stmt:
        case Choose(then=then, other=other):
            yield from assigned_names((*then, *other))
        case Each(body=body) | While(body=body):
            yield from assigned_names(body)
        case Match(cases=cases):
            for case in cases:
                yield from assigned_names(case.body)
        case _:
            pass


def assigned_by(node: Tree) -> Iterator[str]:
    """The names that one statement assigns, without the statements inside it."""
    match node:
        case Set(target=target) | Augment(target=target):
            for each in target.items if isinstance(target, Display) else (target,):
                if isinstance(each, Name):
                    yield each.name
        case Each(names=names):
            yield from names
        case Match(cases=cases):
            for case in cases:
                for pattern in case.patterns:
                    yield from captured(pattern)
        case _:
            pass


def captured(pattern: Pattern) -> Iterator[str]:
    """The names that a pattern binds."""
    if pattern.capture is not None:
        yield pattern.capture
    if pattern.rest is not None and pattern.rest[1] is not None:
        yield pattern.rest[1]
    keyword = (given for _, given in pattern.keyword)
    for each in (*pattern.positional, *keyword, *(pattern.items or ())):
        for alternative in each:
            yield from captured(alternative)
