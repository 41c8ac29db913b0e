"""Random methods of everyday Python, and the machine in which each of them stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.agree.everyday import matches
from tests.agree.everyday.frames import METHOD, PLAIN, PROPERTY
from tests.agree.everyday.values import Kind, Values

Lines = list[str]


class Method(Values):
    """Writes the statements of one method."""

    count = 0
    rounds = 0  # Loops around what is written.
    depth = 0

    def name(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def block(self, most: int) -> Lines:
        """Some statements; what they name is forgotten after them."""
        kept = self.kept()
        lines: Lines = []
        for _ in range(self.rng.randint(1, most)):
            lines += self.rng.choice(self.rows())(self)
        if self.rng.random() < 0.9:
            self.names = kept  # A tenth stays known, and may have no value.
        return lines

    def rows(self) -> Sequence[Callable[[Any], Lines]]:
        """The kinds of statements that may stand here."""
        return STATEMENTS if self.depth < 3 else FLAT

    def inner(self, most: int = 2) -> Lines:
        self.depth += 1
        lines = self.block(most)
        self.depth -= 1
        return [f"    {line}" for line in lines]

    def known(self, kind: Kind, name: str) -> None:
        self.names.setdefault(kind, []).append(name)

    def looped(self, most: int = 3) -> Lines:
        """The body of a loop."""
        self.rounds += 1
        lines = self.inner(most)
        self.rounds -= 1
        return lines


def branch(b: Method) -> Lines:
    lines = [f"if {b.truth()}:", *b.inner()]
    if b.rng.random() < 0.3:
        lines += [f"elif {b.truth()}:", *b.inner()]
    if b.rng.random() < 0.4:
        lines += ["else:", *b.inner()]
    return lines


def over_numbers(b: Method) -> Lines:
    name, over = b.name(), b.numbers(1)
    kept = list(b.names.get("int", []))
    b.known("int", name)
    lines = [f"for {name} in {over}:", *b.looped()]
    b.names["int"] = kept
    return lines


def _over_pairs(b: Method) -> Lines:
    i, x = b.name(), b.name()
    over = b.rng.choice(
        [
            f"enumerate({b.some('list')})",
            f"{b.some('map')}.items()",
            f"sorted({b.some('map')}.items())",
            f"zip({b.some('list')}, {b.some('list')})",
            f"list({b.some('map')}.items())",
        ]
    )
    kept = list(b.names.get("int", []))
    b.names["int"] = [*kept, i, x]
    lines = [f"for {i}, {x} in {over}:", *b.looped()]
    b.names["int"] = kept
    return lines


def _over_rows(b: Method) -> Lines:
    key, row = b.name(), b.name()
    over = b.rng.choice(["self.rows.items()", "sorted(self.rows.items())"])
    kept = b.kept()
    b.known("int", key)
    b.known("list", row)
    lines = [f"for {key}, {row} in {over}:", *b.looped()]
    b.names = kept
    return lines


def _over_items(b: Method) -> Lines:
    name = b.name()
    kept = b.kept()
    b.known("int", f"{name}.size")
    b.known("color", f"{name}.color")
    lines = [f"for {name} in {b.some('items')}:", *b.looped()]
    b.names = kept
    return lines


def emptying(b: Method) -> Lines:
    q = b.some("list")
    test = b.rng.choice([q, f"len({q}) > {b.number(0)}", f"{q} and {q}[0] < {b.number(1)}"])
    name = b.name()
    first = b.rng.choice([f"{name} = {q}.pop(0)", f"{name} = {q}.pop()"])
    kept = list(b.names.get("int", []))
    b.known("int", name)
    lines = [f"while {test}:", f"    {first}", *b.looped(2)]
    b.names["int"] = kept
    return lines


def _counting(b: Method) -> Lines:
    name, q = b.name(), b.some("list")
    tests = [f"{name} < {most}" for most in ("3", "k", "j + 1", f"len({q})")]
    test, step = b.rng.choice([*((each, "+= 1") for each in tests), (name, "-= 1")])
    test += b.rng.choice(["", f" and {b.truth(1)}"])
    steps = [f"    {name} {step}"]
    body = b.looped(2)
    lines = [f"{name} = max({b.number(1)} % 5, 0)", f"while {test}:"]
    lines += b.rng.choice([[*steps, *body], [*body, *steps]])
    b.known("int", name)
    return lines


def _local_function(b: Method) -> Lines:
    name, of = b.name(), b.name()
    inside = Values(b.rng, {**b.names, "int": [*b.names.get("int", []), of, of]})
    if b.rng.random() < 0.5:
        lines = [f"{name} = lambda {of}: {inside.number(1)}"]
    else:
        lines = [f"def {name}({of}: int) -> int:", f"    return {inside.number(1)}"]
    if b.rng.random() < 0.5:
        lines += b.rng.choice((_assign, update, taken))(b)
    one, other = b.name(), b.name()
    given, rest = b.rng.choice([b.number(0), f"{b.number(0)} + 1"]), b.number(0)
    lines += [
        f"{one} = {name}({given})",
        f"{other} = {b.rng.choice(['min', 'max'])}({b.some('list')}, key={name}, default={rest})",
    ]
    if b.rng.random() < 0.5:
        lines.append(f"self.flag = any({name}(g) < {rest} for g in {b.some('list')})")
    b.known("int", one)
    b.known("int", other)
    return lines


def _place(b: Method) -> str:
    key = b.number(0)
    return b.rng.choice([f"self.rows[{key}]", f"self.rows.setdefault({key}, [])"])


def _names_row(b: Method) -> Lines:
    name = b.name()
    b.known("list", name)
    return [f"{name} = {_place(b)}"]


def _looks_up_row(b: Method) -> Lines:
    name, key = b.name(), b.number(0)
    lines = [f"{name} = self.rows.get({key})"]
    kind: Kind = "list"
    ends: list[Lines] = [["    return None"]]
    if b.rounds:
        ends.append(["    continue"])
    end = b.rng.choice(ends)
    if b.rng.random() < 0.5:
        b.known(kind, name)
        return [*lines, f"if {name} is None:", *end]
    kept = list(b.names.get(kind, []))
    b.known(kind, name)
    lines += [f"if {b.rng.choice([name, f'{name} is not None'])}:", *b.inner(3)]
    b.names[kind] = kept
    return lines


def _looks_up_number(b: Method) -> Lines:
    name = b.name()
    lines = [f"{name} = {b.some('map')}.get({b.number(0)})"]
    if b.rng.random() < 0.5:
        b.known("int", name)
        return [*lines, f"if {name} is None:", f"    return {b.rng.choice(['None', '0', 'k'])}"]
    b.known("opt", name)
    return lines


def _names_inner(b: Method) -> Lines:
    name, key = b.name(), b.number(0)
    b.known("map", name)
    return [
        f"{name} = {b.rng.choice([f'self.inner[{key}]', f'self.inner.setdefault({key}, {{}})'])}"
    ]


def _names_tags(b: Method) -> Lines:
    name = b.name()
    b.known("set", name)
    return [f"{name} = self.tags.setdefault({b.color()}, set())"]


def local(b: Method) -> Lines:
    kind: Kind = b.rng.choice(["int", "int", "bool", "list", "set", "map", "pair"])
    name = b.name()
    value = {
        "int": b.number,
        "bool": b.truth,
        "list": b.listed,
        "set": b.gathered,
        "map": b.mapped,
        "pair": b.pair,
    }[kind]()
    b.known(kind, name)
    if kind in ("list", "set", "map") and b.rng.random() < 0.5:
        of = {"list": "list[int]", "set": "set[int]", "map": "dict[int, int]"}[kind]
        return [f"{name}: {of} = {value}"]
    return [f"{name} = {value}"]


def _optional(b: Method) -> Lines:
    name = b.name()
    b.known("opt", name)
    return [f"{name}: int | None = {b.option()}"]


def _again(b: Method) -> Lines:
    kind: Kind = b.rng.choice(["int", "bool", "pair"])
    names = [each for each in b.names.get(kind, []) if "." not in each]
    if not names:
        return _assign(b)
    value = {"int": b.number, "bool": b.truth, "pair": b.pair}[kind]()
    return [f"{b.rng.choice(names)} = {value}"]


def _assign(b: Method) -> Lines:
    return [
        b.rng.choice(
            [
                f"self.n = {b.number()}",
                f"self.n {b.rng.choice(['+=', '-='])} {b.number(1)}",
                f"self.flag = {b.truth()}",
                f"self.opt = {b.option()}",
                f"self.color = {b.color()}",
                f"self.color = Color({b.number(1)})",
                f"self.pair = {b.pair()}",
                f"self.item = {b.rng.choice([b.item(), 'None'])}",
                f"self.{b.rng.choice('qr')} = {b.listed()}",
                f"self.s = {b.gathered()}",
                f"self.m = {b.mapped()}",
                f"self.m[{b.number(1)}] = {b.number()}",
                f"self.rows[{b.number(1)}] = {b.listed()}",
                f"self.items = [t for t in self.items if t.size != {b.number(1)}]",
                f"self.n, self.opt = {b.number(1)}, {b.option(1)}",
                f"{b.some('list')}[{b.rng.choice(['0', '-1', 'k'])}] = {b.number(1)}",
                f"{b.some('map')}[{b.number(1)}] = {b.number(1)}",
            ]
        )
    ]


def update(b: Method) -> Lines:
    q, s, m, x = b.some("list"), b.some("set"), b.some("map"), b.number(1)
    return b.rng.choice(
        [
            [f"{q}.append({x})"],
            [f"{q}.append({x})"],
            [f"{q}.insert({b.rng.choice(['0', 'k', 'len(self.q)'])}, {x})"],
            [f"{q}.extend({b.listed(1)})"],
            [f"{q}.pop({b.rng.choice(['', '0', 'k'])})"],
            [f"if {x} in {q}:", f"    {q}.remove({x})"],
            [f"{q}.clear()"],
            [f"{q}.sort()"],
            [f"{q}.reverse()"],
            [f"{q} += {b.listed(1)}"],
            [f"{s}.add({x})"],
            [f"{s}.discard({x})"],
            [f"{s}.update({b.gathered(1)})"],
            [f"{s} {b.rng.choice(['|=', '-=', '&='])} {b.gathered(1)}"],
            [f"{m}.pop({x}, None)"],
            [f"if {x} in {m}:", f"    del {m}[{x}]"],
            [f"{m}.update({b.mapped(1)})"],
            [f"{m}.setdefault({x}, {b.number(1)})"],
            [f"{m}[{x}] = {m}.get({x}, 0) + 1"],
            [f"self.c[{x}] += 1"],
            [f"self.c.update({b.some('list')})"],
            ["self.q, self.r = self.r, self.q"],
            ["self.r, self.q = self.q, []"],
            [f"self.r, self.rows[{x}] = self.rows[{x}], {b.listed(1)}"],
            [f"{s}.difference_update({b.some('list')}, {b.gathered(1)})"],
            [f"{q}.append({x}) if {b.truth(1)} else {q}.clear()"],
            [f"self.q, self.rows[{x}] = self.rows[{x}], self.q"],
            [f"{q}[:] = {b.listed(1)}"],
            [f"del {q}[{b.rng.choice([':1', '1:', ':k', '-1:', 'k:'])}]"],
            [f"self.items.append({b.item(1)})"],
            ["self.items.sort(key=lambda t: (t.size, t.color is Color.RED))"],
            [f"self.rows.pop({x}, None)"],
            [f"self.rows.setdefault({x}, []).append({b.number(1)})"],
            [f"self.tags.setdefault({b.color()}, set()).add({x})"],
            [f"self.inner.setdefault({x}, {{}})[{b.number(1)}] = {b.number(1)}"],
        ]
    )


def taken(b: Method) -> Lines:
    name, q, m = b.name(), b.some("list"), b.some("map")
    b.known("int", name)
    call = b.rng.choice(
        [
            f"{q}.pop()",
            f"{q}.pop(0)",
            f"{m}.pop({b.number(0)})",
            f"{m}.pop({b.number(0)}, 0)",
            "self._taken()",
        ]
    )
    return [f"{name} = {call}"]


def helper(b: Method) -> Lines:
    return [f"self._note({b.number(1)})"]


def _moved(b: Method) -> Lines:
    name = b.name()
    b.known("list", name)
    place = b.rng.choice(["self.q", "self.r", f"self.rows[{b.number(0)}]"])
    return [f"{name}, {place} = {place}, {b.listed(1)}"]


def _unpacked(b: Method) -> Lines:
    x, y = b.name(), b.name()
    value = b.rng.choice(
        [b.pair(), f"{b.number(1)}, {b.number(1)}", "self.q[:2]", "sorted((k, j))"]
    )
    b.known("int", x)
    b.known("int", y)
    return [f"{x}, {y} = {value}"]


def _require(b: Method) -> Lines:
    return [f'require({b.truth()}, "why")']


def leave(b: Method) -> Lines:
    ends = [f"return {b.option(1)}", *(["break", "continue", "continue"] if b.rounds else [])]
    return [f"if {b.truth(1)}:", f"    {b.rng.choice(ends)}"]


FLAT: tuple[Callable[[Method], Lines], ...] = (
    _assign,
    _assign,
    update,
    update,
    update,
    local,
    _optional,
    _again,
    taken,
    helper,
    _moved,
    _unpacked,
    leave,
    _local_function,
    _names_row,
    _names_inner,
    _names_tags,
    _looks_up_number,
)
STATEMENTS = (
    *FLAT,
    branch,
    branch,
    over_numbers,
    over_numbers,
    _over_pairs,
    _over_rows,
    _over_items,
    emptying,
    _counting,
    matches.match_opt,
    matches.match_list,
    matches.match_list,
    matches.match_color,
    _looks_up_row,
    _looks_up_row,
    _require,
)


def text(frame: str, method: Method) -> str:
    """The machine of a frame, with a method of these choices as its last one."""
    lines = method.block(5)
    last = method.rng.choice(["return None", f"return {method.option(1)}"])
    body = "".join(f"        {line}\n" for line in [*lines, last])
    method.names = {}
    return frame + METHOD + body + PROPERTY.format(method.truth(), method.number(1))


def module(seed: str) -> str:
    """The text of the machine of a seed, after the usual imports."""
    return text(PLAIN, Method(Random(seed)))
