"""The method that users call for an event, as generated code.

def ack(self, message):
    if self.__watch__ is not None: ...       observers; parts, which take no calls
    if <message is no Ack>: ...              types and bounds of the arguments
    if <a guard is false>: raise ...         the guards before the first change
    old_highest_acked = self._highest_acked  references to what the step may write
    try:
        <timer, body, target, bounds>
    except BaseException as error:
        self._highest_acked = old_highest_acked
        return failed(error, self, ...)

Of several transitions the method tests the guards of each. Where they admit exactly one, it runs
that one; where they admit none, the event is refused or ignored. Everything else (two are admitted,
a guard has no value, a body refuses after its first change) is left to `commit.choose`, which runs
the step from its start.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.effects import assigned
from lawful.spec.analysis.walk import everything
from lawful.spec.errors import Place
from lawful.spec.syntax.declare import slot
from lawful.spec.values.bounds import bounded

from ..kernel import commit, dispatch, guards
from ..kernel.plan import Guards, Way
from ..kernel.suspects import SUSPECT
from .arguments import checked
from .generated_code import GeneratedCode, returning
from .global_names import GlobalNames
from .guard_tests import GuardedBody, overlapping
from .header import Header
from .helper_writes import LOG, HelperWrites, begun, noted, undone
from .in_place import InPlaceWrite, PlaceChanged, in_place_writes
from .part_steps import PartStep
from .python_ast import (
    all_of,
    any_of,
    assign,
    attribute,
    call,
    compare,
    if_,
    located,
    name,
    outside,
)
from .quiet_ends import ends_quietly
from .ranges import kept_within
from .statements import Body

FALSE_GUARDS = (*dispatch.FAULTS, guards.Refusal)  # What evaluating a guard may raise.


class Method:
    """Emits one method; `kinds` are the types of the machine's fields.

    `watched`: the method of observed instances, which names the transition that ran. `writes`: of
    functions of the machine that may write in place.
    """

    def __init__(
        self,
        names: GlobalNames,
        functions: dict[str, str],
        kinds: dict[str, t.Type],
        way: Way,
        *,
        watched: bool,
        writes: HelperWrites,
    ) -> None:
        self.names = names
        self.functions = functions
        self.kinds = kinds
        self.way = way
        self.watched = watched
        self.writes = writes
        self.control: str | None = None  # The control variable.
        self.error = names.local("error")
        self.way_name = names.number("way", way)

    def use(self, thing: Callable[..., Any]) -> str:
        return self.names.put(thing.__name__, thing)

    def held(self, variable: str) -> ast.Attribute:
        return attribute(name("self"), slot(variable))

    def given(self) -> ast.expr:
        return ast.Tuple([name(n) for n, _ in self.way.params], ast.Load())

    def body(self, served: Sequence[GuardedBody]) -> list[ast.stmt]:
        """The method's statements; without transitions it leaves the step to `commit.choose`."""
        out = self.watch()
        out += self.arguments()
        if not served:
            return [*out, self.left_to(commit.choose)]
        if len(served) == 1:
            return [*out, *self.guarded(served[0]), *self.run(served[0])]
        return [*out, *self.several(served)]

    def watch(self) -> list[ast.stmt]:
        """Pass the call to the instance's watch, if it has one."""
        if self.watched:
            return []
        watch = attribute(name("self"), "__watch__")
        seen = call(
            attribute(watch, "call"), name("self"), ast.Constant(self.way.name), self.given()
        )
        return [if_(compare(watch, ast.IsNot(), ast.Constant(None)), ast.Return(seen))]

    def arguments(self) -> Iterator[ast.stmt]:
        """The checks of the arguments."""
        for (param, kind), check in zip(self.way.params, self.way.checks, strict=True):
            fixed = functools.partial(self.fixed, param, self.names.number("check", check))
            yield from checked(self.names, param, kind, fixed)

    def fixed(self, param: str, check: str) -> ast.stmt:
        """Assign what the check makes of an argument, or raise."""
        known = attribute(attribute(name("self"), "__environment__"), "universe")
        return assign(name(param), call(check, name(param), known))

    def left_to(self, function: Callable[..., Any], *row: ast.expr) -> ast.Return:
        """Return what a function of `commit` gives for this call of the event."""
        args = [name("self"), name(self.way_name), self.given()]
        return ast.Return(call(self.use(function), *args, *row))

    def handler(self, kinds: str, undo: list[ast.stmt]) -> ast.ExceptHandler:
        """Undo, and raise what the caller sees."""
        return ast.ExceptHandler(name(kinds), self.error, [*undo, self.after(commit.failed)])

    def undoing(self, undo: list[ast.stmt]) -> ast.ExceptHandler:
        """What becomes of a step that was interrupted or fails."""
        return self.handler("BaseException", undo)

    def after(self, function: Callable[..., Any]) -> ast.Return:
        """Return what a function of `commit` gives after an exception in this call."""
        args = [name(self.error), name("self"), name(self.way_name), self.given()]
        return ast.Return(call(self.use(function), *args))

    def emitter(self, inline: GuardedBody) -> Body:
        sure = {n for n, _ in self.way.params} - assigned(inline.body)
        return Body(self.names, self.functions, "self", returning, sure)

    # One transition.

    def guarded(self, inline: GuardedBody) -> list[ast.stmt]:
        """The guards before the first change, each of which raises what the caller sees."""
        emitter = self.emitter(inline)
        emitter.refuse_by = self.refused
        tests = Header(emitter, inline.transition).looks(frozenset())
        tests += [made for each in inline.guards for made in emitter.statement(each)]
        if not tests or inline.total:
            return tests
        kinds = self.names.put("FALSE_GUARDS", FALSE_GUARDS)
        return [ast.Try(tests, [self.handler(kinds, [])], [], [])]

    def refused(self, *row: ast.expr) -> list[ast.stmt]:
        """End the event, which is refused unless the machine ignores it."""
        if self.way.conditional:
            return [*self.ignored(), self.left_to(commit.turned_away, *row)]
        if self.way.silent is None:
            return self.ignored()
        refusal = call(self.use(commit.refusal), name("self"), name(self.way_name), *row)
        return [*self.ignored(), ast.Raise(refusal, None)]

    def ignored(self) -> list[ast.stmt]:
        """Return where the control state alone says that the event is ignored."""
        last = attribute(attribute(name("self"), "__environment__"), "last_transition")
        done = assign(last, ast.Constant(None)), ast.Return(None)
        if self.way.silent is None:
            return [*done]
        members = [
            self.names.put(f"{type(each).__name__}_{each.name}", each) for each in self.way.silent
        ]
        tests = [compare(self.held("state"), ast.Is(), name(each)) for each in members]
        return [if_(any_of(tests), *done)] if tests else []

    def run(self, inline: GuardedBody) -> list[ast.stmt]:
        """What follows the guards, undone where it fails."""
        logged = self.logged(inline)
        places = {} if inline.core else self.in_place(inline)
        places = {key: each for key, each in places.items() if each.variable not in logged}
        in_place: dict[int, InPlaceWrite] = {}
        for number, (key, change) in enumerate(places.items()):
            before = [*in_place.values()]
            in_place[key] = InPlaceWrite(self.names, change, self.error, number, before)
        calls = {
            key: PartStep(self.names, each, number)
            for number, (key, each) in enumerate(inline.parts.items())
        }
        made = self.step(inline, in_place, calls, logged)
        out: list[ast.stmt] = []
        undo: list[ast.stmt] = []
        if logged or not ends_quietly(made):
            saved = [(self.names.local(f"old_{v}"), v) for v in inline.writes]
            out += [assign(name(old), self.held(v)) for old, v in saved]
            undo += [assign(self.held(v), name(old)) for old, v in saved]
        if logged:
            out.append(begun(self.names, logged))
            undo += undone(self.names, self.error)
        out += [made for each in in_place.values() for made in each.begin()]
        undo += [made for each in reversed(in_place.values()) for made in each.undo()]
        out += [each.begin() for each in calls.values()]
        undo += [made for each in reversed(calls.values()) for made in each.undo()]
        if in_place or logged:
            made = [self.reading(made)]
        return [*out, ast.Try(made, [self.undoing(undo)], [], [])]

    def reading(self, made: list[ast.stmt]) -> ast.stmt:
        """Have a refusal read its values before containers among them are changed back in place."""
        refusal = name(self.names.put("Refusal", guards.Refusal))
        read = ast.Expr(call(attribute(name(self.error), "read")))
        return ast.Try(made, [ast.ExceptHandler(refusal, self.error, [read, ast.Raise()])], [], [])

    def logged(self, inline: GuardedBody) -> list[str]:
        """The variables into which functions that the body calls may write in place."""
        if inline.core:
            return []
        written = self.writes.of_callees(inline.rest)
        return [v for v in inline.writes if v in written]

    def in_place(self, inline: GuardedBody) -> dict[int, PlaceChanged]:
        """What changes its place in a container, by the `id` of the statement."""
        return in_place_writes(inline.rest, self.kinds, self.writes.may_refuse)

    def step(
        self,
        inline: GuardedBody,
        in_place: dict[int, InPlaceWrite],
        calls: dict[int, PartStep],
        logged: Sequence[str],
    ) -> list[ast.stmt]:
        """The timer, the rest of the body, the target and the bounds."""
        tr = inline.transition
        emitter = self.emitter(inline)
        emitter.in_place, emitter.part_steps = {**in_place}, calls
        emitter.gives = tr.function.output
        if logged:
            log = self.names.local(LOG)
            emitter.write_in_place(log, self.writes, inline.rest, logged)
        places = [each.recorded() for each in in_place.values()]
        places += noted(self.names) if logged else []
        header = Header(emitter, tr)
        kept = kept_within(self.way.params, self.way.output, inline.body, self.kinds)

        def finish(value: ast.expr | None, place: Place) -> list[ast.stmt]:
            out: list[ast.stmt] = []
            value = header.ending(value, out) if inline.core is None else value
            judged = list(self.judged(inline.writes, kept.variables))
            judged += self.parts_judged(inline, calls)
            if value is not None and (judged or (bounded(self.way.output) and not kept.output)):
                value = emitter.held(value, out)
            if not kept.output:
                judged += self.output(value)
            if self.watched:
                if value is not None and not isinstance(value, ast.Name | ast.Constant):
                    value = emitter.held(value, judged)
                judged += self.ran(inline, value, places)
            return [*out, *judged, ast.Return(value)]

        emitter.finish = finish
        if inline.core is None:
            return [*header.disarming(), *emitter.whole(inline.rest, tr.place)]
        given = [name(n) for n, _ in self.way.params]
        return [
            located(s, tr.place) for s in finish(call(inline.core, name("self"), *given), tr.place)
        ]

    def ran(
        self, inline: GuardedBody, _output: ast.expr | None, _places: Sequence[ast.expr]
    ) -> list[ast.stmt]:
        """Name the transition that ran, for observers; `_places` is what was recorded of changes in
        place."""
        last = attribute(attribute(name("self"), "__environment__"), "last_transition")
        return [assign(last, ast.Constant(inline.transition.name))]

    # Several transitions.

    def several(self, served: Sequence[GuardedBody]) -> list[ast.stmt]:
        """Run the one transition that its guards admit."""
        pairs = list(overlapping(served))
        flags = {each.transition.name: self.flag(each) for each in served}
        tests = {each.transition.name: self.admits(each) for each in served}
        places = {each.transition.name: each.transition.place for each in served}
        out: list[ast.stmt] = []
        if pairs or not all(each.total for each in served):
            found: list[ast.stmt] = [
                located(assign(name(flags[key]), test), places[key]) for key, test in tests.items()
            ]
            if not all(each.total for each in served):
                kinds = name(self.names.put("FALSE_GUARDS", FALSE_GUARDS))
                again = ast.ExceptHandler(kinds, self.error, [self.after(commit.chosen_again)])
                found = [ast.Try(found, [again], [], [])]
            both = [all_of([name(flags[each.transition.name]) for each in pair]) for pair in pairs]
            out += [*found, *([if_(any_of(both), self.left_to(commit.choose))] if both else [])]
            tests = {key: name(flag) for key, flag in flags.items()}
        for each in served:
            tr = each.transition
            out.append(located(if_(tests[tr.name], *self.run(each)), tr.place))
        if self.way.silent is None:
            return [*out, *self.ignored()]
        return [*out, *self.ignored(), self.left_to(commit.unserved)]

    def flag(self, inline: GuardedBody) -> str:
        """The local that says whether the guards admit the transition."""
        return self.names.local(f"is_{inline.transition.name}")

    def admits(self, inline: GuardedBody) -> ast.expr:
        """The test that all guards hold."""
        emitter = self.emitter(inline)
        tests = Header(emitter, inline.transition).holds()
        tests += [emitter.expr(each.test) for each in inline.guards]
        return all_of(tests) if tests else ast.Constant(True)

    def guards(self, code: GeneratedCode, served: Sequence[GuardedBody]) -> tuple[Guards, ...]:
        """Compile the guards of these transitions."""
        found: list[tuple[str, str]] = []
        for each in served:
            shown, f = each.transition.name, each.transition.function
            row, on = (code.names.reserve(f"{shown}_{what}") for what in ("row", "on"))
            params = [n for n, _ in f.params]
            code.add(row, f.place, params, self.row(each), shown)
            code.add(on, f.place, params, self.goes_on(each), shown)
            found.append((row, on))
        code.define()
        made: list[Guards] = []
        for each, (row, on) in zip(served, found, strict=True):
            asks = each.asked is not None
            decide = not self.writes.may_refuse(each.rest[asks:])
            goes_on = code.names.globals[on] if asks else None
            first = code.names.globals[row]
            made.append(Guards(each.transition.name, first, goes_on, decide))
        return tuple(made)

    def row(self, inline: GuardedBody) -> list[ast.stmt]:
        """A function's body that gives the first false guard as (site, text, values), else None."""
        emitter = self.emitter(inline)
        emitter.refuse_by = lambda *row: [
            ast.Return(ast.Tuple([*row[:2], ast.Tuple([*row[2:]], ast.Load())], ast.Load()))
        ]
        tests = Header(emitter, inline.transition).looks(frozenset())
        tests += [made for each in inline.guards for made in emitter.statement(each)]
        return [*tests, located(ast.Return(ast.Constant(None)), inline.transition.place)]

    def goes_on(self, inline: GuardedBody) -> list[ast.stmt]:
        """A function's body that gives whether what comes after the guards would not be refused, as
        far as that is a call of a part's event."""
        asked = inline.asked
        holds = ast.Constant(True) if asked is None else self.emitter(inline).expr(asked)
        return [located(ast.Return(holds), inline.transition.place)]

    def judged(self, writes: Sequence[str], kept: frozenset[str]) -> Iterator[ast.stmt]:
        """The tests of the bounds of the variables that the step may write and may not keep."""
        kinds = {v: self.kinds[v] for v in writes if bounded(self.kinds[v]) and v not in kept}
        for variable, kind in kinds.items():
            test = self.breached(variable, kind)
            if test is not None:
                judge = call(
                    self.use(commit.judge_variable),
                    name("self"),
                    ast.Constant(variable),
                    name(self.names.put("UNSET", dispatch.UNSET)),
                )
                yield if_(test, ast.Expr(judge))
        if any(isinstance(kind, t.Map | t.Set | t.Seq | t.Bag) for kind in kinds.values()):
            judge = call(self.use(commit.judge_suspect), name("self"), name(self.way_name))
            yield if_(name(self.names.put("SUSPECT", SUSPECT)), ast.Expr(judge))

    def parts_judged(self, inline: GuardedBody, calls: dict[int, PartStep]) -> Iterator[ast.stmt]:
        """The tests of the bounds of parts' variables; where one fails, everything is judged. A
        part that is made with a value out of bounds puts the instance into `SUSPECT`."""
        makes = any(isinstance(each, ir.New) for each in everything(inline.body))
        if not calls and not makes:
            return
        tests = [test for each in calls.values() if (test := each.breached()) is not None]
        suspect = name(self.names.put("SUSPECT", SUSPECT))
        nothing = ast.List([], ast.Load())
        judge = call(self.use(commit.judge), name("self"), name(self.way_name), nothing)
        yield if_(any_of([*tests, suspect]), ast.Expr(judge))

    def breached(self, variable: str, kind: t.Type) -> ast.expr | None:
        """The test that a variable may be out of its bounds."""
        match kind:
            case t.Int():
                return outside(lambda: self.held(variable), kind)
            case t.Seq(most=int() as most) if not commit.limited(kind):
                length = call(self.use(len), self.held(variable))
                return compare(length, ast.Gt(), ast.Constant(most))
            case t.Bag(most=int()):
                old = name(self.names.local(f"old_{variable}"))
                return compare(self.held(variable), ast.IsNot(), old)
            case t.Map() | t.Set() | t.Seq() | t.Bag() if not commit.limited(kind):
                return None
            case _:
                old = name(self.names.local(f"old_{variable}"))
                new = compare(self.held(variable), ast.IsNot(), old)
                found = _fields_outside(functools.partial(self.held, variable), kind)
                return new if found is None else all_of([new, any_of(found)])

    def output(self, value: ast.expr | None) -> Iterator[ast.stmt]:
        """The test of the bounds of the output."""
        if value is None or not bounded(self.way.output):
            return
        kind = name(self.names.number("type", self.way.output))
        judge = ast.Expr(call(self.use(commit.judge_output), value, kind))
        test = None
        if isinstance(value, ast.Name):
            held = functools.partial(name, value.id)
            if isinstance(self.way.output, t.Int):
                test = outside(held, self.way.output)
            elif fields := _fields_outside(held, self.way.output):
                test = any_of(fields)
        yield judge if test is None else if_(test, judge)


def _fields_outside(value: Callable[[], ast.expr], kind: t.Type) -> list[ast.expr] | None:
    """The tests that a record's integers are out of bounds; None where other fields have bounds."""
    if not isinstance(kind, t.Record):
        return None
    tests: list[ast.expr] = []
    for field, of in kind.fields:
        inner = functools.partial(_field, value, field)
        if isinstance(of, t.Int):
            found = outside(inner, of)
            tests += [] if found is None else [found]
        elif bounded(of):
            more = _fields_outside(inner, of)
            if more is None:
                return None
            tests += more
    return tests


def _field(value: Callable[[], ast.expr], field: str) -> ast.expr:
    return attribute(value(), field)
