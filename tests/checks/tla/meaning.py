"""What the trees mean: values of expressions, and the states that an action leads to.

It knows nothing of the project. Source: L. Lamport, "Specifying Systems" (2002), chapter 16; for
actions chapter 14, on how TLC goes through them: left to right, each variable assigned by the
first equation for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.checks.tla.reading import Tree

State = Mapping[str, Any]


@dataclass(frozen=True)
class Model:
    """A model value: equal to itself alone."""

    name: str


class Function(dict[Any, Any]):
    """A function, which a sequence, a tuple and a record are, too."""

    def __hash__(self) -> int:  # type: ignore[override]  # a value, never changed
        return hash(frozenset(self.items()))


def sequence(items: Sequence[Any]) -> Function:
    """The function from 1 on that the sequence is."""
    return Function(enumerate(items, 1))


def listed(value: Function) -> list[Any]:
    """The elements of a sequence."""
    return [value[i] for i in range(1, len(value) + 1)]


def order(value: Any) -> str:
    """What CHOOSE goes by: anything that is always the same."""
    held = value  # Of a type that no test below narrows.
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(order, held)))}}}"
    if isinstance(value, Function):
        return f"[{','.join(sorted(f'{order(k)}:{order(v)}' for k, v in value.items()))}]"
    return f"{type(value).__name__} {value}"


@dataclass(frozen=True)
class Env:
    """Names with their values, operators and what is still to be evaluated; and the states."""

    top: Mapping[str, Any]
    names: Mapping[str, Any]
    state: State
    next: State | None = None

    def having(self, more: Mapping[str, Any]) -> Env:
        return Env(self.top, {**self.names, **more}, self.state, self.next)


class Later:
    """An argument or a definition without parameters: evaluated once, when it is needed."""

    def __init__(self, tree: Tree, env: Env) -> None:
        self.tree, self.env = tree, env
        self.values: list[Any] = []

    def get(self) -> Any:
        if not self.values:
            self.values.append(value(self.tree, self.env))
        return self.values[0]


@dataclass
class Operator:
    """A definition or a LAMBDA; `env` is where it stands, None for the module's own."""

    params: Sequence[str]
    body: Tree
    env: Env | None

    def inside(self, args: Sequence[Any], env: Env) -> Env:
        """Where the body is evaluated with these arguments."""
        names: Mapping[str, Any] = {} if self.env is None else self.env.names
        given = dict(zip(self.params, args, strict=True))
        return Env(env.top, {**names, **given}, env.state, env.next)

    def of(self, *values: Any) -> Any:
        """The value for these values."""
        assert self.env is not None
        return value(self.body, self.inside(values, self.env))


def argument(tree: Tree, env: Env) -> Any:
    """An argument: an operator as it is, an expression for later."""
    if tree[0] == "lambda":
        return Operator(tree[1], tree[2], env)
    if tree[0] == "name" and not tree[2]:
        found = env.names.get(tree[1])
        if isinstance(found, Operator) and found.params:
            return found
    return Later(tree, env)


def value(tree: Tree, env: Env) -> Any:
    """The value of an expression."""
    return MEANING[tree[0]](tree, env)


def _name(tree: Tree, env: Env) -> Any:
    _, name, args = tree
    found = env.names[name] if name in env.names else env.top.get(name)
    if isinstance(found, Later):
        return found.get()
    if isinstance(found, Operator):
        return value(found.body, found.inside([argument(arg, env) for arg in args], env))
    if found is not None:
        return found
    if name in STANDARD:
        return STANDARD[name](*(_given(arg, env) for arg in args))
    assert name in env.state, f"nothing is called {name}"
    return env.state[name]


def _given(tree: Tree, env: Env) -> Any:
    """An argument of a standard operator: an operator, or the value."""
    found = argument(tree, env)
    return found.get() if isinstance(found, Later) else found


def _let(tree: Tree, env: Env) -> Any:
    inside = let(tree, env)
    return value(tree[2], inside)


def let(tree: Tree, env: Env) -> Env:
    """Where what follows IN is evaluated; its definitions may name themselves."""
    names = dict(env.names)
    inside = Env(env.top, names, env.state, env.next)
    for name, params, body in tree[1]:
        names[name] = Operator(params, body, inside) if params else Later(body, inside)
    return inside


