"""Values from outside: type checks and conversion, for arguments, parameters and snapshots.

A check raises TypeError for a value of another type, ValueError for a value out of bounds, for an
element that is not in the instance's universe, and for a total map without one of its keys. Both
name the argument and the place in it. A check returns the value as the machine keeps it: containers
that the caller could change later are copied, and values that hold them are rebuilt.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from lawful.spec import types as t
from lawful.spec.errors import a
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.values.bounds import Values, bounded, breach
from lawful.spec.values.opaques import ENCODED, classes_in, is_number, mixed
from lawful.spec.values.text import shown
from lawful.spec.values.world import FrozenBag, FrozenMap, Token, World
from lawful.spec.words import Sort

from ..elements import NO_ELEMENTS, Elements
from ..kernel.signal_handlers import let_out
from ..kernel.state import Untold
from .global_names import GlobalNames
from .python_ast import all_of, any_of, attribute, call, compare, if_, name, outside, target

Check = Callable[..., Any]  # Of a value, and of the elements of the sorts where they are known.
MOST_TESTS = 30  # For more tests the generated code calls the check at once.
PLAIN: dict[type[t.Type], type[Any]] = {t.Seq: tuple, t.Set: frozenset, t.Map: FrozenMap}
SEQUENCES: dict[bool, tuple[type[Any], ...]] = {True: (list,), False: (tuple, list)}
SETS: dict[bool, tuple[type[Any], ...]] = {True: (set,), False: (frozenset, set)}
MOST_NAMED = 5  # Missing keys that a message names.


@dataclass(frozen=True, slots=True)
class ValueContext:
    """The context of a check: the machine's classes, and the elements of its sorts.

    `anyhow`: a total map over a sort that the universe lacks may have any keys.
    """

    world: World
    elements: Elements
    anyhow: bool = False


def checker(what: str, kind: t.Type, world: World) -> Check:
    """The function that returns a value as the machine keeps it, or raises."""

    def check(value: Any, elements: Elements = NO_ELEMENTS) -> Any:
        return admitted(value, kind, ValueContext(world, elements), what)

    return check


def admitted(value: Any, kind: t.Type, known: ValueContext, what: str) -> Any:
    """The value as the machine keeps it; TypeError or ValueError where it is not of the type."""
    mine = taken(value, kind, known, what)
    found = breach(mine, kind) if bounded(kind) else None
    if found is not None:
        raise ValueError(f"{what}{_joined(found)}")
    return mine


def _joined(found: str) -> str:
    return found if found.startswith((".", "[")) else f": {found}"


def taken(value: Any, kind: t.Type, known: ValueContext, what: str) -> Any:
    """The value as the machine keeps it, its bounds not checked.

    TypeError where it is of another type; ValueError where the universe lacks an element in it, or
    a total map lacks a key."""
    cls: Any = value.__class__
    match kind:
        case t.Int() if cls is int:
            return value
        case t.Bool() if cls is bool:
            return value
        case t.Float() if cls is float or cls is int:
            return value
        case t.Text() if cls is str:
            return value
        case t.Nothing() if value is None:
            return value
        case t.Enum(name=key) if isinstance(value, known.world.enums[key]):
            return value
        case t.Literal(name=key, members=texts) if cls is str and value in texts:
            return known.world.enums[key][value]
        case t.Sort(name=key) if cls is known.world.sorts[key]:
            if str(value) not in known.elements.members[key]:
                raise ValueError(f"{what}: {value!r} is no element of the universe")
            return value
        case t.Opaque(name=key) if cls.__hash__ is not None and value is not None:
            if _is_unlike_itself(value):
                raise ValueError(f"{what}: {value!r} is not equal to itself")
            _declared(value, key, known.world, what)
            number = known.world.opaques.get(key, int)
            other = mixed(value, number)
            if other is not None:
                numbers = f"{kind}, whose numbers are of type {number.__name__}"
                raise TypeError(f"{what} is a {numbers}, not {other!r}, {a(type(other).__name__)}")
            return value
        case t.Record(name=key, fields=fields) if cls is known.world.records[key]:
            held = [getattr(value, field) for field, _ in fields]
            mine = [
                taken(each, of, known, f"{what}.{field}")
                for each, (field, of) in zip(held, fields, strict=True)
            ]
            return value if _same(held, mine) else cls(*mine)
        case t.Union(options=options):
            return _one_of(value, options, known, what)
        case _:
            return _container(value, kind, known, what)


def _is_unlike_itself(value: Any) -> bool:
    """Whether it is no value: a NaN. One of Decimal's raises an error in every comparison."""
    try:
        return bool(value != value)  # noqa: PLR0124  # Only a value can tell.
    except ArithmeticError as error:
        let_out(error)
        return True


