"""Which functions of a machine write into containers in place where a method gives them a log, and
the code around such a write.

    at_queued = key
    held_queued = put(self, ('queued', '_queued_', False), log, at_queued)
    held_queued.add(at_queued)
    held_queued = None              so that nothing but the variable holds it

Of a helper or inherited transition there are two functions then: one that copies a container before
it first changes it, which all others call, and one with the parameter `log`. The statements are
those of `in_place`, in loops, too. A key that comes back to a map is the last one, which must not
happen where an event is refused. So of a function that takes keys from maps there is a third one,
which does so in place; it is called where nothing that comes later in the step may refuse.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything, statements
from lawful.spec.syntax.declare import slot

from ..kernel import write_log
from .global_names import GlobalNames
from .in_place import COUNTS, PlaceChanged, loses_a_key, place_changed, repeated
from .python_ast import assign, call, name

SUPER = "super "  # Before the key of an inherited transition.
LOGGED = "logged "  # Before the key of a function: the one that takes a log.
LAST = "last "  # After that: the one after which nothing may refuse.
LOG = "log"  # The local that has the log.
REFUSING = (ir.Require, ir.Refuse, ir.Assert, ir.Needed, ir.Step, ir.Base, ir.Can)


class HelperWrites:
    """The variables into which each function of a machine writes so. `bodies` gives the
    statements of a function by its key: the name of a helper, or `SUPER` and that of a base.

    `last`, of a function or of statements: nothing that comes later in the step may refuse."""

    def __init__(
        self, bodies: Callable[[str], tuple[ir.Stmt, ...]], kinds: dict[str, t.Type]
    ) -> None:
        self._bodies = bodies
        self._kinds = kinds
        self._known: dict[tuple[str, bool], frozenset[str]] = {}
        self._refuse: dict[str, bool] = {}

    def of(self, key: str, last: bool) -> frozenset[str]:
        """The variables of a function, and of those that it calls."""
        if (key, last) not in self._known:
            body = self._bodies(key)
            mine = {each.variable for each in self.places(body, last).values()}
            self._known[key, last] = self.of_callees(body, last) | mine
        return self._known[key, last]

    def of_callees(self, body: Sequence[ir.Stmt], last: bool = True) -> frozenset[str]:
        """The variables of the functions that these statements call."""
        calls = {id(each): key for each in statements(body) if (key := callee(each)) is not None}
        ends = self.ends(body, last) if calls else ()
        return frozenset(v for at, key in calls.items() for v in self.of(key, at in ends))

    def places(self, body: Sequence[ir.Stmt], last: bool = True) -> dict[int, PlaceChanged]:
        """The statements that write so, by `id`."""
        found: dict[int, PlaceChanged] = {}
        taking: list[int] = []
        for each in statements(body) if COUNTS else ():
            change = place_changed(each, self._kinds)
            if change is not None:
                found[id(each)] = change
                taking += [id(each)] if loses_a_key(each) else []
        ends = self.ends(body, last) if taking else ()
        return {key: each for key, each in found.items() if key not in taking or key in ends}

    def ends(self, body: Sequence[ir.Stmt], last: bool) -> frozenset[int]:
        """The statements, by `id`, after which nothing may refuse."""
        found: set[int] = set()
        for stmt in reversed(body if last else ()):
            refuses = self.may_refuse((stmt,))
            if not refuses:
                found.update(map(id, statements((stmt,))))
            elif callee(stmt) is not None:
                found.add(id(stmt))  # Only what a call does last counts.
            if refuses:
                break
        return frozenset(found)

    def may_refuse(self, body: Sequence[ir.Stmt]) -> bool:
        """Whether these statements, or what they call, may refuse."""
        return any(isinstance(n, REFUSING) or self._refused(n) for n in everything(body))

    def _refused(self, node: ir.Node) -> bool:
        match node:
            case ir.Call(function=key, of=None | ir.Self()):
                if key not in self._refuse:
                    self._refuse[key] = self.may_refuse(self._bodies(key))
                return self._refuse[key]
            case ir.Call():
                return True
            case _:
                return False

    def logged(self, key: str, last: bool) -> str:
        """The key of the form of a function that takes a log."""
        return f"{LOGGED}{LAST if last and self._takes(key) else ''}{key}"

    def _takes(self, key: str) -> bool:
        """Whether a function, or one that it calls, takes keys from maps in place."""
        body = self._bodies(key)
        if self.places(body, True).keys() != self.places(body, False).keys():
            return True
        keys = [found for each in statements(body) if (found := callee(each)) is not None]
        return any(map(self._takes, keys))


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
    keys = [ast.Constant(v) for v in variables]
    olds: list[ast.expr] = [name(names.local(f"old_{v}")) for v in variables]
    made = ast.Dict([*keys, ast.Constant(write_log.NOTES)], [*olds, ast.List([], ast.Load())])
    return assign(name(names.local(LOG)), made)


def noted(names: GlobalNames) -> list[ast.expr]:
    """The notes of the log, as items of a tuple."""
    log = name(names.local(LOG))
    notes = ast.Subscript(log, ast.Constant(write_log.NOTES), ast.Load())
    return [ast.Starred(notes, ast.Load())]


def undone(names: GlobalNames, error: str) -> list[ast.stmt]:
    """Put back what the log says; again after an interrupt."""
    undo = call(names.put("undo", write_log.undo), name(names.local(LOG)))
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
        variable = self.change.variable
        of = [ast.Constant(each) for each in (variable, slot(variable), self.change.pops)]
        row = [name(me), ast.Tuple([*of], ast.Load()), name(self.log)]
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
