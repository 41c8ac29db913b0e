"""`ast` -> `tree`: syntax is checked here, when the class is created.

Each dict maps an `ast` class to the small function that reads it; a class without a row is refused.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..errors import Place, Problems
from . import short_forms, tree
from .source import place_of

ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
}
COMPARISON: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
UNARY: dict[type[ast.unaryop], str] = {ast.Not: "not", ast.USub: "-", ast.UAdd: "+"}
STARRED = ("union", "difference", "difference_update")  # Methods of sets alone.
REWRITES: dict[type[ast.AST], str] = {
    ast.While: short_forms.ENDLESS,
    ast.Try: "ask before: `require(k in self.m)` instead of catching the KeyError",
    ast.With: "a body only computes; let the caller of the event do this",
    ast.Await: "a body only computes; return an output that the caller performs",
    ast.Yield: "return a tuple or a frozenset",
    ast.Lambda: "write a helper method",
    ast.Starred: "write the elements out; join lists with +, sets with |",
    ast.AsyncFor: "a body only computes; return an output that the caller performs",
    ast.AsyncWith: "a body only computes; return an output that the caller performs",
    ast.Nonlocal: "keep it in a variable of the machine",
    ast.ClassDef: "declare the class at the top of the module",
    ast.YieldFrom: "return a tuple or a frozenset",
    ast.TryStar: "ask before: `require(k in self.m)` instead of catching the KeyError",
    ast.Div: "use // and %: integers are exact in every engine",
    ast.NamedExpr: "assign it in a statement of its own",
    ast.Global: "keep it in a variable of the machine",
    ast.Import: "import at the top of the module",
    ast.ImportFrom: "import at the top of the module",
    ast.FunctionDef: "write a helper method of the class, or a function of the module",
}


class Parser:
    """Reads the bodies of one file; problems are collected, never raised from within."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems = Problems()
        self.fresh = 0  # Locals of our own so far.
        # For each loop round here the local that says that no `break` ended it, where it has one.
        self.loops: list[tree.Name | None] = []
        self.functions = False  # Whether the present body has functions of its own.
        # Before Python 3.12 what is inside an f-string has no place of its own.
        self.inside: Place | None = None

    def place(self, node: ast.AST) -> Place:
        return self.inside or place_of(node, self.file)

    def refuse(self, number: str, node: ast.AST, expected: str) -> None:
        """Note that this node is outside the language."""
        rewrite = REWRITES.get(type(node), "say it with the statements and expressions of the page")
        found = ast.unparse(node).split("\n")[0] if hasattr(node, "lineno") else type(node).__name__
        self.problems.add(number, self.place(node), found[:80], expected, rewrite)

    # Expressions.

    def expr(self, node: ast.expr) -> tree.Expression:
        read = EXPRESSIONS.get(type(node))
        if read is None:
            expected = "an expression of the language"
            if isinstance(node, ast.Starred):
                expected = "elements and arguments written out"
            self.refuse("L103", node, expected)
            return tree.Literal(self.place(node), None)
        return read(self, node)

    def looked_in(self, node: ast.expr) -> tree.Expression:
        """What a loop goes through, or what `in` looks in. There `m.get(k, ())` has any empty
        collection where the key is not there."""
        match node:
            case ast.Call(
                func=ast.Attribute(attr="get"), args=[key, ast.Tuple(elts=[]) as other], keywords=[]
            ):
                empty = tree.Display(self.place(other), "empty", ())
                args = (self.expr(key), empty)
                return tree.Apply(self.place(node), self.expr(node.func), args, ())
            case _:
                return self.expr(node)

    def exprs(self, nodes: list[ast.expr]) -> tuple[tree.Expression, ...]:
        return tuple(self.expr(node) for node in nodes)

    def names(self, node: ast.expr) -> tuple[tuple[str, ...], tree.Inner]:
        """The names that a loop binds; a tuple among them has a name of our own, and its own names
        stand beside."""
        match node:
            case ast.Name(id=name):
                return (name,), ()
            case ast.Tuple(elts=[_, *_] as elts):
                names: list[str] = []
                inner: list[tuple[str, tuple[str, ...]]] = []
                for each in elts:
                    own, below = self.names(each)
                    if isinstance(each, ast.Tuple):
                        inner.append((short_forms.fresh(self, each).name, own))
                        own = (inner[-1][0],)
                    names += own
                    inner += below
                if len(names) > 1:
                    return tuple(names), tuple(inner)
                whole = short_forms.fresh(self, node).name  # `for (a,) in q` takes a tuple apart.
                return (whole,), ((whole, tuple(names)), *inner)
            case _:
                self.refuse("L103", node, "a name, or names separated by commas")
                return ("_",), ()

    # Statements.

    def block(self, nodes: list[ast.stmt]) -> tuple[tree.Statement, ...]:
        return tuple(each for node in nodes for each in self._longer(node))

    def _longer(self, node: ast.stmt) -> Iterable[tree.Statement]:
        """The statements that one of Python stands for, which often is itself alone."""
        self.functions |= _is_function(node)
        named = short_forms.named_first(node)
        targets = short_forms.starred(node)
        if named is not None:
            return self.block(named)
        match node:
            case ast.Assign() if (apart := short_forms.nested_targets(self, node)) is not None:
                return self.block(apart)
            case ast.Assign() if targets is not None:
                return short_forms.unpacking(self, node, targets)
            case ast.Assign(targets=[_, _, *_]):
                return short_forms.several_targets(self, node)
            case ast.For(orelse=[_, *_]) | ast.While(orelse=[_, *_]):
                return short_forms.with_else(self, node)
            case ast.Break():
                return short_forms.leave(self, node)
            case ast.Delete():
                return [tree.Delete(self.place(node), self.expr(each)) for each in node.targets]
            case _:
                return self._statement(node)

    def _statement(self, node: ast.stmt) -> Iterator[tree.Statement]:
        read = STATEMENTS.get(type(node))
        if isinstance(node, ast.Raise):
            self.problems.add(
                "L102",
                self.place(node),
                ast.unparse(node)[:80],
                "a guard that refuses the event",
                _refusing(node),
            )
        elif read is None:
            self.refuse("L102", node, "a statement of the language")
            if isinstance(node, ast.Try):  # What it assigns is known further down.
                yield from self.block(node.body)
        else:
            yield read(self, node)

    def loop(self, node: ast.For, done: tree.Name | None) -> tree.Each:
        """A loop without its `else`; where `done` is given a `break` makes it False."""
        (names, inner), over = self.names(node.target), self.looked_in(node.iter)
        self.loops.append(done)
        body = self.block(node.body)
        self.loops.pop()
        place = self.place(node.target)
        taken = [short_forms.unpacked(place, *each) for each in inner]
        return tree.Each(self.place(node), names, over, (*taken, *body))

    def repetition(self, node: ast.While, done: tree.Name | None) -> tree.While:
        """A `while` loop without its `else`; `done` is as in `loop`."""
        test = self.expr(node.test)
        self.loops.append(done)
        body = self.block(node.body)
        self.loops.pop()
        return tree.While(self.place(node), test, body)

    def body(self, nodes: list[ast.stmt]) -> tuple[str, tuple[tree.Statement, ...]]:
        """The docstring and the rest of a function's body."""
        doc = ""
        match nodes:
            case [ast.Expr(value=ast.Constant(value=str() as text)), *rest]:
                doc, nodes = text, rest
            case _:
                pass
        noted = len(self.problems.found)
        made = self.block(nodes)
        if self.functions:
            from . import local_functions  # Few bodies have them.

            del self.problems.found[noted:]
            made, self.functions = self.block(local_functions.without(nodes)), False
        return doc, made