def _quantified(tree: Tree, env: Env) -> Any:
    sign, name, over, body = tree
    found = (value(body, env.having({name: each})) for each in value(over, env))
    return all(found) if sign == "\\A" else any(found)


def _choose(tree: Tree, env: Env) -> Any:
    _, name, over, body = tree
    rows = sorted(value(over, env), key=order)
    return next(each for each in rows if value(body, env.having({name: each})))


def _case(tree: Tree, env: Env) -> Any:
    return next(value(then, env) for test, then in tree[1] if value(test, env))


def _filter(tree: Tree, env: Env) -> Any:
    _, name, over, test = tree
    return frozenset(x for x in value(over, env) if value(test, env.having({name: x})))


def _image(tree: Tree, env: Env) -> Any:
    _, name, over, made = tree
    return frozenset(value(made, env.having({name: x})) for x in value(over, env))


def _function(tree: Tree, env: Env) -> Any:
    _, name, over, made = tree
    return Function({x: value(made, env.having({name: x})) for x in value(over, env)})


def _records(tree: Tree, env: Env) -> Any:
    names = [name for name, _ in tree[1]]
    sets = [value(each, env) for _, each in tree[1]]
    return frozenset(Function(zip(names, row, strict=True)) for row in itertools.product(*sets))


def _functions(tree: Tree, env: Env) -> Any:
    keys, to = list(value(tree[1], env)), value(tree[2], env)
    rows = itertools.product(to, repeat=len(keys))
    return frozenset(Function(zip(keys, row, strict=True)) for row in rows)


def _except(tree: Tree, env: Env) -> Any:
    made = value(tree[1], env)
    for path, new in tree[2]:
        made = _changed(made, [value(key, env) for key in path], value(new, env))
    return made


def _changed(of: Function, path: Sequence[Any], new: Any) -> Function:
    key, *rest = path
    if key not in of:
        return of  # As TLA+ has it: what is not in the domain is not added.
    return Function({**of, key: _changed(of[key], rest, new) if rest else new})


def _prime(tree: Tree, env: Env) -> Any:
    assert env.next is not None
    return value(tree[1], Env(env.top, env.names, env.next))


def _infix(tree: Tree, env: Env) -> Any:
    _, sign, left, right = tree
    if sign in ("/\\", "\\/", "=>"):
        first = value(left, env)
        assert isinstance(first, bool), f"{first!r} is not TRUE or FALSE"
        if sign == "/\\":
            return first and value(right, env)
        return value(right, env) if first is (sign == "=>") else True
    return SIGNS[sign](value(left, env), value(right, env))


def _equal(a: Any, b: Any) -> bool:
    """TLC compares no values of two kinds; a model value is unlike all others."""
    kinds = {each.__class__.__name__ for each in (a, b)} - {"Model"}
    assert len(kinds) < 2, f"{a!r} = {b!r}: values of two kinds"
    return bool(a == b)


def _within(a: Any, b: frozenset[Any]) -> bool:
    assert isinstance(b, frozenset), f"{b!r} is no set"
    return a in b


def _interval(a: int, b: int) -> frozenset[int]:
    return frozenset(range(a, b + 1))


