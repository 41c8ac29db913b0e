"""The method that an instance runs whose observers are told, as generated code.

def turn(self, watch, given):
    by, = given
    <checks of the arguments, guards>
    done, time = new(Stepped), self.__environment__.now()
    old_count, old_state = ...
    try:
        <timer, body, target, bounds>
        done.record = self, way, ..., old_state, old_count, self._state, self._count
        watch._untold += ((watch.observers, done),)
        return None
    except BaseException as error: ...

Nothing after the last change is a call. So an interrupt comes before the event, or after observers
wait for it. What the method does not do itself (see `method.Method`) it leaves to the caller before
anything has changed: it returns `UNDECIDED`. If it changed a container in place, the record has
what was at each place (see `kernel.before_images`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ..kernel import commit
from ..kernel.event_record import Stepped
from .guard_tests import GuardedBody
from .method import Method
from .python_ast import assign, attribute, call, if_, name, target_of


class ObservedMethod(Method):
    """Emits the method of observed instances."""

    GIVEN, WATCH = "given", "watch"

    def params(self) -> list[str]:
        """The method's parameters."""
        return [self.names.local(self.WATCH), self.names.local(self.GIVEN)]

    def watch(self) -> list[ast.stmt]:
        """Unpack the arguments."""
        given = name(self.names.local(self.GIVEN))
        names = tuple(n for n, _ in self.way.params)
        return [ast.Assign([target_of(names)], given)] if names else []

    def undecided(self) -> ast.Return:
        return ast.Return(name(self.names.put("UNDECIDED", commit.UNDECIDED)))

    def left_to(self, function: Callable[..., Any], *row: ast.expr) -> ast.Return:
        return self.undecided()

    def after(self, function: Callable[..., Any]) -> ast.Return:
        args = [name(self.error), name("self"), name(self.way_name), self.given()]
        return ast.Return(call(self.use(commit.failed_observed), *args))

    def run(self, inline: GuardedBody) -> list[ast.stmt]:
        return [*self.opening(), *super().run(inline)]

    def ran(
        self, inline: GuardedBody, output: ast.expr | None, places: Sequence[ast.expr]
    ) -> list[ast.stmt]:
        olds: list[ast.expr] = [name(self.names.local(f"old_{v}")) for v in inline.writes]
        news: list[ast.expr] = [self.held(v) for v in inline.writes]
        controls: list[ast.expr] = [ast.Constant(None), ast.Constant(None)]
        at = self.control
        if at is not None:
            before = f"old_{at}" if at in inline.writes else None
            controls[0] = self.held(at) if before is None else name(self.names.local(before))
            controls[1] = self.held(at)
        writes = ast.Tuple([ast.Constant(v) for v in inline.writes], ast.Load())
        return [
            *super().ran(inline, output, places),
            *self.told(inline.transition.name, controls, output, [writes, *olds, *news, *places]),
        ]

    def ignored(self) -> list[ast.stmt]:
        """Return where the control state alone says that the event is ignored."""
        out = super().ignored()
        at = ast.Constant(None) if self.control is None else self.held(self.control)
        told = [*self.opening(), *self.told(None, [at, at], None, [ast.Tuple([], ast.Load())])]
        match out:
            case [ast.If(test=test, body=body)]:
                return [if_(test, *told, *body)]
            case [_, *_]:
                return [*told, *out]
            case _:
                return []

    def opening(self) -> list[ast.stmt]:
        """Begin the record."""
        now = call(attribute(attribute(name("self"), "__environment__"), "now"))
        new = call(self.names.put("new", object.__new__), name(self.names.put("Stepped", Stepped)))
        return [assign(name(self.names.local("time")), now), assign(name(self.done), new)]

    @property
    def done(self) -> str:
        return self.names.local("done")

    def told(
        self,
        ran: str | None,
        controls: list[ast.expr],
        output: ast.expr | None,
        values: list[ast.expr],
    ) -> list[ast.stmt]:
        """Fill the record, and report it."""
        of = [
            name("self"),
            name(self.way_name),
            self.given(),
            ast.Constant(ran),
            *controls,
            ast.Constant(None) if output is None else output,
            ast.Constant(None),
            name(self.names.local("time")),
            *values,
        ]
        record = assign(attribute(name(self.done), "record"), ast.Tuple(of, ast.Load()))
        return [record, *self.queued()]

    def queued(self) -> list[ast.stmt]:
        """Let the observers wait for the record."""
        watch = self.names.local(self.WATCH)
        row = ast.Tuple([attribute(name(watch), "observers"), name(self.done)], ast.Load())
        queue = ast.Attribute(name(watch), "_untold", ast.Store())
        return [ast.AugAssign(queue, ast.Add(), ast.Tuple([row], ast.Load()))]