def _is_function(node: ast.stmt) -> bool:
    """Whether a statement of a body gives a function a name."""
    match node:
        case ast.FunctionDef() | ast.Assign(value=ast.Lambda()):
            return True
        case _:
            return False


def _refusing(node: ast.Raise) -> str:
    """The guard to write instead of an exception."""
    match node.exc:
        case ast.Call(args=[(ast.Constant(value=str()) | ast.JoinedStr()) as why]):
            return f"write refuse({ast.unparse(why)})"
        case _:
            return "write refuse(why); for what can never happen `assert`"


def parameters(parser: Parser, args: ast.arguments) -> tuple[str, ...]:
    """The names of the parameters, those without a default first; other kinds are refused."""
    for arg in (*args.posonlyargs[1:], args.vararg, args.kwarg):
        if arg is not None:
            parser.problems.add(
                "L104",
                parser.place(arg),
                f"the parameter {arg.arg}",
                "parameters that can be given by name",
                "leave out /, *args and **kwargs; for several values take a tuple",
            )
    both = list(zip(args.kwonlyargs, args.kw_defaults, strict=True))
    needed = [arg for arg, default in both if default is None]
    if args.defaults:
        for arg in needed:
            parser.problems.add(
                "L104",
                parser.place(arg),
                f"the parameter {arg.arg}, which has no default",
                "parameters without a default first",
                f"write it before {args.args[-len(args.defaults)].arg}",
            )
    left_out = [arg for arg, default in both if default is not None]
    return tuple(arg.arg for arg in (*args.posonlyargs, *args.args, *needed, *left_out))


