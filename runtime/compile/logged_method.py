"""The method that an instance runs whose log must accept each event, as generated code.

def turn(self, watch, given):
    <as `observed_method` has it, up to the first change>
    row_log, writes = watch.log, False
    try:
        <timer, body, target, bounds>
        done.record = ...
        row_log.kept = ()
        writes = True
        row_log.write(done)
        if watch.observers:
            watch._untold += ((watch.observers, done),)
        return None
    except BaseException as error:
        told = ()
        if writes:
            try:
                told = [*row_log.kept]
            except Exception:
                told, self.__watch__ = None, UNKNOWN
        if told:
            row_log.at = row_log.next
            if watch.observers: ...
        elif told is not None:
            <undo>
        if writes:
            raise
        return failed_observed(error, self, ...)

So a container that is changed in place is right again where the log does not accept the event, and
the log reads from the record what was at each place before. The handler calls nothing by name
before the event is undone or reported (see `in_place`). An ignored event is left to the caller.
"""

from __future__ import annotations

import ast

from ..kernel.state import UNKNOWN
from .observed_method import ObservedMethod
from .python_ast import assign, attribute, call, compare, if_, name


class LoggedMethod(ObservedMethod):
    """Emits the method of instances that have a log."""

    LOG, WRITES, TOLD = "row_log", "writes", "told"

    def ignored(self) -> list[ast.stmt]:
        match super(ObservedMethod, self).ignored():
            case [ast.If(test=test)]:
                return [if_(test, self.undecided())]
            case [_, *_]:
                return [self.undecided()]
            case _:
                return []

    def opening(self) -> list[ast.stmt]:
        """Begin the record; the log has nothing of the event."""
        log = attribute(name(self.names.local(self.WATCH)), "log")
        begin = [
            assign(name(self.names.local(self.LOG)), log),
            assign(name(self.names.local(self.WRITES)), ast.Constant(False)),
        ]
        return [*super().opening(), *begin]

    def queued(self) -> list[ast.stmt]:
        """Have the log accept the record, then let the observers wait for it."""
        log = name(self.names.local(self.LOG))
        return [
            assign(attribute(log, "kept"), ast.Tuple([], ast.Load())),
            assign(name(self.names.local(self.WRITES)), ast.Constant(True)),
            ast.Expr(call(attribute(log, "write"), name(self.done))),
            *self.reported(),
        ]

    def reported(self) -> list[ast.stmt]:
        """Let the observers wait for the record, if there are any."""
        observers = attribute(name(self.names.local(self.WATCH)), "observers")
        return [if_(observers, *super().queued())]

    def undoing(self, undo: list[ast.stmt]) -> ast.ExceptHandler:
        """Undo the event unless the log has it; where nobody knows, it is the last one."""
        told, log = self.names.local(self.TOLD), name(self.names.local(self.LOG))
        writes = name(self.names.local(self.WRITES))
        handler = super().undoing(undo)
        *undo, leave = handler.body
        read = ast.List([ast.Starred(attribute(log, "kept"), ast.Load())], ast.Load())
        unknown: list[ast.stmt] = [
            assign(name(told), ast.Constant(None)),
            assign(attribute(name("self"), "__watch__"), self.unknown()),
        ]
        lost = ast.ExceptHandler(name(self.names.put("Exception", Exception)), None, unknown)
        kept: list[ast.stmt] = [
            assign(attribute(log, "at"), attribute(log, "next")),
            *self.reported(),
        ]
        known = compare(name(told), ast.IsNot(), ast.Constant(None))
        undone: list[ast.stmt] = [if_(known, *(undo or [ast.Pass()]))]
        handler.body = [
            assign(name(told), ast.Tuple([], ast.Load())),
            if_(writes, ast.Try([assign(name(told), read)], [lost], [], [])),
            ast.If(name(told), kept, undone),
            if_(writes, ast.Raise(None, None)),
            leave,
        ]
        return handler

    def unknown(self) -> ast.expr:
        return name(self.names.put("UNKNOWN", UNKNOWN))