def _declared(value: Any, opaque: str, world: World, what: str) -> None:
    """TypeError for a value of a class that the annotation of the opaque does not admit.

    Of bytes, texts and integers a frozen declaration knows that, too; a `Token` stands for any. An
    element of a sort is no text here: it is equal to none, and what is stored would come back as
    one."""
    mine = tuple(world.encodable.get(opaque, ENCODED))
    number = isinstance(value, int) and world.opaques.get(opaque, int) is not int
    if isinstance(value, ENCODED) and not number:
        fits = isinstance(value, mine) and not isinstance(value, Sort)
    else:
        annotations = world.opaque_annotations.get(opaque, ())
        every = tuple(each for annotation in annotations for each in classes_in(annotation))
        fits = number or not every or isinstance(value, (Token, *every))
        mine = tuple(each for each in every if each is not type(None))
    if not fits:
        kinds = " or ".join(sorted(each.__name__ for each in mine)) or "another type"
        found = a(type(value).__name__)
        raise TypeError(f"{what} is a {opaque}, which holds {kinds}, not {shown(value)}, {found}")


def _same(held: Iterable[Any], mine: Iterable[Any]) -> bool:
    """Whether these are pairwise the same objects."""
    return all(map(_is, held, mine))


def _frozen(held: Any) -> bool:
    """Whether it is an immutable container, and no subclass, which might have other attributes."""
    return type(held) in (tuple, frozenset, FrozenMap)


def _is(one: object, other: object) -> bool:
    return one is other


def _one_of(value: Any, options: tuple[t.Type, ...], known: ValueContext, what: str) -> Any:
    for option in options:
        named = isinstance(option, t.Record)
        if named and type(value) is not known.world.records[str(option)]:
            continue
        try:
            return taken(value, option, known, what)
        except TypeError:
            if named:
                raise
    _wrong(value, t.Union(options), what)


def _container(value: Any, kind: t.Type, known: ValueContext, what: str) -> Any:
    held = value  # Untyped, so that no test below narrows it.
    plain = _frozen(value)
    match kind:
        case t.Tuple(items=items) if isinstance(value, tuple) and len(held) == len(items):
            rows = enumerate(zip(held, items, strict=True))
            mine = tuple(taken(each, of, known, f"{what}[{i}]") for i, (each, of) in rows)
            return held if plain and _same(held, mine) else mine
        # The machine keeps an unchangeable copy of an argument that is declared as a list or a set.
        case t.Seq(item=item, mutable=mutable) if isinstance(value, SEQUENCES[mutable]):
            all_ = [taken(each, item, known, f"{what}[{i}]") for i, each in enumerate(held)]
            if mutable:
                return all_
            return held if plain and _same(held, all_) else tuple(all_)
        case t.Set(item=item, mutable=mutable) if isinstance(value, SETS[mutable]):
            given = list(held)
            all_ = [taken(each, item, known, f"an element of {what}") for each in given]
            if mutable:
                return set(all_)
            return held if plain and _same(given, all_) else frozenset(all_)
        case t.Map() if isinstance(value, Mapping):
            return _map(held, kind, known, what)
        case t.Bag(item=item) if isinstance(value, Mapping):
            counts = {
                taken(k, item, known, f"an element of {what}"): taken(
                    n, t.INT, known, f"{what}[{shown(k)}]"
                )
                for k, n in held.items()
            }
            return Counter(counts) if isinstance(value, Counter) else FrozenBag(counts)
        case _:
            _wrong(value, kind, what)


def _map(held: Mapping[Any, Any], kind: t.Map, known: ValueContext, what: str) -> Any:
    given = dict(held)
    mine = {
        taken(k, kind.key, known, f"a key of {what}"): taken(
            v, kind.value, known, f"{what}[{shown(k)}]"
        )
        for k, v in given.items()
    }
    complete(mine, kind, known, what)
    if kind.mutable:
        return mine
    alike = _same(given, mine) and _same(given.values(), mine.values())
    return held if alike and _frozen(held) else FrozenMap(mine)


def complete(held: Mapping[Any, Any], kind: t.Map, known: ValueContext, what: str) -> None:
    """ValueError with the missing keys where a total map lacks some; `Untold` where the universe
    lacks the sort of its keys."""
    if kind.total:
        absent = (k for k in _keys(kind.key, known, what) if k not in held)
        missing = [shown(k) for k in itertools.islice(absent, MOST_NAMED + 1)]
        if missing:
            more = ", ..." if len(missing) > MOST_NAMED else ""
            raise ValueError(f"{what} has no value for {', '.join(missing[:MOST_NAMED])}{more}")


def _keys(kind: t.Type, known: ValueContext, what: str) -> Iterable[Any]:
    """Every value of a type."""
    match kind:
        case t.Int(low=int() as low, high=int() as high):
            return range(
                low, high + 1
            )  # It may be huge: the caller stops at the first missing keys.
        case _:
            try:
                return Values(known.world, {}, known.elements).of(kind)
            except KeyError as error:
                if known.anyhow:
                    return ()
                (sort,) = error.args
                needed = f"a value for each {sort}: make the instance with universe="
                raise Untold(f"{what} has {needed}{{{sort}: [...]}}") from None