def function(p: Parser, node: ast.Lambda) -> tree.Function:
    """A lambda."""
    names = parameters(p, node.args)
    args = node.args
    for default in (*args.defaults, *(each for each in args.kw_defaults if each is not None)):
        p.problems.add(
            "L104",
            p.place(default),
            f"the default {ast.unparse(default)}"[:80],
            "a lambda whose parameters have no defaults",
            "leave it out: every argument is given",
        )
    return tree.Function(p.place(node), names, p.expr(node.body))


def _constant(p: Parser, node: ast.Constant) -> tree.Expression:
    if isinstance(node.value, bool | int | float | str | None):
        return tree.Literal(p.place(node), node.value)
    p.problems.add(
        "L103",
        p.place(node),
        ast.unparse(node)[:80],
        "a bool, an int, None or, in reasons, text",
        "keep such a value outside; inside, an Opaque stands for it",
    )
    return tree.Literal(p.place(node), None)


def _name(p: Parser, node: ast.Name) -> tree.Expression:
    if re.fullmatch(r"_(\d+|each|key)", node.id):
        p.problems.add("L108", p.place(node), node.id, "a name of your own", "choose another name")
    return tree.Name(p.place(node), node.id)


def _subscript(p: Parser, node: ast.Subscript) -> tree.Expression:
    of = p.expr(node.value)
    if isinstance(node.slice, ast.Slice):
        cut = node.slice
        if ast.unparse(cut) == "::-1":
            return tree.Cut(p.place(node), of, None, None, backwards=True)
        if cut.step is not None:
            p.problems.add(
                "L103",
                p.place(cut.step),
                f"a step of {ast.unparse(cut.step)}"[:80],
                "a slice without a step",
                "write tuple(q[i] for i in range(low, high, step))",
            )
        low = None if cut.lower is None else p.expr(cut.lower)
        high = None if cut.upper is None else p.expr(cut.upper)
        return tree.Cut(p.place(node), of, low, high)
    return tree.Subscript(p.place(node), of, p.expr(node.slice))


def _apply(p: Parser, node: ast.Call) -> tree.Expression:
    keywords: list[tuple[str, tree.Expression]] = []
    for word in node.keywords:
        if word.arg is None:
            p.refuse("L103", word.value, "arguments written out")
        else:
            keywords.append((word.arg, p.expr(word.value)))
    of_several = isinstance(node.func, ast.Attribute) and node.func.attr in STARRED
    args = tuple(
        short_forms.any_of_several(p, each)
        if of_several and isinstance(each, ast.Starred)
        else p.expr(each)
        for each in node.args
    )
    return tree.Apply(p.place(node), p.expr(node.func), args, tuple(keywords))


