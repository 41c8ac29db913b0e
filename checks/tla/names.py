"""Names that TLA+ takes: identifiers that mean nothing else, and strings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .prelude import HELPERS

KEYWORDS = frozenset(
    {
        "ACTION",
        "ASSUME",
        "ASSUMPTION",
        "AXIOM",
        "BOOLEAN",
        "BY",
        "CASE",
        "CHOOSE",
        "CONSTANT",
        "CONSTANTS",
        "COROLLARY",
        "DEF",
        "DEFINE",
        "DEFS",
        "DOMAIN",
        "ELSE",
        "ENABLED",
        "EXCEPT",
        "EXTENDS",
        "FALSE",
        "HAVE",
        "HIDE",
        "IF",
        "IN",
        "INSTANCE",
        "LAMBDA",
        "LEMMA",
        "LET",
        "LOCAL",
        "MODULE",
        "NEW",
        "OBVIOUS",
        "OMITTED",
        "ONLY",
        "OTHER",
        "PICK",
        "PROOF",
        "PROPOSITION",
        "PROVE",
        "QED",
        "RECURSIVE",
        "STATE",
        "STRING",
        "SUBSET",
        "SUFFICES",
        "TAKE",
        "TEMPORAL",
        "THEN",
        "THEOREM",
        "TRUE",
        "UNCHANGED",
        "UNION",
        "USE",
        "VARIABLE",
        "VARIABLES",
        "WITH",
        "WITNESS",
    }
)
# What the standard modules define that a module of ours extends.
STANDARD = frozenset(
    {
        "Nat",
        "Int",
        "Seq",
        "Len",
        "Append",
        "Head",
        "Tail",
        "SubSeq",
        "SelectSeq",
        "Cardinality",
        "IsFiniteSet",
        "Print",
        "PrintT",
        "Assert",
        "JavaTime",
        "TLCGet",
        "TLCSet",
        "Permutations",
        "SortSeq",
        "RandomElement",
        "Any",
        "ToString",
        "TLCEval",
    }
)
# What TLC takes for the beginning of a section in a configuration.
SECTIONS = frozenset(
    {
        "ACTION_CONSTRAINT",
        "ACTION_CONSTRAINTS",
        "ALIAS",
        "CHECK_DEADLOCK",
        "CONSTRAINT",
        "CONSTRAINTS",
        "INIT",
        "INVARIANT",
        "INVARIANTS",
        "NEXT",
        "POSTCONDITION",
        "PROPERTIES",
        "PROPERTY",
        "SPECIFICATION",
        "SYMMETRY",
        "TYPE",
        "TYPE_CONSTRAINT",
        "VIEW",
    }
)
# What every module of ours defines, beside its helpers.
OWN = frozenset({"Init", "Next", "Spec", "Safety", "None", "Unset"})
RESERVED = KEYWORDS | STANDARD | SECTIONS | OWN | {*HELPERS}
# Names of files that TLC reads for itself: a module of ours has another.
MODULES = frozenset(
    {
        "Bags",
        "FiniteSets",
        "Integers",
        "Json",
        "Naturals",
        "Randomization",
        "Reals",
        "Sequences",
        "TLC",
        "TLCExt",
        "Toolbox",
    }
)

AND, OR = " /\\ ", " \\/ "
CUP, CAP, TIMES = " \\cup ", " \\cap ", " \\X "


class CannotWrite(Exception):
    """The machine has something that is not written in TLA+; the text says what, and where."""


def spelled(name: str) -> str:
    """The name in the letters of TLA+; the same for the same name."""
    return re.sub(r"[^A-Za-z0-9_]", lambda found: f"u{ord(found[0]):x}", name)


def word(name: str) -> str:
    """An identifier as near to the name as TLA+ allows; the same for the same name."""
    plain = spelled(name)
    letters = any(letter.isalpha() for letter in plain)
    if not letters or plain[:3] in ("WF_", "SF_"):
        plain = f"x{plain}"
    return f"{plain}_" if plain in RESERVED else plain


def quoted(text: str) -> str:
    """A name as a string of TLA+, as the members of an enum are written."""
    return f'"{spelled(text)}"'


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
