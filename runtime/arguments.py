"""Arguments: whether a value is of its declared type, before anything happens.

Of every value from outside: TypeError where it is of another type, ValueError where it is out of
bounds; both name the argument and the place in it. Mappings are copied, for the caller may change
them later.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from lawful.spec import types as t
from lawful.spec.bounds import bounded, breach
from lawful.spec.values import FrozenBag, FrozenMap, World

from .build import any_of, attribute, call, compare, name, outside
from .emit import Names

Check = Callable[[Any], Any]
MOST_TESTS = 12  # More than these are left to the function that also explains.


def checker(what: str, kind: t.Type, world: World) -> Check:
    """The function that gives the value, as the machine keeps it, or raises what is wrong."""

    def check(value: Any) -> Any:
        kept = taken(value, kind, world, what)
        found = breach(kept, kind) if bounded(kind) else None
        if found is not None:
            raise ValueError(f"{what}{_joined(found)}")
        return kept

    return check


def _joined(found: str) -> str:
    return found if found.startswith((".", "[")) else f": {found}"


def taken(value: Any, kind: t.Type, world: World, what: str) -> Any:
    """The value, immutable, if it is of this type; bounds aside. TypeError if it is not."""
    match kind:
        case t.Int() if isinstance(value, int) and not isinstance(value, bool):
            return value
        case t.Bool() if isinstance(value, bool):
            return value
        case t.Float() if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        case t.Text() if isinstance(value, str):
            return value
        case t.Nothing() if value is None:
            return value
        case t.Enum(name=key) if isinstance(value, world.enums[key]):
            return value
        case t.Sort(name=key) if isinstance(value, world.sorts[key]):
            return value
        case t.Opaque() if type(value).__hash__ is not None:
            return value
        case t.Record(name=key) if isinstance(value, world.records[key]):
            for field, of in kind.fields:
                taken(getattr(value, field), of, world, f"{what}.{field}")
            return value
        case t.Union(options=options):
            return _one_of(value, options, world, what)
        case _:
            return _container(value, kind, world, what)


def _one_of(value: Any, options: tuple[t.Type, ...], world: World, what: str) -> Any:
    for option in options:
        named = isinstance(option, t.Record)
        if named and not isinstance(value, world.records[str(option)]):
            continue
        try:
            return taken(value, option, world, what)
        except TypeError:
            if named:
                raise
    _wrong(value, t.Union(options), what)


def _container(value: Any, kind: t.Type, world: World, what: str) -> Any:
    held = value  # Of a type that no test below narrows.
    match kind:
        case t.Tuple(items=items) if isinstance(value, tuple) and len(held) == len(items):
            for i, (each, of) in enumerate(zip(held, items, strict=True)):
                taken(each, of, world, f"{what}[{i}]")
            return held
        case t.Seq(item=item, mutable=mutable) if isinstance(value, list if mutable else tuple):
            for i, each in enumerate(held):
                taken(each, item, world, f"{what}[{i}]")
            return held
        case t.Set(item=item, mutable=mutable) if isinstance(value, set if mutable else frozenset):
            for each in held:
                taken(each, item, world, f"an element of {what}")
            return held
        case t.Map(key=key, value=of) if isinstance(value, Mapping):
            for k, v in held.items():
                taken(k, key, world, f"a key of {what}")
                taken(v, of, world, f"{what}[{k!r}]")
            return dict(held) if kind.mutable else FrozenMap(held)
        case t.Bag(item=item) if isinstance(value, Mapping):
            for k, n in held.items():
                taken(k, item, world, f"an element of {what}")
                taken(n, t.INT, world, f"{what}[{k!r}]")
            return FrozenBag(held)
        case _:
            _wrong(value, kind, what)


def _wrong(value: Any, kind: t.Type, what: str) -> NoReturn:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    raise TypeError(f"{what} is a {kind}, not {shown}, a {type(value).__name__}")


# The fast way: a test in the generated code, which lets the function above explain.


def suspicious(names: Names, value: Callable[[], ast.expr], kind: t.Type) -> ast.expr | None:
    """The test that a value may be none of this type; None where a function has to look."""
    tests = _tests(names, value, kind)
    return any_of(tests) if tests is not None and 0 < len(tests) <= MOST_TESTS else None


def _tests(
    names: Names, value: Callable[[], ast.expr], kind: t.Type
) -> list[ast.expr] | None:
    cls: type[Any]
    match kind:
        case t.Int():
            over = outside(value, kind)
            return [_not_a(names, value, int), *([over] if over is not None else [])]
        case t.Enum(name=key):
            return [_not_a(names, value, names.world.enums[key])]
        case t.Sort(name=key):
            return [_not_a(names, value, names.world.sorts[key])]
        case t.Bool():
            return [_not_a(names, value, bool)]
        case t.Opaque():
            hashing = attribute(call(names.put("type", type), value()), "__hash__")
            return [compare(hashing, ast.Is(), ast.Constant(None))]
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


def _part(value: Callable[[], ast.expr], field: str) -> Callable[[], ast.expr]:
    return lambda: attribute(value(), field)


def _not_a(names: Names, value: Callable[[], ast.expr], cls: type[Any]) -> ast.expr:
    found = call(names.put("type", type), value())
    return compare(found, ast.IsNot(), name(names.put(cls.__name__, cls)))
