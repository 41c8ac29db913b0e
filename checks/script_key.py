"""One name for scripts in SMT-LIB that ask the same, however Z3 numbers and shares their terms.

Z3 writes a term that occurs twice once, under a name, and what it takes for twice depends on what
else was asked. Here every `let` is undone, by hashing terms from the inside to the outside.
Scripts that say something else get different names: nothing is left out.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

_TOKEN = re.compile(r"\|[^|]*\||[()]|[^\s()|]+")
_hashed: dict[bytes, bytes] = {}  # What a text says, by the text's own hash.


def key(text: str) -> str:
    """The name of a script as Z3 writes it: declarations, and then one `assert` a fact."""
    head, *facts = text.split("\n(assert")
    return hashlib.sha256(b"".join((_hash(head.encode()), *map(_fact, facts)))).hexdigest()


def _fact(text: str) -> bytes:
    short = _hash(text.encode())
    if short not in _hashed:
        _hashed[short] = _of_terms(_TOKEN.findall(text))
    return _hashed[short]


@dataclass
class _Open:
    """A list that is being read: its items' hashes, and what a `let` gives names to."""

    kind: str = ""  # "let", the "bindings" of one, one "binding", or nothing special.
    name: str = ""
    items: list[bytes] = field(default_factory=list[bytes])
    bound: dict[str, bytes] = field(default_factory=dict[str, bytes])
    before: dict[str, bytes | None] = field(default_factory=dict[str, "bytes | None"])


def _of_terms(tokens: list[str]) -> bytes:
    """The hash of what the tokens say, with names for what is shared or without.

    The list around them all is left out at its beginning; what follows it goes into the hash, too.
    """
    known: dict[str, bytes] = {}
    stack = [_Open(), _Open()]
    for token in tokens:
        top = stack[-1]
        if token == "(":
            bindings = top.kind == "let" and not top.items
            kind = "bindings" if bindings else "binding" if top.kind == "bindings" else ""
            stack.append(_Open(kind))
        elif token == ")":
            stack.pop()
            _closed(top, stack[-1], known)
        elif top.kind == "binding" and not top.name:
            top.name = token
        elif token == "let" and not top.items:
            top.kind = "let"
        else:
            top.items.append(known.get(token) or _hash(token.encode()))
    return _hash(b"".join(stack[0].items))


def _closed(done: _Open, top: _Open, known: dict[str, bytes]) -> None:
    """A list was read to its end."""
    if done.kind == "binding":
        top.bound[done.name] = done.items[0]
    elif done.kind == "bindings":
        top.items.append(b"")
        for name, hashed in done.bound.items():
            top.before[name] = known.get(name)
            known[name] = hashed
    elif done.kind == "let":
        top.items.append(done.items[-1])
        for name, old in done.before.items():
            if old is None:
                del known[name]
            else:
                known[name] = old
    else:
        top.items.append(_hash(b"(" + b"".join(done.items)))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
