"""Local functions: `big = lambda x: x > n`, or a `def` that returns one expression.

Where a body uses such a name, the expression stands for it. As in Python, what it reads is read
where it is called.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence

MAPPERS = frozenset({"map", "filter"})
SCOPES = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
QUIET = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.BinOp, ast.UnaryOp),
    *(ast.expr_context, ast.operator, ast.unaryop),
)
PURE = frozenset({"len", "abs", "min", "max", "sum", "int", "bool"})


def without(nodes: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a body with its local functions put where they are used.

    One that cannot be put there stays as it is, and is refused as a statement.
    """
    bound = Counter(_bound(nodes))
    once = {name for name in bound if bound[name] == 1}
    put: set[str] = set()
    made = _in_block(nodes, once, put)
    return nodes if any(_reads(name, each) for name in put for each in made) else made


def _in_block(nodes: list[ast.stmt], once: set[str], put: set[str]) -> list[ast.stmt]:
    """The same of one block, where later statements of it use the names; of those that the whole
    body binds once. Whatever is put there is added to `put`."""
    left: list[ast.stmt] = []
    while nodes:
        first, *nodes = nodes
        found = _defined(first)
        if found is not None and found[0] in once and _stands_alone(found[1], found[0]):
            placed = _Placing(*found)
            made = [placed.within(each) for each in nodes]
            if not placed.failed:
                nodes = made
                put.add(found[0])
                continue
        left.append(_inside(first, once, put))
    return left


def _inside(stmt: ast.stmt, once: set[str], put: set[str]) -> ast.stmt:
    """A statement with the same done in its blocks."""
    match stmt:
        case ast.If() | ast.For() | ast.While():
            again = copy.copy(stmt)
            again.body = _in_block(stmt.body, once, put)
            again.orelse = _in_block(stmt.orelse, once, put)
            return again
        case ast.Match():
            match_ = copy.copy(stmt)
            match_.cases = [copy.copy(case) for case in stmt.cases]
            for case in match_.cases:
                case.body = _in_block(case.body, once, put)
            return match_
        case _:
            return stmt


def _defined(node: ast.stmt) -> tuple[str, ast.Lambda] | None:
    """The name and the function, where a statement is its definition."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
            return name, function
        case ast.FunctionDef(
            name=name,
            args=args,
            body=[ast.Return(value=ast.expr() as value)]
            | [ast.Expr(value=ast.Constant(value=str())), ast.Return(value=ast.expr() as value)],
            decorator_list=[],
        ):
            plain = copy.deepcopy(args)
            for arg in plain.args:
                arg.annotation = None
            return name, ast.copy_location(ast.Lambda(plain, value), value)
        case _:
            return None


def _stands_alone(function: ast.Lambda, name: str) -> bool:
    """Whether its parameters are plain, and nothing in it has the name of one or its own."""
    args = function.args
    plain = not (args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg or args.defaults)
    inside = set(_bound([function.body]))
    named = any(isinstance(each, ast.NamedExpr) for each in ast.walk(function.body))
    alone = inside.isdisjoint({*_parameters(function), name}) and not _reads(name, function.body)
    return plain and alone and not named


def _parameters(function: ast.Lambda) -> list[str]:
    return [arg.arg for arg in function.args.args]


def _bound(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Each name, as often as something binds it."""
    for node in nodes:
        for each in ast.walk(node):
            match each:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    yield name
                case ast.arg(arg=name) | ast.FunctionDef(name=name):
                    yield name
                case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                    yield name
                case _:
                    pass


def _reads(name: str, node: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


class _Placing(ast.NodeTransformer):
    """Puts a local function where its name is called, or given to what calls it."""

    def __init__(self, name: str, function: ast.Lambda) -> None:
        self.name = name
        self.function = function
        own = {*_parameters(function), *_bound([function.body])}
        read = {each.id for each in ast.walk(function.body) if isinstance(each, ast.Name)}
        self.free = read - own
        self.inside = set(_bound([function.body]))
        self.failed = False
        self.hidden: list[set[str]] = []  # The names that a scope round here gives a meaning.

    def within(self, stmt: ast.stmt) -> ast.stmt:
        """A statement with the function put into it."""
        made = self.visit(copy.deepcopy(stmt))
        assert isinstance(made, ast.stmt)
        return made

    def visit(self, node: ast.AST) -> ast.AST:
        scope = isinstance(node, SCOPES | ast.Lambda | ast.FunctionDef)
        if scope:
            self.hidden.append(set(_bound([node])))
        made: ast.AST = super().visit(node)
        if scope:
            self.hidden.pop()
        return made

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.name:
            self.failed = True
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name == self.name:
                return self._called(node, [self.visit(each) for each in args])
            case ast.Call(func=ast.Name(id=by), args=[ast.Name(id=name), *_]) if (
                by in MAPPERS and name == self.name
            ):
                node.args[0] = self._placed()
            case _:
                pass
        for word in node.keywords:
            if (
                word.arg == "key"
                and isinstance(word.value, ast.Name)
                and word.value.id == self.name
            ):
                word.value = self._placed()
        return self.generic_visit(node)

    def _placed(self) -> ast.Lambda:
        """The function itself."""
        if any(self.free & names for names in self.hidden):
            self.failed = True
        return copy.deepcopy(self.function)

    def _called(self, at: ast.Call, args: list[ast.AST]) -> ast.AST:
        """Its expression with the arguments."""
        function = self._placed()
        names = _parameters(function)
        given = dict(zip(names, args, strict=False))
        read = {each.id for arg in args for each in ast.walk(arg) if isinstance(each, ast.Name)}
        same = len(names) == len(args) and read.isdisjoint(self.inside)
        if not (same and all(_plain(args[i], function.body, names[i]) for i in range(len(args)))):
            self.failed = True
            return at
        made: ast.AST = _Giving(given).visit(function.body)
        return made


def _plain(arg: ast.AST, body: ast.expr, name: str) -> bool:
    """Whether an argument may be evaluated where the parameter is: it changes nothing, and where it
    may have no value, the body asks for it in any case."""
    if isinstance(arg, ast.Name | ast.Constant):
        return True
    return all(map(_quiet, ast.walk(arg))) and _certain(body, name)


def _quiet(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            return name in PURE
        case _:
            return isinstance(node, QUIET)


def _certain(node: ast.AST, name: str) -> bool:
    """Whether an expression reads this name whatever the values are."""
    match node:
        case ast.Name(id=own):
            return own == name
        case ast.IfExp(test=first) | ast.BoolOp(values=[first, *_]):
            return _certain(first, name)
        case ast.Compare(left=first, comparators=[second, *_]):
            return _certain(first, name) or _certain(second, name)
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return False
        case ast.Call(func=ast.Name(id="implies")):
            return False
        case _:
            return any(_certain(each, name) for each in ast.iter_child_nodes(node))


class _Giving(ast.NodeTransformer):
    """Puts arguments for parameters."""

    def __init__(self, given: dict[str, ast.AST]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.AST:
        found = self.given.get(node.id)
        return node if found is None else copy.deepcopy(found)
