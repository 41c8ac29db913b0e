"""What stands for something longer: the statements `a = b = value`, `first, *rest = q` and `for ...
else`, values that are named where they are used, `if (n := len(q)) > 2:`, and `[*q, x]`."""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Iterator, Sequence
from typing import Protocol

from ..errors import Place, Problems
from . import tree

ENDLESS = (
    "use `for` over a range or a collection; or `while q:` with a body that takes an element from q"
    " in each round, q.pop(0), and puts none in; or `while i < n:` with a body that adds to i in"
    " each round, i += 1, and does not change n"
)
FIRST_OF_PARSER = 1000  # Resolution numbers its own locals from 1 on.


class Parser(Protocol):
    """What reads the parts of a statement."""

    fresh: int  # How many locals of its own it has made.
    loops: list[tree.Name | None]
    problems: Problems

    def place(self, node: ast.AST) -> Place: ...

    def expr(self, node: ast.expr) -> tree.Expression: ...

    def exprs(self, nodes: list[ast.expr]) -> tuple[tree.Expression, ...]: ...

    def block(self, nodes: list[ast.stmt]) -> tuple[tree.Statement, ...]: ...

    def loop(self, node: ast.For, done: tree.Name | None) -> tree.Each: ...
    def repetition(self, node: ast.While, done: tree.Name | None) -> tree.While: ...


def fresh(p: Parser, node: ast.AST) -> tree.Name:
    """A local of our own that no declaration can name."""
    p.fresh += 1
    return tree.Name(p.place(node), f"_{FIRST_OF_PARSER + p.fresh}")


class Own(ast.Name):
    """A name that `fresh` made."""


def several_targets(p: Parser, node: ast.Assign) -> Iterator[tree.Statement]:
    """`a = b = value`: the value is evaluated once, and assigned from left to right."""
    place, value = p.place(node), p.expr(node.value)
    if not isinstance(value, tree.Literal):
        local = fresh(p, node)
        yield tree.Set(place, local, value, None)
        value = local
    for target in node.targets:
        yield tree.Set(place, p.expr(target), value, None)


def nested_targets(p: Parser, node: ast.Assign) -> list[ast.stmt] | None:
    """`a, (b, c) = v` as `a, x = v` and `b, c = x`; None where no target is a tuple. A target
    that another one might change is a problem: Python assigns from left to right."""
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Tuple | ast.List):
        return None
    inner = [each for each in target.elts if isinstance(each, ast.Tuple | ast.List)]
    leaves = [ast.unparse(each) for each in _leaves(target)]
    if not inner:
        return None
    if len(set(leaves)) < len(leaves) or "" in leaves:
        found, expected = ast.unparse(target)[:80], "different names and variables"
        rewrite = "assign one tuple after the other: a, x = ...; b, c = x"
        p.problems.add("L102", p.place(node), found, expected, rewrite)
    names = {id(each): fresh(p, each).name for each in inner}
    outer = copy.copy(target)
    outer.elts = [
        ast.copy_location(Own(names[id(each)], ast.Store()), each) if each in inner else each
        for each in target.elts
    ]
    made: list[ast.stmt] = [ast.copy_location(ast.Assign([outer], node.value), node)]
    for each in inner:
        value = ast.copy_location(Own(names[id(each)], ast.Load()), each)
        made.append(ast.copy_location(ast.Assign([each], value), node))
    return made


def _leaves(target: ast.expr) -> Iterator[ast.expr]:
    """What nested targets assign; an empty name for a place that another target might change."""
    match target:
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for each in elts:
                yield from _leaves(each)
        case ast.Starred(value=value):
            yield from _leaves(value)
        case ast.Name() | ast.Attribute(value=ast.Name()):
            yield target
        case _:
            yield ast.Name("", ast.Store())


