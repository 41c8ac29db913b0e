"""Names in TLA+: identifiers that clash with nothing, and strings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lawful.spec.errors import Unsupported

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
# Definitions of the standard modules that an exported module extends.
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
# Words with which sections of a configuration of TLC begin.
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
# Definitions of every exported module, beside its helpers.
OWN = frozenset({"Init", "Next", "Spec", "Safety", "None", "Unset"})
RESERVED = KEYWORDS | STANDARD | SECTIONS | OWN | {*HELPERS}
# Modules of TLC: an exported module needs another file name.
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


class CannotWrite(Unsupported):
    """A construct of the machine cannot be exported to TLA+; the message says which, and where."""


def spelled(name: str) -> str:
    """The name in letters that TLA+ allows. Equal names give equal results."""
    return re.sub(r"[^A-Za-z0-9_]", lambda found: f"u{ord(found[0]):x}", name)


def word(name: str) -> str:
    """The name as an identifier of TLA+ that is not reserved."""
    plain = spelled(name)
    letters = any(letter.isalpha() for letter in plain)
    if not letters or plain[:3] in ("WF_", "SF_"):
        plain = f"x{plain}"
    return f"{plain}_" if plain in RESERVED else plain


def quoted(text: str) -> str:
    """The name as a string of TLA+, which is the form of members of an enum."""
    return f'"{spelled(text)}"'


class Names:
    """Unique names of one scope.

    Names of the scope `outer` are taken, too, and names with a prefix of the operators.
    """

    def __init__(self, outer: Names | None, taken: Iterable[str] = ()) -> None:
        self.outer = outer
        self.taken = {*STANDARD, *taken}
        self.prefixes: tuple[str, ...] = ()

    def fresh(self, wanted: str) -> str:
        """An unused name: `wanted`, or the first of `wanted_1`, `wanted_2`, ..."""
        base = word(wanted)
        while base.startswith(self._all_prefixes()):
            base = f"v{base}"
        return self.claim(base)

    def claim(self, base: str) -> str:
        """The same for the name of an operator, which may have such a prefix."""
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
