"""Random `match` statements: over values that may be None, members of an enum, and lists."""

from __future__ import annotations

from typing import Any

Lines = list[str]
Method = Any  # Of `methods`, where these statements are among others.


def deeper(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]


def match_opt(b: Method) -> Lines:
    name = b.name()
    lines = [f"match {b.option(1)}:", "    case None:", *deeper(b.inner())]
    if b.rng.random() < 0.5:
        lines += [f"    case {b.rng.choice(['0', '1', '0 | 2'])}:", *deeper(b.inner())]
    b.known("int", name)
    lines += [f"    case {name}:", *deeper(b.inner())]
    b.names["int"].remove(name)
    return lines


def match_list(b: Method) -> Lines:
    x, y, rest, guarded = b.name(), b.name(), b.name(), b.name()
    cases: list[tuple[str, tuple[str, ...]]] = [
        ("[]", ()),
        (f"[{x}]", (x,)),
        (f"[{x}, {y}]", (x, y)),
        (f"[{x}, *_]", (x,)),
        (f"[*_, {x}]", (x,)),
        (f"[_, *{rest}]", ()),
        (f"[0 | 1, *{rest}, {y}]", (y,)),
        (f"[_, {guarded}, *_] if {b.truth(1)}", (guarded,)),
        (f"[{x}] | [_, {x}, *_]", (x,)),
    ]
    over = b.rng.choice(["self.q", "self.r", "sorted(self.s)", f"self.rows.get({b.number(0)}, [])"])
    lines, kept = [f"match {over}:"], b.kept()
    for pattern, known in b.rng.sample(cases, b.rng.randint(1, 4)):
        for each in known:
            b.known("int", each)
        read = [f"        self.n = len({rest}) - sum({rest})"] if f"*{rest}" in pattern else []
        lines += [f"    case {pattern}:", *read, *deeper(b.inner())]
        b.names = {kind: list(names) for kind, names in kept.items()}
    if b.rng.random() < 0.5:
        lines += ["    case _:", *deeper(b.inner())]
        b.names = kept
    return lines


def match_color(b: Method) -> Lines:
    lines = [f"match {b.some('color')}:", "    case Color.RED:", *deeper(b.inner())]
    if b.rng.random() < 0.5:
        return [*lines, "    case Color.BLUE | Color.GREEN:", *deeper(b.inner())]
    return [*lines, "    case _:", *deeper(b.inner())]