def starred(node: ast.stmt) -> ast.Tuple | ast.List | None:
    """The targets of `first, *rest = q`, of which one has a star; None of other assignments."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target = node.targets[0]
    if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) < 2:
        return None
    stars = [i for i, each in enumerate(target.elts) if isinstance(each, ast.Starred)]
    return target if len(stars) == 1 else None


def unpacking(
    p: Parser, node: ast.Assign, target: ast.Tuple | ast.List
) -> Iterator[tree.Statement]:
    """The items at the ends one by one, and a list of the others; then the assignments."""
    place, last = p.place(node), len(target.elts) - 1
    star = next(i for i, each in enumerate(target.elts) if isinstance(each, ast.Starred))
    value = node.value
    if isinstance(value, ast.GeneratorExp):  # All of it is taken, as of a list.
        value = ast.copy_location(ast.ListComp(value.elt, value.generators), value)
    whole = p.expr(value)
    if not isinstance(whole, tree.Name):
        local = fresh(p, node)
        yield tree.Set(place, local, whole, None)
        whole = local
    low = tree.Literal(place, star) if star else None
    high = tree.Literal(place, star - last) if star < last else None
    rest = tree.Apply(place, tree.Name(place, "list"), (tree.Cut(place, whole, low, high),), ())
    numbers = [*range(star), *range(star - last, 0)]
    # At one end alone an item that is missing has no value by itself.
    items = items_of(place, whole, last, ">=" if 0 < star < last else None, numbers)
    targets = [each.value if isinstance(each, ast.Starred) else each for each in target.elts]
    values = tree.Display(place, "tuple", (*items[:star], rest, *items[star:]))
    yield tree.Set(place, tree.Display(place, "tuple", p.exprs(targets)), values, None)


def items_of(
    place: Place, whole: tree.Name, count: int, test: str | None, numbers: Sequence[int]
) -> tuple[tree.Expression, ...]:
    """The items of a list with these numbers; where its length compares otherwise with `count`, as
    `test` says, the first has no value."""
    at: list[tree.Expression] = [tree.Literal(place, number) for number in numbers]
    if test is not None:
        length = tree.Apply(place, tree.Name(place, "len"), (whole,), ())
        fits = tree.Compare(place, length, ((test, tree.Literal(place, count)),))
        at[0] = tree.Conditional(place, fits, at[0], length)
    return tuple(tree.Subscript(place, whole, each) for each in at)


def unpacked(place: Place, name: str, names: tuple[str, ...]) -> tree.Set:
    """`(a, b)` in the target of a loop, which stands at the beginning of its body."""
    targets = tuple(tree.Name(place, each) for each in names)
    return tree.Set(place, tree.Display(place, "tuple", targets), tree.Name(place, name), None)


def spread(p: Parser, node: ast.Set | ast.List | ast.Tuple, kind: str) -> tree.Expression:
    """`[*q, x]` is `[e for e in q] + [x]`, and `{*s, x}` is `{e for e in s} | {x}`; `(*q, x)` is
    the tuple of such a list."""
    if isinstance(node, ast.Tuple):
        as_list = spread(p, ast.copy_location(ast.List(node.elts), node), "list")
        place = p.place(node)
        return tree.Apply(place, tree.Name(place, "tuple"), (as_list,), ())
    made: list[tree.Expression] = []
    single: list[ast.expr] = []  # The elements since the last star.
    for each in [*node.elts, None]:
        if single and (each is None or isinstance(each, ast.Starred)):
            made.append(tree.Display(p.place(node), kind, p.exprs(single)))
            single = []
        if isinstance(each, ast.Starred):
            name, over = fresh(p, each), p.expr(each.value)
            clause = tree.For(p.place(each), (name.name,), over, ())
            made.append(tree.Comprehension(p.place(each), kind, name, None, (clause,)))
        elif each is not None:
            single.append(each)
    op = "|" if kind == "set" else "+"
    return functools.reduce(lambda a, b: tree.Binary(p.place(node), op, a, b), made)


def any_of_several(p: Parser, node: ast.Starred) -> tree.Expression:
    """`*xs` among the arguments of `union` or `difference`: the set of what is in any of `xs`."""
    place, several, each = p.place(node), p.expr(node.value), fresh(p, node)
    match several:
        case tree.Comprehension(kind="generator" | "list" | "set", element=one, clauses=clauses):
            pass
        case _:
            one = fresh(p, node)
            clauses = (tree.For(place, (one.name,), several, ()),)
    inside = tree.For(place, (each.name,), one, ())
    return tree.Comprehension(place, "set", each, None, (*clauses, inside))


def with_else(p: Parser, node: ast.For | ast.While) -> Iterator[tree.Statement]:
    """A loop with `else`: what stands under it runs where no `break` ended the loop."""
    place = p.place(node)
    if not any(map(_breaks, node.body)):
        yield _without_else(p, node, None)
        yield from p.block(node.orelse)
        return
    done = fresh(p, node)
    yield tree.Set(place, done, tree.Literal(place, True), None)
    yield _without_else(p, node, done)
    yield tree.Choose(place, done, p.block(node.orelse), ())


def _without_else(p: Parser, node: ast.For | ast.While, done: tree.Name | None) -> tree.Statement:
    return p.loop(node, done) if isinstance(node, ast.For) else p.repetition(node, done)


def emptied(test: tree.Expression) -> Iterator[tree.Expression]:
    """What may be a container that is not empty where this test of a `while` loop is true."""
    match test:
        case tree.Both(args=args):
            for each in args:
                yield from emptied(each)
        case tree.Name() | tree.Attribute() | tree.Subscript():
            yield test
        case tree.Compare(
            first=tree.Apply(function=tree.Name(name="len"), args=(of,)),
            rest=((">" | ">=" | "!=", _),),
        ):
            yield from emptied(of)
        case tree.Compare(
            rest=(("<" | "<=", tree.Apply(function=tree.Name(name="len"), args=(of,))),),
        ):
            yield from emptied(of)
        case _:
            pass


def taken_from(body: tuple[tree.Statement, ...]) -> Iterator[tree.Expression]:
    """What the statements of a loop themselves may take elements from."""
    simple = tree.Set | tree.Augment | tree.Evaluate | tree.Delete
    for node in tree.nodes(tuple(stmt for stmt in body if isinstance(stmt, simple))):
        match node:
            case tree.Apply(function=tree.Attribute(of=of, name="pop" | "remove")):
                yield of
            case tree.Delete(target=tree.Subscript(of=of)):
                yield of
            case _:
                pass


def _breaks(node: ast.AST) -> bool:
    """Whether a `break` in this statement ends the loop round it."""
    if isinstance(node, ast.Break):
        return True
    if isinstance(node, ast.For | ast.While | ast.FunctionDef | ast.ClassDef):
        return any(map(_breaks, getattr(node, "orelse", [])))
    return any(map(_breaks, ast.iter_child_nodes(node)))


def leave(p: Parser, node: ast.Break) -> Iterator[tree.Statement]:
    """`break`; in a loop with `else` it is noted first."""
    place = p.place(node)
    if p.loops and p.loops[-1] is not None:
        yield tree.Set(place, p.loops[-1], tree.Literal(place, False), None)
    yield tree.Leave(place)


# Where a statement has the expression that it evaluates first.
EVALUATED: dict[type[ast.stmt], str] = {
    ast.If: "test",
    ast.Assign: "value",
    ast.AnnAssign: "value",
    ast.Return: "value",
    ast.Expr: "value",
    ast.Assert: "test",
    ast.Match: "subject",
    ast.For: "iter",
}


def named_first(node: ast.stmt) -> list[ast.stmt] | None:
    """A statement whose first value gets a name, `if (n := f()) > 2:`, as the assignment and the
    statement with the name. `if p and (n := f()):` without `else` is one `if` in another. None of
    other statements."""
    part = EVALUATED.get(type(node))
    value = getattr(node, part, None) if part is not None else None
    if part is None or not isinstance(value, ast.expr):
        return None
    nested = _nested(node, value) if isinstance(node, ast.If) else None
    if nested is not None:
        return [nested]
    made = _lifted(value)
    if made is None:
        return None
    assigned, rest = made
    again = copy.copy(node)
    setattr(again, part, rest)
    return [assigned, again]


def _nested(node: ast.If, test: ast.expr) -> ast.If | None:
    """`if p and q:` as `if p: if q:`, where q names its first value."""
    if node.orelse or not isinstance(test, ast.BoolOp):
        return None
    at = next((i for i, each in enumerate(test.values) if i and _lifted(each)), 0)
    if not at or not isinstance(test.op, ast.And):
        return None
    inner = ast.copy_location(ast.If(_all_of(test, test.values[at:]), node.body, []), node)
    return ast.copy_location(ast.If(_all_of(test, test.values[:at]), [inner], []), node)


def _all_of(test: ast.BoolOp, values: list[ast.expr]) -> ast.expr:
    if len(values) == 1:
        return values[0]
    both = ast.copy_location(ast.BoolOp(ast.And(), values), values[0])
    both.end_lineno, both.end_col_offset = values[-1].end_lineno, values[-1].end_col_offset
    return both


def _lifted(node: ast.expr) -> tuple[ast.Assign, ast.expr] | None:
    """The named value that an expression evaluates first, and the expression with the name."""
    if isinstance(node, ast.NamedExpr):
        assigned = ast.copy_location(ast.Assign([node.target], node.value), node)
        return assigned, ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
    match node:
        case ast.Compare(left=first):
            part = "left"
        case ast.BinOp(left=first):
            part = "left"
        case ast.UnaryOp(operand=first):
            part = "operand"
        case ast.Attribute(value=first) | ast.Subscript(value=first):
            part = "value"
        case ast.BoolOp(values=[first, *others]):
            return _in_list(node, "values", first, others)
        case ast.Call(func=ast.Name(), args=[first, *others]):
            return _in_list(node, "args", first, others)
        case _:
            return None
    made = _lifted(first)
    if made is None:
        return None
    again = copy.copy(node)
    setattr(again, part, made[1])
    return made[0], again


def _in_list(
    node: ast.expr, part: str, first: ast.expr, others: list[ast.expr]
) -> tuple[ast.Assign, ast.expr] | None:
    made = _lifted(first)
    if made is None:
        return None
    again = copy.copy(node)
    setattr(again, part, [made[1], *others])
    return made[0], again
