"""`while n > 0: ... n -= 1` and `while i < len(q): ... i += 1`: a loop that ends, since each round
brings a number nearer to a limit that no round changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ... import ir
from ... import types as t
from ...analysis.changed_places import changes
from ...analysis.places import is_place, may_pass
from ...analysis.walk import everything, free_locals, statements
from ...quick_dataclass import dataclass
from ...syntax import short_forms, tree
from .. import expressions
from ..context import Body
from ..short_forms.emptied import endless, every_statement, named_anew

RISING = {"<": 0, "<=": 1}  # How many rounds more than the distance there may be.
FALLING = {">": 0, ">=": 1}
# The nodes of limits: all places that one of them reads are known.
FIXED = ir.Const | ir.Local | ir.Field | ir.Self | ir.Item | ir.Op | ir.Narrow | ir.Domain


@dataclass(frozen=True, slots=True)
class _Count:
    """A number that a test of a loop compares with a limit, and how far it is from there."""

    number: tree.Expression
    limit: tree.Expression
    op: str  # "add" or "sub": how each round brings it nearer.
    rounds: tree.Expression


def counting(
    b: Body, node: tree.While, each: Callable[[Body, tree.Each], list[ir.Stmt]]
) -> list[ir.Stmt] | None:
    """The loop as one over a range; None where no number in its test shows that it ends."""
    if next(short_forms.taken_from(node.body), None) is not None:
        return None  # It empties a container.
    # A container may be emptied further down.
    emptied = any(map(_takes, tree.nodes(node.body)))
    written = node.body if emptied else [*tree.nodes(node.body)]
    for count in _counts(node.test):
        if not any(_steps_written(each, count) for each in written):
            continue
        number, limit = (_resolved(b, part) for part in (count.number, count.limit))
        if not _is_number(number) or not isinstance(limit.type, t.Int):
            continue
        made = each(b, _over_range(b, node, count.rounds))
        functions = b.scene.functions()
        loops = [stmt for stmt in made if isinstance(stmt, ir.Loop)]
        fixed = all(_nearer(loop.body, number, limit, count.op, functions) for loop in loops)
        if not fixed:
            endless(b, node)
        return made
    return None


def _over_range(b: Body, node: tree.While, rounds: tree.Expression) -> tree.Each:
    """The test may have no value where the loop has ended before."""
    here = node.place
    # The test is read once more after the last round.
    most = tree.Binary(here, "+", rounds, tree.Literal(here, 1))
    over = tree.Conditional(here, node.test, most, tree.Literal(here, 0))
    b.fresh += 1
    leave = tree.Choose(here, node.test, (), (tree.Leave(here),))
    called = tree.Apply(here, tree.Name(here, "range"), (over,), ())
    return tree.Each(here, (f"_{b.fresh}",), called, (leave, *node.body))


def _counts(test: tree.Expression) -> Iterator[_Count]:
    match test:
        case tree.Both(args=args):
            for each in args:
                yield from _counts(each)
        case tree.Name() | tree.Attribute():
            yield from _to_zero(test)
        case tree.Compare(first=first, rest=(("!=", tree.Literal(value=0)),)):
            yield from _to_zero(first)
        case tree.Compare(first=first, rest=rest):
            for op, second in rest:
                if op in RISING | FALLING:
                    yield from _between(first, op, second)
                first = second
        case _:
            pass


def _between(first: tree.Expression, op: str, second: tree.Expression) -> Iterator[_Count]:
    place, rises = first.place, op in RISING
    ends = (second, first) if rises else (first, second)
    more = tree.Literal(place, (RISING | FALLING)[op])
    far = tree.Binary(place, "+", tree.Binary(place, "-", *ends), more)
    yield _Count(first, second, "add" if rises else "sub", far)
    yield _Count(second, first, "sub" if rises else "add", far)


def _to_zero(number: tree.Expression) -> Iterator[_Count]:
    """`while n`: of a number below 0 the loop would not end, so there it has no value."""
    place = number.place
    zero = tree.Literal(place, 0)
    there = tree.Compare(place, number, ((">=", zero),))
    some = tree.Conditional(place, there, tree.Literal(place, 1), zero)
    yield _Count(number, zero, "sub 1", tree.Binary(place, "//", number, some))


def _takes(node: object) -> bool:
    match node:
        case tree.Delete() | tree.Apply(function=tree.Attribute(name="pop" | "remove")):
            return True
        case _:
            return False


def _steps_written(node: object, count: _Count) -> bool:
    """Whether a statement seems to bring the number nearer; what it does is judged later."""
    match node:
        case tree.Augment(op="+" | "-", target=target, value=tree.Literal()):
            return _same(target, count.number)
        case tree.Set(
            target=target, value=tree.Binary(op="+" | "-", left=of, right=tree.Literal())
        ):
            return _same(target, count.number) and _same(of, count.number)
        case _:
            return False


def _same(one: tree.Expression, other: tree.Expression) -> bool:
    """Whether both are one name or one field of one name."""
    match one, other:
        case tree.Name(name=a), tree.Name(name=b):
            return a == b
        case tree.Attribute(of=of, name=a), tree.Attribute(of=where, name=b):
            return a == b and _same(of, where)
        case _:
            return False


def _resolved(b: Body, written: tree.Expression) -> ir.Expr:
    kept = len(b.scene.problems.found), b.evaluated
    with b.without_hoisting():
        found = expressions.infer(b, written, None)
    del b.scene.problems.found[kept[0] :]  # It is resolved, and judged, again.
    b.evaluated = kept[1]
    return found


def _is_number(found: ir.Expr) -> bool:
    """Whether it is a local or a variable that holds an integer."""
    held = isinstance(found, ir.Local) or (
        isinstance(found, ir.Field) and isinstance(found.of, ir.Self)
    )
    return held and isinstance(found.type, t.Int)


def _nearer(
    body: Sequence[ir.Stmt],
    number: ir.Expr,
    limit: ir.Expr,
    op: str,
    functions: Sequence[ir.Function],
) -> bool:
    """Whether each round that comes to its end brings the number nearer, nothing else assigns it,
    and nothing changes the limit."""
    inside = [each for each in everything((limit,)) if isinstance(each, ir.Expr)]
    read = [each for each in inside if is_place(each) and not isinstance(each, ir.Self)]
    if not all(isinstance(each, FIXED) for each in everything((limit,))):
        return False
    locals_ = {name for name, _ in free_locals((limit, number))}
    for stmt in every_statement(body, functions):
        if _steps(stmt, number, op):
            continue
        if any(name in locals_ for name in _changed(stmt)):
            return False
        for change in changes(stmt, functions):
            place = change.place
            if place is None or any(
                may_pass(one, place, below=False) or may_pass(place, one, below=False)
                for one in (*read, number)
            ):
                return False
    return _always(body, number, op)


def _changed(stmt: ir.Stmt) -> Iterator[str]:
    """The locals that have another value afterwards, or other content."""
    yield from named_anew(stmt)
    match stmt:
        case ir.Update(target=ir.Local(name=name)):
            yield name
        case _:
            pass


def _steps(stmt: ir.Stmt, number: ir.Expr, op: str) -> bool:
    """Whether the statement adds a constant to the number, or takes one from it."""
    match stmt:
        case ir.Assign(target=target, value=ir.Op(op=done, args=(of, ir.Const(value=int() as by)))):
            near = op.startswith(done) and by > 0 and (by == 1 or op != "sub 1")
            return target == number and of == number and near
        case _:
            return False


def _always(body: Iterable[ir.Stmt], number: ir.Expr, op: str) -> bool:
    """Whether the number is brought nearer on every way on which another round may follow."""
    for stmt in body:
        if _steps(stmt, number, op):
            return True
        if isinstance(stmt, ir.Branch) and all(
            _always(way, number, op) for way in (stmt.then, stmt.other)
        ):
            return True
        if any(isinstance(each, ir.Continue) for each in statements((stmt,))):
            return False
    return False
