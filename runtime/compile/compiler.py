"""A resolved machine -> its `Plan`: functions compiled under the declaration's own lines."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from lawful.runtime.kernel import guards
from lawful.runtime.kernel.dispatch import at_one_instant
from lawful.runtime.kernel.plan import Alarm, Candidate, Ignoring, Plan, Way
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.effects import (
    Eraser,
    Reach,
    Writes,
    all_names,
    assigned,
    ghosts_of,
    only_reads,
)
from lawful.spec.analysis.walk import everything, statements
from lawful.spec.errors import Place
from lawful.spec.resolve.resolver import ONE_AT_A_TIME, Resolved
from lawful.spec.syntax.declare import slot
from lawful.spec.values.time import clock_of

from . import arguments, initial
from .alarms import due_timers, fireable
from .expressions import Names
from .header import Header
from .method import MOST_RETURNS, Method
from .python_ast import located
from .statements import Body


@dataclass(frozen=True)
class Made:
    """A generated function: where it belongs, and what it is called in tracebacks."""

    file: str
    node: ast.FunctionDef
    shown: str


class _Called(dict[str, str]):
    """The global names of helpers; what is asked for and not there yet is waited for."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self.names = names
        self.waiting: list[str] = []

    def __missing__(self, key: str) -> str:
        base = "super " if key.startswith("super ") else ""
        self[key] = self.names.reserve(key.removeprefix(base).rpartition(".")[2] + "_" * bool(base))
        self.waiting.append(key)
        return self[key]


class _Functions(dict[str, Any]):
    """The helpers and properties that parts are asked, compiled when first asked."""

    def __init__(self, compiler: Compiler) -> None:
        super().__init__()
        self.compiler = compiler

    def __missing__(self, key: str) -> Any:
        self[key] = self.compiler.function(key)
        return self[key]


