"""Lists of what is in a set or a map, whose order nothing shows: `idle = [k for k, n in d.items()
if n > 2]`, then `len(idle)`, `for k in idle`, `k in idle`.

Such a list has each element once, so a set is the same to all who look so at it, and the local
is one. Where anything else is done with the list, its order would be shown, and it is refused.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterable, Iterator

from ... import ir
from ... import types as t
from ...errors import Place
from ...syntax import tree
from ..builtins import FUNCTIONS
from ..comprehensions import as_set, comprehension, each_of, each_once, once_each
from ..context import Body
from ..expressions import iterable

FOLDS = frozenset({"len", "sorted", "min", "max", "sum", "set", "frozenset", "bool", "require"})


def loosely_used(body: Iterable[tree.Statement], *, twice: bool = False) -> frozenset[str]:
    """The names that a body assigns once, and of which it reads nothing that depends on order.

    With `twice` one element may be there several times: then no loop goes through them, and nothing
    is sorted by a key that two may have.
    """
    told, harmless, assigned = Counter[str](), Counter[str](), Counter[str]()
    for node in tree.nodes(tuple(body)):
        if isinstance(node, tree.Name):
            told[node.name] += 1
        inside = () if twice and _in_turn(node) else _gone_through(node)
        harmless.update(each.name for each in inside if isinstance(each, tree.Name))
        if isinstance(node, tree.Set) and isinstance(node.target, tree.Name):
            assigned[node.target.name] += 1
    return frozenset(n for n, count in assigned.items() if count == 1 == told[n] - harmless[n])


def _in_turn(node: tree.Tree) -> bool:
    """Whether the order of a list may be seen in it, where one element is there several times."""
    match node:
        case tree.Each() | tree.For():
            return True
        case tree.Apply(args=args, keywords=keywords):
            return len(args) > 2 or any(word == "key" for word, _ in keywords)
        case _:
            return False


def _gone_through(node: tree.Tree) -> Iterator[tree.Expression]:
    """What is inside a node of which only the elements count, or whether there are any."""
    match node:
        case tree.Apply(function=tree.Name(name="require" | "bool"), args=(first, *_)):
            yield from _asked(first)
        case tree.Apply(function=tree.Name(name=name), args=(first, *_)) if name in FOLDS:
            yield first
        case tree.Each(over=over) | tree.For(over=over):
            yield over
        case tree.Compare(rest=rest):
            yield from (side for op, side in rest if op in ("in", "not in"))
        case (
            tree.Choose(test=test)
            | tree.While(test=test)
            | tree.Conditional(test=test)
            | tree.Claim(test=test)
        ):
            yield from _asked(test)
        case tree.Unary(op="not", of=of):
            yield from _asked(of)
        case _:
            pass


def _asked(test: tree.Expression) -> Iterator[tree.Expression]:
    """What a condition asks whether it is empty."""
    match test:
        case tree.Both(args=args) | tree.Either(args=args):
            for each in args:
                yield from _asked(each)
        case _:
            yield test


def kept(b: Body, name: str, node: tree.Expression) -> ir.Expr | None:
    """The set that stands for a list in a local of this name; None where it is no such list, and
    the expression has to be resolved as it stands."""
    match node:
        case tree.Comprehension(kind="list") if name in loosely_used(b.written):
            return _comprehension(b, node, name)
        case tree.Apply(function=function, args=(argument,), keywords=()):
            if b.static(function) not in (list, tuple) or name not in loosely_used(b.written):
                return None
            match _elements(b, argument):
                case "once":
                    return FUNCTIONS[set](b, node, None)
                case "several" if name in _folded(b):
                    return comprehension(b, each_of(argument), "list", None, any_order=True)
                case _:
                    return None
        case _:
            return None


def gathered(b: Body, node: tree.Expression) -> tuple[ir.Expr, t.Type] | None:
    """The same for the list that a loop goes through, and the type of its elements."""
    if not isinstance(node, tree.Comprehension) or node.kind != "list":
        return None
    made = _comprehension(b, node, None)
    return made, t.element(made.type) or t.Unknown()


def _comprehension(b: Body, node: tree.Comprehension, name: str | None) -> ir.Expr:
    made = comprehension(b, node, "list", None, any_order=True)
    if not isinstance(made, ir.Comp) or (not each_once(made) and name in _folded(b)):
        return made
    return as_set(b, made)


def _folded(b: Body) -> frozenset[str]:
    """The names of lists of which the body reads only what their elements are, each as often as it
    is there."""
    own = any(b.static(tree.Name(_HERE, each)) is not of for each, of in _BUILTIN.items())
    return frozenset() if own else loosely_used(b.written, twice=True)


_HERE = Place("", 0, 0, 0, 0)
_BUILTIN = {name: of for name, of in vars(builtins).items() if name in FOLDS}


def _elements(b: Body, node: tree.Expression) -> str | None:
    """Whether it is a set, a map or a view of one, which has each element once, or is the values of
    a map, of which two may be equal; what is resolved here leaves no trace."""
    problems, read, hoisted = b.scene.problems.found, b.evaluated, b.hoisted
    kept, b.hoisted = len(problems), None
    over, item = iterable(b, node)
    fits = len(problems) == kept and not t.ordered(over.type) and t.immutable(item)
    del problems[kept:]
    b.evaluated, b.hoisted = read, hoisted
    if not fits or isinstance(item, t.Unknown):
        return None
    if isinstance(over, ir.Op) and over.op == "values":
        return "several"
    return "once" if once_each(over) and not isinstance(item, t.Tuple) else None