def _wrong(value: Any, kind: t.Type, what: str) -> NoReturn:
    text = shown(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    raise TypeError(f"{what} is a {kind}, not {text}, a {type(value).__name__}")


# Fast tests in generated code. Where one is true, `check` decides and words the error.


def checked(
    names: GlobalNames, param: str, kind: t.Type, fixed: Callable[[], ast.stmt]
) -> list[ast.stmt]:
    """The statements that run `fixed`, which calls the check, where an argument needs it."""
    value = functools.partial(name, param)
    tests = _tests(names, value, kind)
    if tests is not None:
        return [if_(any_of(tests), fixed())] if _are_few(tests) else [fixed()]
    return _elements_checked(names, value, kind, fixed) or [fixed()]


def _elements_checked(
    names: GlobalNames, value: Callable[[], ast.expr], kind: t.Type, fixed: Callable[[], ast.stmt]
) -> list[ast.stmt] | None:
    """The same for an immutable container, whose elements are tested one by one; None for others.

    if type(chosen) is not frozenset:
        chosen = check(chosen, ...)
    else:
        for item in chosen:
            if type(item) is not int:
                chosen = check(chosen, ...)
                break
    """
    item, key = names.local("item"), names.local("key")
    over, bound, cls = value(), [item], PLAIN.get(type(kind))
    match kind:
        case t.Seq(item=of, mutable=False, most=None) | t.Set(item=of, mutable=False):
            tests = _tests(names, lambda: name(item), of)
        case t.Map(key=of, value=to, mutable=False, total=False):
            mine = _tests(names, lambda: name(key), of), _tests(names, lambda: name(item), to)
            tests = None if mine[0] is None or mine[1] is None else [*mine[0], *mine[1]]
            over, bound = call(attribute(over, "items")), [key, item]
        case _:
            return None
    if cls is None or tests is None or not _are_few(tests):
        return None
    loop = ast.For(target(tuple(bound)), over, [if_(any_of(tests), fixed(), ast.Break())], [])
    branch = if_(_not_a(names, value, cls), fixed())
    branch.orelse = [loop]
    return [branch]


def _are_few(tests: list[ast.expr]) -> bool:
    return 0 < sum(_count(test) for test in tests) <= MOST_TESTS


def _count(test: ast.expr) -> int:
    return sum(map(_count, test.values)) if isinstance(test, ast.BoolOp) else 1


def _tests(
    names: GlobalNames, value: Callable[[], ast.expr], kind: t.Type
) -> list[ast.expr] | None:
    cls: type[Any]
    match kind:
        case t.Int():
            over = outside(value, kind)
            return [_not_a(names, value, int), *([over] if over is not None else [])]
        case t.Enum(name=key):
            return [_not_a(names, value, names.world.enums[key])]
        case t.Sort(name=key):
            members_of = _part(_part(lambda: name("self"), "__environment__"), "members")
            members = ast.Subscript(members_of(), ast.Constant(key), ast.Load())
            some = compare(members_of(), ast.IsNot(), ast.Constant(None))
            strange = compare(call(names.put("str", str), value()), ast.NotIn(), members)
            return [_not_a(names, value, names.world.sorts[key]), all_of([some, strange])]
        case t.Bool():
            return [_not_a(names, value, bool)]
        case t.Float():
            return [all_of([_not_a(names, value, float), _not_a(names, value, int)])]
        case t.Nothing():
            return [compare(value(), ast.IsNot(), ast.Constant(None))]
        case t.Union(options=options):
            # Where it is None, no other test is made.
            each = [_tests(names, value, of) for of in sorted(options, key=_is_record)]
            every = [any_of(tests) for tests in each if tests is not None]
            return [all_of(every)] if len(every) == len(each) else None
        case t.Tuple(items=items) if items:
            length = call(names.put("len", len), value())
            tests = [
                _not_a(names, value, tuple),
                compare(length, ast.NotEq(), ast.Constant(len(items))),
            ]
            for i, of in enumerate(items):
                inner = _tests(names, _at(value, i), of)
                if inner is None:
                    return None
                tests += inner
            return tests
        case t.Opaque(name=key):
            found = call(names.put("type", type), value())
            numbers = names.world.opaques.get(key, int)
            # A nan, which is not equal to itself, is of none of these types.
            mine = names.world.encodable.get(key, ENCODED)
            plain = frozenset(k for k in mine if not is_number(k) or (k is int and numbers is int))
            return [compare(found, ast.NotIn(), name(names.number("plain", plain)))]
        case t.Record(name=key, fields=fields):
            cls = names.world.records[key]
            tests = [_not_a(names, value, cls)]
            for field, of in fields:
                inner = _tests(names, _part(value, field), of)
                if inner is None:
                    return None
                tests += inner
            return tests
        case _:
            return None


def _is_record(kind: t.Type) -> bool:
    return isinstance(kind, t.Record)


def _at(value: Callable[[], ast.expr], index: int) -> Callable[[], ast.expr]:
    return lambda: ast.Subscript(value(), ast.Constant(index), ast.Load())


def _part(value: Callable[[], ast.expr], field: str) -> Callable[[], ast.expr]:
    return lambda: attribute(value(), field)


def _not_a(names: GlobalNames, value: Callable[[], ast.expr], cls: type[Any]) -> ast.expr:
    found = call(names.put("type", type), value())
    return compare(found, ast.IsNot(), name(names.put(cls.__name__, cls)))