def _binary(p: Parser, node: ast.BinOp) -> tree.Expression:
    place, left, right = p.place(node), p.expr(node.left), p.expr(node.right)
    if isinstance(node.op, ast.BitAnd) and isinstance(right, tree.Literal):
        from . import powers

        return powers.masked(place, left, right) or tree.Binary(place, "&", left, right)
    op = ARITHMETIC.get(type(node.op))
    if op is None or (op == "/" and _of_self(node)):
        from . import powers  # Few machines have them.

        found = powers.short(node.op, place, left, right)
        if found is not None:
            return found
        expected = "one of + - * // % | & ^, a constant power or shift"
        rewrite = powers.rewrite(node.op, left, right)
        rewrite = rewrite or REWRITES.get(type(node.op), "use + - * // %")
        p.problems.add("L103", place, ast.unparse(node)[:80], expected, rewrite)
        op = "+"
    return tree.Binary(place, op, left, right)


def _of_self(node: ast.expr) -> bool:
    """Whether a variable of the machine is in it, so that it is no constant."""
    return any(isinstance(each, ast.Name) and each.id == "self" for each in ast.walk(node))


def _unary(p: Parser, node: ast.UnaryOp) -> tree.Expression:
    op = UNARY.get(type(node.op))
    if op is None:
        p.problems.add(
            "L103",
            p.place(node),
            ast.unparse(node)[:80],
            "one of not, -, +",
            "integers have no fixed number of bits here; for sets subtract: everyone - s",
        )
        return p.expr(node.operand)
    of = p.expr(node.operand)
    if op == "-" and isinstance(of, tree.Literal) and type(of.value) is int:
        return tree.Literal(p.place(node), -of.value)
    return tree.Unary(p.place(node), op, of)


def _compare(p: Parser, node: ast.Compare) -> tree.Expression:
    first = p.expr(node.left)
    sides = zip(node.ops, node.comparators, strict=True)
    rest = tuple(
        (
            COMPARISON[type(op)],
            (p.looked_in if isinstance(op, ast.In | ast.NotIn) else p.expr)(side),
        )
        for op, side in sides
    )
    return tree.Compare(p.place(node), first, rest)


def _bool(p: Parser, node: ast.BoolOp) -> tree.Expression:
    cls = tree.Both if isinstance(node.op, ast.And) else tree.Either
    return cls(p.place(node), p.exprs(node.values))


