"""Random expressions of everyday Python over one fixed set of variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

Kind = Literal[
    "int", "bool", "opt", "color", "item", "pair", "list", "set", "map", "items", "worker"
]
# What every method of the machine may read; `k` and `j` are its arguments.
STATE: dict[Kind, tuple[str, ...]] = {
    "int": ("self.n", "k", "j"),
    "bool": ("self.flag",),
    "opt": ("self.opt",),
    "color": ("self.color",),
    "item": ("self.item",),
    "pair": ("self.pair",),
    "list": ("self.q", "self.r"),
    "set": ("self.s",),
    "map": ("self.m",),
    "items": ("self.items",),
    "worker": (),
}


@dataclass
class Values:
    """Writes expressions; `names` are the locals of each kind that have a value here."""

    rng: Random
    names: dict[Kind, list[str]] = field(default_factory=lambda: {})

    def kept(self) -> dict[Kind, list[str]]:
        """The names that have a value here, as they are now."""
        return {kind: [*self.names[kind]] for kind in self.names}

    def some(self, kind: Kind) -> str:
        """A variable of the kind."""
        return self.rng.choice([*STATE[kind], *self.names.get(kind, [])])

    def of(self, rows: Sequence[Callable[[Values, int], str]], depth: int) -> str:
        return self.rng.choice(rows)(self, depth)

    def number(self, depth: int = 2) -> str:
        return self.some("int") if depth <= 0 else self.of(INTS, depth - 1)

    def truth(self, depth: int = 2) -> str:
        return self.some("bool") if depth <= 0 else self.of(BOOLS, depth - 1)

    def option(self, depth: int = 2) -> str:
        return self.some("opt") if depth <= 0 else self.of(OPTS, depth - 1)

    def listed(self, depth: int = 2) -> str:
        """A list of its own, never a variable: what two places share is judged elsewhere."""
        return self.of(LISTS, max(0, depth - 1))

    def gathered(self, depth: int = 2) -> str:
        return self.of(SETS, max(0, depth - 1))

    def mapped(self, depth: int = 2) -> str:
        return self.of(MAPS, max(0, depth - 1))

    def pair(self, depth: int = 2) -> str:
        return self.of(PAIRS, max(0, depth - 1))

    def item(self, depth: int = 2) -> str:
        return self.of(ITEMS, max(0, depth - 1))

    def color(self) -> str:
        return self.rng.choice(["Color.RED", "Color.BLUE", "Color.GREEN", self.some("color")])

    def clause(self, name: str, depth: int) -> str:
        """` if ...` of a comprehension whose variable is `name`, or nothing."""
        if self.rng.random() < 0.4:
            return ""
        inside = Values(self.rng, {**self.names, "int": [*self.names.get("int", []), name]})
        return f" if {inside.truth(depth)}"

    def with_int(self, name: str, depth: int) -> str:
        """A number, in which a variable of a comprehension stands."""
        inside = Values(self.rng, {**self.names, "int": [*self.names.get("int", []), name, name]})
        return inside.number(depth)

    def numbers(self, depth: int) -> str:
        """Something to iterate over that gives numbers in a fixed order."""
        return self.of(NUMBERS, depth)


def _two(v: Values) -> str:
    """Something to iterate over that gives two numbers at a time."""
    q, r, s = v.some("list"), v.some("list"), v.some(v.rng.choice(["list", "set", "map"]))
    several = (
        *(f"product({q}, {s})", f"product({s}, repeat=2)", f"permutations({s}, 2)"),
        *(f"combinations({q}, 2)", f"pairwise({q})", f"pairwise(chain({q}, {r}))"),
    )
    return v.rng.choice(several)


def _of_two(v: Values, d: int) -> str:
    names = [*v.names.get("int", []), "e", "f", "f"]
    return Values(v.rng, {**v.names, "int": names}).number(d)


def _next(v: Values, d: int) -> str:
    return f"next((e for e in {v.numbers(d)}{v.clause('e', d)}), {v.rng.choice(['0', 'None'])})"


INTS: tuple[Callable[[Values, int], str], ...] = (
    lambda v, d: str(v.rng.randrange(4)),
    lambda v, d: v.some("int"),
    lambda v, d: v.some("int"),
    lambda v, d: f"{v.number(d)} + {v.number(d)}",
    lambda v, d: f"({v.number(d)}) % {v.rng.choice(['3', '4', 'k', '(j + 1)'])}",
    lambda v, d: f"({v.number(d)}) // {v.rng.choice(['2', 'k', '(k + 1)'])}",
    lambda v, d: f"abs({v.number(d)} - ({v.number(d)}))",
    lambda v, d: f"{v.rng.choice(['min', 'max'])}({v.number(d)}, {v.number(d)})",
    lambda v, d: f"len({v.some(v.rng.choice(['list', 'set', 'map', 'items']))})",
    lambda v, d: f"{v.some('list')}[{v.rng.choice(['0', '-1', 'k', 'len(self.q) - 1'])}]",
    lambda v, d: f"{v.some('map')}.get({v.number(d)}, {v.number(d)})",
    lambda v, d: f"{v.some('map')}[{v.number(d)}]",
    lambda v, d: f"({v.number(d)} if {v.truth(d)} else {v.number(d)})",
    lambda v, d: f"({v.some('opt')} or {v.number(d)})",
    lambda v, d: f"sum({v.numbers(d)})",
    lambda v, d: f"sum({v.with_int('e', d)} for e in {v.numbers(d)}{v.clause('e', d)})",
    lambda v, d: f"{v.rng.choice(['min', 'max'])}({v.numbers(d)}, default={v.number(d)})",
    lambda v, d: f"sum(1 for e in {v.numbers(d)}{v.clause('e', d)})",
    lambda v, d: f"{v.some('pair')}[{v.rng.randrange(2)}]",
    lambda v, d: f"{v.some('list')}.count({v.number(d)})",
    lambda v, d: f"self.c[{v.number(d)}]",
    lambda v, d: f"self._scaled({v.number(d)})",
    lambda v, d: f"({v.some('item')}.size if {v.some('item')} is not None else {v.number(d)})",
    lambda v, d: f"sum(t.size for t in {v.some('items')})",
    lambda v, d: f"sum(map(abs, {v.some('list')}), {v.number(0)})",
    lambda v, d: f"len(list(filter(lambda e: {_test(v, 'e', d)}, {v.some('list')})))",
    lambda v, d: f"({v.some('opt')} and {v.number(d)} or {v.number(0)})",
    lambda v, d: f"sum(e for e in self.rows.get({v.number(0)}, ()))",
    lambda v, d: f"({v.number(d)}) & {v.rng.choice(['1', '3'])}",
    lambda v, d: f"sum({_of_two(v, d)} for e, f in {_two(v)})",
    lambda v, d: f"sum(e for e in chain.from_iterable(self.rows.values()){v.clause('e', d)})",
)
BOOLS: tuple[Callable[[Values, int], str], ...] = (
    lambda v, d: v.some("bool"),
    lambda v, d: f"{v.number(d)} {v.rng.choice(['<', '<=', '==', '!=', '>'])} {v.number(d)}",
    lambda v, d: f"{v.number(d)} < {v.number(d)} <= {v.number(d)}",
    lambda v, d: f"{v.number(d)} {v.rng.choice(['in', 'not in'])} {v.some('list')}",
    lambda v, d: f"{v.number(d)} {v.rng.choice(['in', 'not in'])} {v.some('set')}",
    lambda v, d: f"{v.number(d)} {v.rng.choice(['in', 'not in'])} {v.some('map')}",
    lambda v, d: f"not {v.some(v.rng.choice(['list', 'set', 'map', 'items']))}",
    lambda v, d: f"({v.truth(d)} {v.rng.choice(['and', 'or'])} {v.truth(d)})",
    lambda v, d: f"not ({v.truth(d)})",
    lambda v, d: f"{v.some('opt')} is {v.rng.choice(['', 'not '])}None",
    lambda v, d: f"{v.some('opt')} == {v.number(d)}",
    lambda v, d: f"{v.some('color')} {v.rng.choice(['is', '==', '!='])} {v.color()}",
    lambda v, d: f"{v.some('color')} in (Color.RED, Color.GREEN)",
    lambda v, d: f"{v.rng.choice(['any', 'all'])}({_test(v, 'e', d)} for e in {v.numbers(d)})",
    lambda v, d: f"{v.some('item')} is not None and {v.some('item')}.size < {v.number(d)}",
    lambda v, d: f"{v.some('list')} == {v.listed(d)}",
    lambda v, d: f"{v.gathered(d)} <= {v.some('set')}",
    lambda v, d: f"self._long({v.number(d)})",
    lambda v, d: f"any({v.some('list')})",
    lambda v, d: f"all(map(self._long, {v.some('list')}))",
    lambda v, d: f"{v.number(d)} in self.tags.get({v.color()}, ())",
    lambda v, d: f"{v.rng.choice(['any', 'all'])}({_of_two(v, d)} > 1 for e, f in {_two(v)})",
    lambda v, d: f"{v.number(d)} in chain({v.some('list')}, {v.some('list')})",
)
OPTS: tuple[Callable[[Values, int], str], ...] = (
    _next,
    lambda v, d: "None",
    lambda v, d: v.some("opt"),
    lambda v, d: v.number(d),
    lambda v, d: f"{v.some('map')}.get({v.number(d)})",
    lambda v, d: f"({v.number(d)} if {v.truth(d)} else None)",
)
NUMBERS: tuple[Callable[[Values, int], str], ...] = (
    lambda v, d: v.some("list"),
    lambda v, d: v.some("list"),
    lambda v, d: f"sorted({v.some('set')})",
    lambda v, d: f"sorted({v.some('map')}.values())",
    lambda v, d: f"{v.some('map')}.values()",
    lambda v, d: f"{v.some('list')}[{v.rng.choice(['1:', ':2', '::-1', ':-1', 'k:'])}]",
    lambda v, d: f"reversed({v.some('list')})",
    lambda v, d: f"range({v.number(d)})",
    lambda v, d: f"{v.some('set')}",
    lambda v, d: f"({v.number(d)}, {v.number(d)})",
    lambda v, d: f"[*{v.some('list')}, *{v.some('list')}]",
)
LISTS: tuple[Callable[[Values, int], str], ...] = (
    lambda v, d: "[]",
    lambda v, d: f"[{v.number(d)}]",
    lambda v, d: f"[{v.number(d)}, {v.number(d)}]",
    lambda v, d: f"list({v.some('list')})",
    lambda v, d: f"sorted({v.numbers(d)})",
    lambda v, d: f"{v.some('list')} + {v.listed(d)}",
    lambda v, d: f"[*{v.some('list')}, {v.number(d)}]",
    lambda v, d: f"{v.some('list')}[{v.rng.choice(['1:', ':2', '::-1', ':-1'])}]",
    lambda v, d: f"[{v.with_int('e', d)} for e in {v.numbers(d)}{v.clause('e', d)}]",
    lambda v, d: f"[{v.number(d)}] * {v.rng.choice(['2', 'k'])}",
    lambda v, d: f"list(range({v.number(d)}))",
    lambda v, d: f"list(dict.fromkeys({v.some('list')}))",
    lambda v, d: f"{v.some('list')}.copy()",
    lambda v, d: f"list(map(lambda e: {v.with_int('e', d)}, {v.some('list')}))",
    lambda v, d: f"sorted(filter(None, {v.some('list')}))",
    lambda v, d: f"list(chain({v.some('list')}, {v.some('list')}))",
)
SETS: tuple[Callable[[Values, int], str], ...] = (
    lambda v, d: "set()",
    lambda v, d: f"{{{v.number(d)}}}",
    lambda v, d: f"set({v.numbers(d)})",
    lambda v, d: f"{v.some('set')} {v.rng.choice(['|', '&', '-', '^'])} {v.gathered(d)}",
    lambda v, d: f"{{{v.with_int('e', d)} for e in {v.numbers(d)}{v.clause('e', d)}}}",
    lambda v, d: f"{v.some('set')}.copy()",
    lambda v, d: f"set({v.some('map')})",
    lambda v, d: f"set().union(*self.rows.values(), {v.gathered(d)})",
    lambda v, d: f"{v.some('set')}.union(*(range(e) for e in {v.some('list')}{v.clause('e', d)}))",
    lambda v, d: f"{v.some('set')}.difference({v.numbers(d)}, *self.tags.values())",
)
MAPS: tuple[Callable[[Values, int], str], ...] = (
    lambda v, d: "{}",
    lambda v, d: f"{{{v.number(d)}: {v.number(d)}}}",
    lambda v, d: f"dict({v.some('map')})",
    lambda v, d: f"{v.some('map')} | {v.mapped(d)}",
    lambda v, d: f"{{**{v.some('map')}, {v.number(d)}: {v.number(d)}}}",
    lambda v, d: f"{{e: {v.with_int('e', d)} for e in {v.some('list')}{v.clause('e', d)}}}",
    lambda v, d: f"{{e: f for e, f in {v.some('map')}.items() if {_test(v, 'e', d)}}}",
    lambda v, d: f"dict(zip({v.some('list')}, {v.some('list')}))",
    lambda v, d: f"dict(sorted({v.some('map')}.items()))",
    lambda v, d: f"{{**{v.some('map')}}}",
)
PAIRS: tuple[Callable[[Values, int], str], ...] = (
    lambda v, d: f"({v.number(d)}, {v.number(d)})",
    lambda v, d: f"({v.some('pair')}[1], {v.some('pair')}[0])",
    lambda v, d: v.some("pair"),
    lambda v, d: f"divmod({v.number(d)}, {v.rng.choice(['2', 'k', '3'])})",
    lambda v, d: f"max(({v.number(d)}, {v.number(d)}), {v.some('pair')})",
)
ITEMS: tuple[Callable[[Values, int], str], ...] = (
    lambda v, d: f"Item({v.number(d)}, {v.color()})",
    lambda v, d: f"Item({v.number(d)}, color={v.color()})",
    lambda v, d: f"Item(size={v.number(d)})",
    lambda v, d: f"replace({v.some('item')} or Item(1), size={v.number(d)})",
)


def _test(v: Values, name: str, depth: int) -> str:
    return Values(v.rng, {**v.names, "int": [*v.names.get("int", []), name, name]}).truth(depth)
