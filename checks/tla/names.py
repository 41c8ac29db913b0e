"""Names that TLA+ takes: identifiers that mean nothing else, and strings."""

from __future__ import annotations

import re
from collections.abc import Iterable

KEYWORDS = frozenset({
    "ACTION", "ASSUME", "ASSUMPTION", "AXIOM", "BOOLEAN", "BY", "CASE", "CHOOSE", "CONSTANT",
    "CONSTANTS", "COROLLARY", "DEF", "DEFINE", "DEFS", "DOMAIN", "ELSE", "ENABLED", "EXCEPT",
    "EXTENDS", "FALSE", "HAVE", "HIDE", "IF", "IN", "INSTANCE", "LAMBDA", "LEMMA", "LET",
    "LOCAL", "MODULE", "NEW", "OBVIOUS", "OMITTED", "ONLY", "OTHER", "PICK", "PROOF",
    "PROPOSITION", "PROVE", "QED", "RECURSIVE", "STATE", "STRING", "SUBSET", "SUFFICES", "TAKE",
    "TEMPORAL", "THEN", "THEOREM", "TRUE", "UNCHANGED", "UNION", "USE", "VARIABLE", "VARIABLES",
    "WITH", "WITNESS",
})
# What the standard modules define that a module of ours extends.
STANDARD = frozenset({
    "Nat", "Int", "Seq", "Len", "Append", "Head", "Tail", "SubSeq", "SelectSeq", "Cardinality",
    "IsFiniteSet", "Print", "PrintT", "Assert", "JavaTime", "TLCGet", "TLCSet", "Permutations",
    "SortSeq", "RandomElement", "Any", "ToString", "TLCEval",
})

AND, OR = " /\\ ", " \\/ "
CUP, CAP, TIMES = " \\cup ", " \\cap ", " \\X "


class CannotWrite(Exception):
    """The machine has something that is not written in TLA+; the text says what, and where."""


def word(name: str) -> str:
    """An identifier as near to the name as TLA+ allows; the same for the same name."""
    plain = re.sub(r"[^A-Za-z0-9_]", lambda found: f"u{ord(found[0]):x}", name)
    letters = any(letter.isalpha() for letter in plain)
    if not letters or plain[:3] in ("WF_", "SF_"):
        plain = f"x{plain}"
    return f"{plain}_" if plain in KEYWORDS else plain


def quoted(text: str) -> str:
    """A string of TLA+; names of enums' members are written as identifiers are."""
    return f'"{word(text)}"'


class Names:
    """Gives out names; those of `outer`, and those that begin as an operator does, are taken."""

    def __init__(self, outer: Names | None, taken: Iterable[str] = ()) -> None:
        self.outer = outer
        self.taken = {*STANDARD, *taken}
        self.prefixes: tuple[str, ...] = ()

    def fresh(self, wanted: str) -> str:
        """The name, or the first of `name_1`, `name_2`, ... that is free."""
        base = word(wanted)
        while base.startswith(self._all_prefixes()):
            base = f"v{base}"
        return self.claim(base)

    def claim(self, base: str) -> str:
        """The same of a name that may begin as an operator does."""
        name, count = base, 0
        while self._is_taken(name):
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name

    def _all_prefixes(self) -> tuple[str, ...]:
        return (*self.prefixes, *(() if self.outer is None else self.outer.prefixes))

    def _is_taken(self, name: str) -> bool:
        return name in self.taken or (self.outer is not None and self.outer._is_taken(name))