def _positive(work: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def divided(a: int, b: int) -> int:
        assert b > 0, "the standard modules define this for positive numbers"
        return work(a, b)

    return divided


SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": _equal,
    "#": lambda a, b: not _equal(a, b),
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "\\in": _within,
    "\\notin": lambda a, b: not _within(a, b),
    "\\subseteq": lambda a, b: a <= b,
    "\\cup": lambda a, b: a | b,
    "\\cap": lambda a, b: a & b,
    "\\": lambda a, b: a - b,
    "..": _interval,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "%": _positive(lambda a, b: a % b),
    "\\div": _positive(lambda a, b: a // b),
    "\\o": lambda a, b: sequence([*listed(a), *listed(b)]),
}


def _times(tree: Tree, env: Env) -> Any:
    """`A \\X B \\X C` has triples."""
    parts: list[Tree] = []
    while tree[:2] == ("infix", "\\X"):
        parts.insert(0, tree[3])
        tree = tree[2]
    sets = [value(each, env) for each in (tree, *parts)]
    return frozenset(sequence(row) for row in itertools.product(*sets))


def _prefix(tree: Tree, env: Env) -> Any:
    _, sign, of = tree
    found = value(of, env)
    match sign:
        case "~":
            assert isinstance(found, bool)
            return not found
        case "-":
            return -found
        case "DOMAIN":
            assert isinstance(found, Function), f"{found!r} is no function"
            return frozenset(found)
        case "UNION":
            return frozenset(itertools.chain.from_iterable(found))
        case _:
            assert sign == "SUBSET", sign
            rows = [itertools.combinations(found, n) for n in range(len(found) + 1)]
            return frozenset(frozenset(row) for row in itertools.chain.from_iterable(rows))


def _select(of: Function, test: Operator) -> Function:
    return sequence([x for x in listed(of) if test.of(x)])


def _sort(of: Function, before: Operator) -> Function:
    made: list[Any] = []
    for x in listed(of):
        at = next((i for i, y in enumerate(made) if before.of(x, y)), len(made))
        made.insert(at, x)
    return sequence(made)


def _tail(of: Function) -> Function:
    return sequence(listed(of)[1:])


def _append(of: Function, last: Any) -> Function:
    return sequence([*listed(of), last])


def _between(of: Function, first: int, last: int) -> Function:
    return sequence([of[i] for i in range(first, last + 1)])


def _head(of: Function) -> Any:
    return of[1]


def _booleans() -> frozenset[bool]:
    return frozenset({False, True})


def _size(of: Any) -> int:
    return len(of)


STANDARD: dict[str, Callable[..., Any]] = {
    "BOOLEAN": _booleans,
    "Len": _size,
    "Cardinality": _size,
    "Head": _head,
    "Tail": _tail,
    "Append": _append,
    "SubSeq": _between,
    "SelectSeq": _select,
    "SortSeq": _sort,
}

MEANING: dict[str, Callable[[Tree, Env], Any]] = {
    "value": lambda tree, env: tree[1],
    "name": _name,
    "if": lambda tree, env: value(tree[2] if value(tree[1], env) else tree[3], env),
    "case": _case,
    "let": _let,
    "\\A": _quantified,
    "\\E": _quantified,
    "CHOOSE": _choose,
    "set": lambda tree, env: frozenset(value(each, env) for each in tree[1]),
    "filter": _filter,
    "image": _image,
    "tuple": lambda tree, env: sequence([value(each, env) for each in tree[1]]),
    "record": lambda tree, env: Function({n: value(each, env) for n, each in tree[1]}),
    "records": _records,
    "function": _function,
    "functions": _functions,
    "except": _except,
    "apply": lambda tree, env: value(tree[1], env)[value(tree[2], env)],
    "prime": _prime,
    "infix": lambda tree, env: (_times if tree[1] == "\\X" else _infix)(tree, env),
    "prefix": _prefix,
}


# Actions.


def follow(tree: Tree, env: Env, made: dict[str, Any], prime: bool) -> Iterator[dict[str, Any]]:
    """The assignments to variables that make an action true; of an initial predicate unprimed."""
    match tree:
        case ("infix", "/\\", left, right):
            for some in follow(left, env, made, prime):
                yield from follow(right, env, some, prime)
        case ("infix", "\\/", left, right):
            yield from follow(left, env, made, prime)
            yield from follow(right, env, made, prime)
        case ("\\E", name, over, body):
            for each in sorted(value(over, env), key=order):
                yield from follow(body, env.having({name: each}), made, prime)
        case ("infix", "=", ("prime", ("name", name, [])), right) if prime and name not in made:
            yield {**made, name: value(right, env)}
        case ("infix", "=", ("name", name, []), right) if (
            not prime and name in env.top["VARIABLES"]
        ):
            yield {**made, name: value(right, env)}
        case ("name", name, args) if isinstance(env.top.get(name), Operator):
            operator = env.top[name]
            inside = operator.inside([argument(arg, env) for arg in args], env)
            yield from follow(operator.body, inside, made, prime)
        case _:
            if value(tree, env):
                yield made