def _dict(p: Parser, node: ast.Dict) -> tree.Expression:
    place = p.place(node)
    maps: list[tree.Expression] = []  # `{**a, k: v}` is `a | {k: v}`.
    pairs: list[tuple[tree.Expression, tree.Expression]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            pairs.append((p.expr(key), p.expr(value)))
            continue
        maps += [*([tree.Pairs(place, tuple(pairs))] if pairs else []), p.expr(value)]
        pairs = []
    if maps == [] or pairs:
        maps.append(tree.Pairs(place, tuple(pairs)))
    if len(maps) == 1 and not isinstance(maps[0], tree.Pairs):
        maps.append(tree.Pairs(place, ()))
    return functools.reduce(lambda a, b: tree.Binary(place, "|", a, b), maps)


def _display(kind: str) -> Callable[[Parser, Any], tree.Expression]:
    def read(p: Parser, node: ast.Set | ast.List | ast.Tuple) -> tree.Expression:
        if _starred(node.elts):
            return short_forms.spread(p, node, kind)
        return tree.Display(p.place(node), kind, p.exprs(node.elts))

    return read


def _comprehension(kind: str) -> Callable[[Parser, Any], tree.Expression]:
    def read(p: Parser, node: Any) -> tree.Expression:
        clauses: list[tree.For] = []
        for gen in node.generators:
            if gen.is_async:
                p.refuse("L103", node, "a plain comprehension")
            (names, inner), over = p.names(gen.target), p.looked_in(gen.iter)
            clauses.append(tree.For(p.place(gen.target), names, over, p.exprs(gen.ifs), inner))
        key = p.expr(node.key) if kind == "map" else None
        element = p.expr(node.value if kind == "map" else node.elt)
        return tree.Comprehension(p.place(node), kind, element, key, tuple(clauses))

    return read


def _interpolated(p: Parser, node: ast.JoinedStr) -> tree.Expression:
    parts: list[tree.Expression] = []
    p.inside, kept = p.place(node), p.inside
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            parts.append(_formatted(p, part, node))
        else:
            parts.append(p.expr(part))
    p.inside = kept
    return tree.Interpolated(p.place(node), tuple(parts))


def _formatted(p: Parser, part: ast.FormattedValue, whole: ast.JoinedStr) -> tree.Expression:
    """One value of an f-string, with its conversion and its format."""
    value, place = p.expr(part.value), p.place(whole)
    written = None if part.format_spec is None else _literal_text(part.format_spec)
    if part.conversion == ord("a") or (part.format_spec and written is None):
        p.problems.add(
            "L103",
            place,
            ast.unparse(whole)[:80],
            "{value}, {value!s}, {value!r} or a format that is written out, {value:>4}",
            "leave out the conversion and the computed format",
        )
        return value
    if part.conversion == ord("s"):
        value = tree.Interpolated(place, (value,))
    if part.conversion == ord("r"):
        value = tree.Formatted(place, value, tree.QUOTED)
    return value if not written else tree.Formatted(place, value, written)


def _literal_text(spec: ast.expr) -> str | None:
    """The format of an f-string's value, if all of it is written out."""
    match spec:
        case ast.JoinedStr(values=[ast.Constant(value=str(text))]):
            return text
        case ast.JoinedStr(values=[]):
            return ""
        case _:
            return None


def _conditional(p: Parser, node: ast.IfExp) -> tree.Expression:
    test, then, other = p.exprs([node.test, node.body, node.orelse])
    return tree.Conditional(p.place(node), test, then, other)


EXPRESSIONS: dict[type[ast.expr], Callable[[Parser, Any], tree.Expression]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    short_forms.Own: lambda p, n: tree.Name(p.place(n), n.id),
    ast.Attribute: lambda p, n: tree.Attribute(p.place(n), p.expr(n.value), n.attr),
    ast.Subscript: _subscript,
    ast.Call: _apply,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool,
    ast.IfExp: _conditional,
    ast.Dict: _dict,
    ast.Set: _display("set"),
    ast.List: _display("list"),
    ast.Tuple: _display("tuple"),
    ast.SetComp: _comprehension("set"),
    ast.ListComp: _comprehension("list"),
    ast.DictComp: _comprehension("map"),
    ast.GeneratorExp: _comprehension("generator"),
    ast.JoinedStr: _interpolated,
    ast.Lambda: function,
}


def _assign(p: Parser, node: ast.Assign) -> tree.Statement:
    return tree.Set(p.place(node), p.expr(node.targets[0]), p.expr(node.value), None)


def _annotated(p: Parser, node: ast.AnnAssign) -> tree.Statement:
    if node.value is None:
        p.refuse("L102", node, "an annotated local with its value")
        return tree.Skip(p.place(node))
    text = ast.unparse(node.annotation)
    return tree.Set(p.place(node), p.expr(node.target), p.expr(node.value), text)


def _augment(p: Parser, node: ast.AugAssign) -> tree.Statement:
    op, target, value = ARITHMETIC.get(type(node.op)), p.expr(node.target), p.expr(node.value)
    if op is None:
        from . import powers  # Few machines have them.

        found = powers.short(node.op, p.place(node), target, value)
        if found is not None and powers.is_plain(target):
            return tree.Set(p.place(node), target, found, None)
        rewrite = powers.rewrite(node.op, target, value) or "write it out: x = x @ y"
        expected = "one of += -= *= //= %= |= &= ^=, a constant power or shift"
        p.problems.add("L102", p.place(node), ast.unparse(node)[:80], expected, rewrite)
        op = "+"
    return tree.Augment(p.place(node), op, target, value)


def _evaluate(p: Parser, node: ast.Expr) -> tree.Statement:
    if isinstance(node.value, ast.Constant) and node.value.value is ...:
        return tree.Skip(p.place(node))
    return tree.Evaluate(p.place(node), p.expr(node.value))


def _give(p: Parser, node: ast.Return) -> tree.Statement:
    return tree.Give(p.place(node), None if node.value is None else p.expr(node.value))


def _choose(p: Parser, node: ast.If) -> tree.Statement:
    return tree.Choose(p.place(node), p.expr(node.test), p.block(node.body), p.block(node.orelse))


def _while(p: Parser, node: ast.While) -> tree.Statement:
    return p.repetition(node, None)


def _match(p: Parser, node: ast.Match) -> tree.Statement:
    cases: list[tree.Case] = []
    for case in node.cases:
        guard = None if case.guard is None else p.expr(case.guard)
        cases.append(
            tree.Case(p.place(case.pattern), _patterns(p, case.pattern), guard, p.block(case.body))
        )
    return tree.Match(p.place(node), p.expr(node.subject), tuple(cases))


def _patterns(p: Parser, node: ast.pattern) -> tuple[tree.Pattern, ...]:
    """The alternatives of a pattern."""
    place = p.place(node)
    match node:
        case ast.MatchOr(patterns=patterns):
            return tuple(alternative for each in patterns for alternative in _patterns(p, each))
        case ast.MatchValue(value=value):
            return (tree.Pattern(place, p.expr(value), None, (), (), None),)
        case ast.MatchSingleton(value=value):
            return (tree.Pattern(place, tree.Literal(place, value), None, (), (), None),)
        case ast.MatchAs(pattern=None, name=name):
            return (tree.Pattern(place, None, None, (), (), name),)
        case ast.MatchAs(pattern=pattern, name=name) if pattern is not None:
            return tuple(replace(each, capture=name) for each in _patterns(p, pattern))
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=given):
            positional = tuple(_patterns(p, each) for each in patterns)
            keyword = tuple((n, _patterns(p, g)) for n, g in zip(names, given, strict=True))
            return (tree.Pattern(place, None, p.expr(cls), positional, keyword, None),)
        case ast.MatchSequence(patterns=patterns):
            starred = (i for i, each in enumerate(patterns) if isinstance(each, ast.MatchStar))
            at = next(starred, None)
            rest = None if at is None else (at, getattr(patterns[at], "name", None))
            items = tuple(_patterns(p, each) for i, each in enumerate(patterns) if i != at)
            return (tree.Pattern(place, None, None, (), (), None, items, rest),)
        case _:
            p.refuse("L103", node, "a value, a record class, a tuple of patterns, a name or _")
            return (tree.Pattern(place, None, None, (), (), None),)


def _starred(nodes: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Starred) for each in nodes)


STATEMENTS: dict[type[ast.stmt], Callable[[Parser, Any], tree.Statement]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augment,
    ast.Expr: _evaluate,
    ast.If: _choose,
    ast.Match: _match,
    ast.For: lambda p, n: p.loop(n, None),
    ast.While: _while,
    ast.Return: _give,
    ast.Assert: lambda p, n: tree.Claim(p.place(n), p.expr(n.test)),
    ast.Pass: lambda p, n: tree.Skip(p.place(n)),
    ast.Continue: lambda p, n: tree.Next(p.place(n)),
}
