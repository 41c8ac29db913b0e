"""Which functions of a machine write into containers in place where a method gives them a log, and
the code around such a write.

    at_queued = key
    held_queued = put(self, '_queued_', log, at_queued)
    held_queued.add(at_queued)
    held_queued = None              so that nothing but the variable holds it

Of a helper or inherited transition there are two functions then: one that copies a container before
it first changes it, which all others call, and one with the parameter `log`. The statements are
those of `in_place`, in loops, too, without those that take from a list or a map.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import statements
from lawful.spec.syntax.declare import slot

from ..kernel import write_log
from .global_names import GlobalNames
from .in_place import COUNTS, PlaceChanged, loses_a_key, place_changed, repeated
from .python_ast import assign, call, name

SUPER = "super "  # Before the key of an inherited transition.
LOGGED = "logged "  # Before the key of a function: the one that takes a log.


class HelperWrites:
    """Of each function of a machine: the variables into which it writes so. `bodies` gives the
    statements of a function by its key: the name of a helper, or `SUPER` and that of a base."""

    def __init__(
        self, bodies: Callable[[str], tuple[ir.Stmt, ...]], kinds: dict[str, t.Type]
    ) -> None:
        self._bodies = bodies
        self._kinds = kinds
        self._known: dict[str, frozenset[str]] = {}

    def of(self, key: str) -> frozenset[str]:
        """The variables of a function, and of those that it calls."""
        if key not in self._known:
            body = self._bodies(key)
            mine = {each.variable for each in self.places(body).values()}
            self._known[key] = self.of_callees(body) | mine
        return self._known[key]

    def of_callees(self, body: Iterable[ir.Stmt]) -> frozenset[str]:
        """The variables of the functions that these statements call."""
        keys = {key for each in statements(body) if (key := callee(each)) is not None}
        return frozenset(variable for key in keys for variable in self.of(key))

    def places(self, body: Iterable[ir.Stmt]) -> dict[int, PlaceChanged]:
        """The statements that write so, by `id`."""
        found: dict[int, PlaceChanged] = {}
        for each in statements(body) if COUNTS else ():
            change = place_changed(each, self._kinds)
            if change is not None and not change.pops and not loses_a_key(each):
                found[id(each)] = change
        return found


def callee(stmt: ir.Stmt) -> str | None:
    """The key of the function that a statement calls."""
    match stmt:
        case ir.Do(call=ir.Call(function=key, of=None | ir.Self())):
            return key
        case ir.Base(name=key):
            return f"{SUPER}{key}"
        case _:
            return None


def begun(names: GlobalNames, variables: Sequence[str]) -> ast.stmt:
    """Make the log: what the variables hold when the event begins, and no notes."""
    keys = [ast.Constant(slot(v)) for v in variables]
    olds: list[ast.expr] = [name(names.local(f"old_{v}")) for v in variables]
    made = ast.Dict([*keys, ast.Constant(write_log.NOTES)], [*olds, ast.List([], ast.Load())])
    return assign(name(names.local("log")), made)


def undone(names: GlobalNames, error: str) -> list[ast.stmt]:
    """Put back what the log says; again after an interrupt."""
    undo = call(names.put("undo", write_log.undo), name(names.local("log")))
    return repeated(names, error, lambda: ast.Expr(undo))


class LoggedWrite:
    """Emits the code around one write in place, with a note in the log of this name."""

    def __init__(self, names: GlobalNames, change: PlaceChanged, log: str, number: int) -> None:
        self.names = names
        self.change = change
        self.log = log
        mine = f"{change.variable}{number or ''}"
        self.at = names.local(f"at_{mine}")
        self.holder = names.local(f"held_{mine}")

    def before(self, me: str, key: ast.expr | None, at: ast.expr | None) -> list[ast.stmt]:
        """Take the container, or a copy if another reference to it exists; note what is there."""
        out: list[ast.stmt] = []
        place: ast.expr = ast.Constant(None)
        if at is not None:
            out.append(assign(name(self.at), at))
            place = name(self.at)
        row = [name(me), ast.Constant(slot(self.change.variable)), name(self.log)]
        function = write_log.put if key is None else write_log.put_inside
        use = self.names.put(function.__name__, function)
        inner = [] if key is None else [key]
        return [*out, assign(name(self.holder), call(use, *row, *inner, place))]

    def container(self, _held: ast.expr) -> ast.expr:
        """The container that is changed."""
        return name(self.holder)

    def after(self) -> list[ast.stmt]:
        """Let the container go."""
        return [assign(name(self.holder), ast.Constant(None))]