class Compiler:
    """Compiles one machine, and keeps what is compiled on demand."""

    def __init__(self, resolved: Resolved) -> None:
        m = resolved.machine
        self.machine = m
        self.resolved = resolved
        self.ghosts = ghosts_of(m)
        self.reach = Reach(m, self.ghosts[m.name])
        helpers = [*m.functions, *(p.function for p in m.properties)]
        params = {f.name: tuple(kind for _, kind in f.params) for f in helpers}
        self.names = Names(resolved.world, frozenset(all_names(m)), params)
        self.called = _Called(self.names)
        self.made: list[Made] = []
        self.defined = 0
        self.plan = self.empty_plan()

    def run(self) -> Plan:
        """Everything that an instance needs."""
        m, plan = self.machine, self.plan
        plan.functions = _Functions(self)
        cores = {tr.name: self.core(tr, tr.name) for tr in m.transitions}
        starts = {f.name: self.initial(f) for f in m.initials}
        hints = {tr.name: self.hint(tr) for tr in m.transitions}
        whens = {row.name: self.when(row) for row in m.ignores}
        finds = self.finds()
        plan.ways = self.ways()
        methods = {way.name: self.method(way, watched=False) for way in plan.ways.values()}
        plan.starts = {f.name: self.start(f) for f in m.initials}
        defaults, fresh = initial.defaults(self), initial.fresh(self)
        self.define()
        made = self.names.globals
        for way in plan.ways.values():
            served = self.serving(way)
            way.candidates = tuple(self.candidate(tr, made[cores[tr.name]]) for tr in served)
            rows = [row for row in m.ignores if row.event == way.name]
            way.ignores = tuple(self.ignoring(row, whens[row.name]) for row in rows)
            way.method = made[methods[way.name]]
            if clock_of(m) is not None:
                way.method = at_one_instant(made[methods[way.name]])
        for key, start in plan.starts.items():
            start.candidates = (Candidate(key, made[starts[key]], None, None),)
        plan.hints = {key: made[hint] for key, hint in hints.items()}
        plan.alarms = tuple(self.alarm(group, made[find]) for group, find in finds)
        plan.defaults.update(made[defaults](None))
        plan.required = tuple(p.name for p in m.parameters if p.default is None)
        plan.timed = any(_has_time(kind) for kind in plan.fields.values())
        plan.fresh = made[fresh]
        checks = self.checks(m.name, ((p.name, p.type) for p in m.parameters))
        plan.parameters = dict(zip((p.name for p in m.parameters), checks, strict=True))
        plan.assumed = tuple(p.name for p in m.of_kind("assume"))
        plan.text, plan.watched, plan.fresh_but = self.text, self.watched, self.fresh_but
        plan.constructor = self.constructor
        plan.only_reads = functools.partial(only_reads, m, self.ghosts)
        return plan

    def empty_plan(self) -> Plan:
        m = self.machine
        held = tuple(v.name for v in m.variables if not v.ghost)
        fields = {v.name: v.type for v in m.variables if not v.ghost}
        fields.update({p.name: p.type for p in m.parameters})
        families: dict[str, bool] = {}
        for key in held:
            match fields[key]:
                case t.Part():
                    families[key] = False
                case t.Map(value=t.Part()):
                    families[key] = True
                case _:
                    pass
        return Plan(self.resolved, fields, held, tuple(map(slot, held)), families)

    # Functions.

    def emitter(self, me: str) -> Body:
        """Emits a function that ends by returning, and nothing else."""
        return Body(self.names, self.called, me, _return, set())

    def erased(self, function: ir.Function) -> tuple[ir.Stmt, ...]:
        return Eraser(self.ghosts).body(function.body)

    def add(
        self, key: str, place: Place, params: Sequence[str], body: list[ast.stmt], shown: str
    ) -> str:
        """A function to be defined, with our `self`, at a place of the user's."""
        given = [ast.arg(each) for each in ("self", *params)]
        args = ast.arguments([], given, None, [], [], None, [])
        node = ast.FunctionDef(key, args, body or [ast.Pass()], [], None)
        if "type_params" in node._fields:  # From Python 3.12 on it has to be there.
            setattr(node, "type_params", [])  # noqa: B010  # type checkers take this for 3.11
        self.made.append(Made(place.file, located(node, place), shown))
        return key

    def core(self, tr: ir.Transition, shown: str, key: str = "") -> str:
        """A transition, header included, on a state."""
        f = tr.function
        body = self.emitter("self")
        header = Header(body, tr)

        def finish(value: ast.expr | None, place: Place) -> list[ast.stmt]:
            out: list[ast.stmt] = []
            value = header.ending(value, out)
            return [*out, *_return(value, place)]

        body.finish = finish
        made = [*header.guards(), *body.whole(self.erased(f), tr.place)]
        key = key or self.names.reserve(f"{shown}_core")
        return self.add(key, f.place, [n for n, _ in f.params], made, shown)

    def initial(self, f: ir.Function) -> str:
        made = self.emitter("self").whole(self.erased(f), f.place)
        key = self.names.reserve(f"{f.name}_core")
        return self.add(key, f.place, [n for n, _ in f.params], made, f.name)

    def hint(self, tr: ir.Transition) -> str:
        """The guards that need no argument, up to the first statement that is none."""
        params = {n for n, _ in tr.function.params}
        body = self.emitter("self")
        made = Header(body, tr).looks(frozenset(params))
        for stmt in tr.function.body:
            if not isinstance(stmt, ir.Require) or _mentions(stmt, params):
                break
            made += body.statement(stmt)
        return self.add(self.names.reserve(f"{tr.name}_hint"), tr.place, [], made, tr.name)

    def when(self, row: ir.Ignore) -> str | None:
        if row.when is None:
            return None
        made = self.emitter("self").whole(row.when.body, row.place)
        key = self.names.reserve(f"{row.name}_when")
        return self.add(key, row.when.place, [n for n, _ in row.when.params], made, row.name)

    def function(self, key: str) -> Any:
        """A helper or property, defined by now."""
        with ONE_AT_A_TIME:
            found = self.called[key]
            self.define()
            return self.names.globals[found]

    def _called(self, key: str) -> None:
        """Emit what is waited for."""
        if key.startswith("super "):
            base = next(b for b in self.machine.bases if b.name == key.removeprefix("super "))
            self.core(base, base.function.name, self.called[key])
            return
        helpers = [*self.machine.functions, *(p.function for p in self.machine.properties)]
        f = next(f for f in helpers if f.name == key)
        made = self.emitter("self").whole(self.erased(f), f.place)
        shown = f.name.rpartition(".")[2]
        self.add(self.called[key], f.place, [n for n, _ in f.params], made, shown)

    def fresh_but(self, given: frozenset[str]) -> Any:
        """What puts initial values into all variables but the given ones, defined by now."""
        with ONE_AT_A_TIME:
            made = initial.fresh(self, given)
            self.define()
            return self.names.globals[made]

    def constructor(self, otherwise: Callable[..., None]) -> Any:
        """The `__init__` of a plain class, defined by now."""
        with ONE_AT_A_TIME:
            made = initial.constructor(self, otherwise)
            self.define()
            return self.names.globals[made]

    # Ways.

    def ways(self) -> dict[str, Way]:
        m = self.machine
        ways = {e.name: self.way(e.name, e, m.serving(e.name)) for e in m.events}
        for tr in m.transitions:
            if tr.name not in ways:
                ways[tr.name] = self.way(tr.name, m.event(tr.event), (tr,))
        return ways

    def way(self, key: str, event: ir.Event, served: tuple[ir.Transition, ...]) -> Way:
        writes = Writes()
        for tr in served:
            writes.add(self.reach.of_transition(tr))
        made = Way(
            key,
            event.name,
            event.params,
            event.output,
            (),
            (),
            tuple(writes.variables),
            writes.parts,
        )
        made.checks = self.checks(key, event.params)
        made.slots = tuple(map(slot, made.writes))
        return made

    def checks(self, key: str, params: Iterable[tuple[str, t.Type]]) -> tuple[Any, ...]:
        world = self.resolved.world
        return tuple(arguments.checker(f"{key}: {n}", kind, world) for n, kind in params)

    def serving(self, way: Way) -> tuple[ir.Transition, ...]:
        """The transitions behind a way, in the order of the declaration."""
        if way.name == way.event:
            return self.machine.serving(way.event)
        return (self.machine.transition(way.name),)

    def start(self, f: ir.Function) -> Way:
        writes = self.reach.of_body(f.body)
        held = tuple(writes.variables)
        made = Way(f.name, f.name, f.params, f.output, (), (), held, writes.parts)
        made.checks = self.checks(f.name, f.params)
        made.slots = tuple(map(slot, made.writes))
        return made

    def method(self, way: Way, watched: bool) -> str:
        """The function that an event is, called on an instance."""
        served = self.serving(way)
        place = served[0].function.place if len(served) == 1 else self._event_place(way)
        inline = None
        if len(served) == 1 and not way.composite:
            f = served[0].function
            body = self.erased(f)
            returns = sum(isinstance(s, ir.Return) for s in statements(body))
            # Where it is refused the arguments are still to be told, as they were given.
            lost = assigned(body) & {n for n, _ in f.params}
            if returns <= MOST_RETURNS and not lost:
                inline = served[0], body
        emitter = Method(self.names, self.called, self.plan.fields, way)
        made = emitter.body(inline, watched)
        key = self.names.reserve(way.name)
        return self.add(key, place, [n for n, _ in way.params], made, way.name)

    def _event_place(self, way: Way) -> Place:
        return self.machine.event(way.event).place

    def watched(self, key: str) -> Any:
        """The method of a way that is watched, compiled when the first observer comes."""
        with ONE_AT_A_TIME:
            made = self.method(self.plan.ways[key], watched=True)
            self.define()
            return self.names.globals[made]

    def candidate(self, tr: ir.Transition, run: Any) -> Candidate:
        source = None
        if tr.source is not None and _is_state(tr.control):
            assert tr.control is not None and isinstance(tr.control.type, t.Enum)
            members = self.resolved.world.enums[tr.control.type.name]
            source = tuple(members[state] for state in tr.source)
        where = None
        if source is not None and tr.control is not None:
            where = guards.elsewhere(tr.control, tr.source or ())
        return Candidate(tr.name, run, source, where)

    def ignoring(self, row: ir.Ignore, when: str | None) -> Ignoring:
        source = None
        kind = self.plan.fields.get("state")
        if row.source is not None and isinstance(kind, t.Enum):
            members = self.resolved.world.enums[kind.name]
            source = tuple(members[state] for state in row.source)
        return Ignoring(source, None if when is None else self.names.globals[when])

    # Timers.

    def finds(self) -> list[tuple[list[ir.Transition], str]]:
        """The transitions of each timer that can fire by itself, and what finds its deadlines."""
        out: list[tuple[list[ir.Transition], str]] = []
        for group in fireable(self.machine):
            tr = group[0]
            made = located(due_timers(self.emitter("self"), tr), tr.place)
            key = self.names.reserve(f"{tr.name}_due")
            out.append((group, self.add(key, tr.place, [], [made], tr.name)))
        return out

    def alarm(self, group: list[ir.Transition], find: Any) -> Alarm:
        ways: list[Way] = []
        for event in dict.fromkeys(tr.event for tr in group):
            served = tuple(tr for tr in group if tr.event == event)
            way = self.way(event, self.machine.event(event), served)
            everyone = {c.name: c for c in self.plan.ways[event].candidates}
            way.candidates = tuple(everyone[tr.name] for tr in served)
            ways.append(way)
        timer = group[0].timer
        urgent = timer is not None and isinstance(timer.type, t.Timer) and timer.type.urgent
        return Alarm(find, tuple(ways), urgent)

    # Python.

    def define(self) -> None:
        """Compile what was made since the last time, each file's functions as one module."""
        while self.called.waiting:
            self._called(self.called.waiting.pop())
        fresh = self.made[self.defined :]
        self.defined = len(self.made)
        for file in dict.fromkeys(made.file for made in fresh):
            mine = [made for made in fresh if made.file == file]
            module = ast.Module([made.node for made in mine], [])
            exec(compile(module, file, "exec", dont_inherit=True), self.names.globals)
            for made in mine:
                self._named(self.names.globals[made.node.name], made.shown)

    def _named(self, function: FunctionType, shown: str) -> None:
        """In tracebacks it is what the user wrote."""
        full = f"{self.machine.name}.{shown}"
        code = function.__code__
        function.__code__ = code.replace(co_name=shown, co_qualname=full)
        function.__name__, function.__qualname__ = shown, full
        function.__module__ = self.machine.module

    def text(self) -> str:
        """The generated functions as text, in the order in which they were made."""
        parts: list[str] = []
        for made in self.made:
            where = f"# {made.shown} ({made.file}:{made.node.lineno})"
            parts.append(f"{where}\n{ast.unparse(made.node)}")
        return "\n\n\n".join(parts) + "\n"


def _return(value: ast.expr | None, place: Place) -> list[ast.stmt]:
    return [ast.Return(value)]


def _has_time(kind: t.Type) -> bool:
    """Whether a variable of this type is a clock, or is or may hold a timer."""
    return isinstance(kind.value if isinstance(kind, t.Map) else kind, t.Timer | t.Clock | t.Part)


def _is_state(control: ir.Expr | None) -> bool:
    match control:
        case ir.Field(of=ir.Self(), name="state"):
            return True
        case _:
            return False


def _mentions(node: ir.Node, names: set[str]) -> bool:
    return any(isinstance(each, ir.Local) and each.name in names for each in everything((node,)))
