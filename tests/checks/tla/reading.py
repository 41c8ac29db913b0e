"""A small reader of TLA+: as much of the grammar as exported modules use, as trees.

Source: L. Lamport, "Specifying Systems" (2002), chapter 15.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Tree = tuple[Any, ...]
TOKEN = re.compile(
    r'\s+|\\\*[^\n]*|(?P<string>"[^"]*")|(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)'
    r"|(?P<sign>\\[A-Za-z]+|/\\|\\/|=>|==|\|->|->|<<|>>|<=|>=|~>|\[\]|<>|\.\."
    r"|[-\\#=<>+*%~'.,:(){}\[\]!])"
)
# Operators with how tightly they bind; all that are not told apart by it stand in parentheses.
INFIX: dict[str, int] = {
    "=>": 1,
    "~>": 2,
    "\\/": 3,
    "/\\": 3,
    "=": 5,
    "#": 5,
    "<": 5,
    ">": 5,
    "<=": 5,
    ">=": 5,
    "\\in": 5,
    "\\notin": 5,
    "\\subseteq": 5,
    "\\cup": 8,
    "\\cap": 8,
    "\\": 8,
    "..": 9,
    "+": 10,
    "\\X": 10,
    "-": 11,
    "%": 12,
    "*": 13,
    "\\div": 13,
    "\\o": 13,
}
PREFIX: dict[str, int] = {
    "~": 4,
    "[]": 4,
    "<>": 4,
    "UNION": 8,
    "SUBSET": 8,
    "DOMAIN": 9,
    "-": 12,
}


def tokens(text: str) -> list[str]:
    """The words and signs of a module, without what stands in comments."""
    found: list[str] = []
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match is not None, f"no TLA+: {text[at : at + 40]!r}"
        at = match.end()
        if match.lastgroup is not None:
            found.append(match.group())
    return found


@dataclass
class Parser:
    """Reads expressions; definitions begin with a name, its parameters and `==`."""

    words: list[str]
    at: int = 0

    @property
    def word(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, *wanted: str) -> str:
        word = self.word
        assert not wanted or word in wanted, (
            f"{wanted} expected, {self.words[self.at : self.at + 9]}"
        )
        self.at += 1
        return word

    def taken(self, word: str) -> bool:
        if self.word != word:
            return False
        self.at += 1
        return True

    def many(self, one: Callable[[], Any], end: str) -> list[Any]:
        """What stands between commas, up to the end."""
        found: list[Any] = []
        while not self.taken(end):
            found.append(one())
            if self.word != end:
                self.take(",")
        return found

    def expr(self, tight: int = 0) -> Tree:
        if self.word in ("/\\", "\\/"):
            self.take()  # A list that begins each line with its operator.
        left = self.prefix()
        while INFIX.get(self.word, 0) > tight:
            sign = self.take()
            left = ("infix", sign, left, self.expr(INFIX[sign]))
        return left

    def prefix(self) -> Tree:
        word = self.word
        if word in PREFIX:
            self.take()
            return ("prefix", word, self.expr(PREFIX[word]))
        if word in ("\\A", "\\E", "CHOOSE"):
            self.take()
            name = self.take()
            self.take("\\in")
            over = self.expr()
            self.take(":")
            return (word, name, over, self.expr())
        if word == "LAMBDA":
            self.take()
            names = [self.take()]
            while self.taken(","):
                names.append(self.take())
            self.take(":")
            return ("lambda", names, self.expr())
        if word == "IF":
            self.take()
            test = self.expr()
            self.take("THEN")
            then = self.expr()
            self.take("ELSE")
            return ("if", test, then, self.expr())
        if word in ("LET", "CASE"):
            return self.let() if word == "LET" else self.case()
        return self.postfix(self.atom())

    def let(self) -> Tree:
        self.take("LET")
        rows: list[Tree] = []
        while not self.taken("IN"):
            rows.extend(self.definition())
        return ("let", rows, self.expr())

    def case(self) -> Tree:
        self.take("CASE")
        rows: list[tuple[Tree, Tree]] = []
        while True:
            test = self.expr()
            self.take("->")
            rows.append((test, self.expr()))
            if not self.taken("[]"):
                return ("case", rows)

    def definition(self) -> list[Tree]:
        """A definition; of a declaration that one is recursive, nothing."""
        if self.taken("RECURSIVE"):
            self.take()
            self.take("(")
            self.many(self.take, ")")
            return []
        name = self.take()
        params = self.many(self.param, ")") if self.taken("(") else []
        self.take("==")
        return [(name, params, self.expr())]

    def param(self) -> str:
        name = self.take()
        if self.taken("("):
            self.many(self.take, ")")
        return name

    def postfix(self, left: Tree) -> Tree:
        while True:
            if self.taken("."):
                left = ("apply", left, ("value", self.take()))
            elif self.taken("["):
                left = ("apply", left, self.expr())
                self.take("]")
            elif self.taken("'"):
                left = ("prime", left)
            else:
                return left

    def atom(self) -> Tree:
        word = self.take()
        if word == "(":
            inside = self.expr()
            self.take(")")
            return inside
        if word == "<<":
            return self.subscripted(("tuple", self.many(self.expr, ">>")))
        if word == "{":
            return self.braces()
        if word == "[":
            return self.brackets()
        if word.isdigit():
            return ("value", int(word))
        if word.startswith('"'):
            return ("value", word[1:-1])
        if word in ("TRUE", "FALSE"):
            return ("value", word == "TRUE")
        args = self.many(self.expr, ")") if self.taken("(") else []
        return ("name", word, args)

    def subscripted(self, inside: Tree) -> Tree:
        """An action with its subscript, `[A]_v` or `<<A>>_v`, or what it is without one."""
        if self.word.startswith("_"):
            self.take()
            return ("square" if inside[0] != "tuple" else "angle", inside)
        return inside

    def braces(self) -> Tree:
        if self.words[self.at + 1] == "\\in" and self.word.isidentifier():
            name = self.take()
            self.take("\\in")
            over = self.expr()
            self.take(":")
            found: Tree = ("filter", name, over, self.expr())
            self.take("}")
            return found
        if self.taken("}"):
            return ("set", [])
        first = self.expr()
        if self.taken(":"):
            name = self.take()
            self.take("\\in")
            found = ("image", name, self.expr(), first)
            self.take("}")
            return found
        self.taken(",")
        rest = self.many(self.expr, "}")
        return ("set", [first, *rest])

    def brackets(self) -> Tree:
        following = self.words[self.at + 1]
        if following == "|->":
            return ("record", self.many(lambda: self.row("|->"), "]"))
        if following == ":":
            return ("records", self.many(lambda: self.row(":"), "]"))
        if following == "\\in":
            name = self.take()
            self.take("\\in")
            over = self.expr()
            if self.taken("|->"):
                made: Tree = ("function", name, over, self.expr())
                self.take("]")
                return made
            raise AssertionError("a function was expected")
        first = self.expr()
        if self.taken("EXCEPT"):
            return ("except", first, self.many(self.change, "]"))
        if self.taken("->"):
            made = ("functions", first, self.expr())
            self.take("]")
            return made
        self.take("]")
        return self.subscripted(first)

    def row(self, sign: str) -> tuple[str, Tree]:
        name = self.take()
        self.take(sign)
        return name, self.expr()

    def change(self) -> tuple[list[Tree], Tree]:
        self.take("!")
        path: list[Tree] = []
        while self.word != "=":
            if self.taken("."):
                path.append(("value", self.take()))
            else:
                self.take("[")
                path.append(self.expr())
                self.take("]")
        self.take("=")
        return path, self.expr()
