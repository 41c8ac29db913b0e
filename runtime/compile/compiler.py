"""A resolved machine -> its `Plan`: functions compiled under the declaration's own lines."""

from __future__ import annotations

import ast
import enum
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.control_variable import control_name
from lawful.spec.analysis.effects import Reach, Writes, all_names, assigned
from lawful.spec.analysis.ghosts import Eraser, ghosts_of, only_reads
from lawful.spec.analysis.walk import everything, statements
from lawful.spec.errors import Place
from lawful.spec.resolve.resolver import ONE_AT_A_TIME, Resolved
from lawful.spec.syntax.declare import slot
from lawful.spec.values.bounds import bounded
from lawful.spec.values.time import clock_of

from ..kernel import guards
from ..kernel.dispatch import at_one_instant, reader
from ..kernel.plan import Alarm, Candidate, Guards, Ignoring, Instance, Plan, Way
from . import arguments, initial
from .alarms import due_timers, fireable, has_time
from .generated_code import GeneratedCode, returning
from .global_names import GlobalNames
from .guard_tests import GuardedBody, guards_of, is_state
from .header import Header
from .helper_writes import LAST, LOG, LOGGED, SUPER, HelperWrites
from .method import Method
from .part_steps import PartCall, part_calls
from .python_ast import located
from .statements import Body

M = TypeVar("M", bound=Method)
MOST_RETURNS = 2  # The code after the body is repeated at each return, so often at most.


class _Functions(dict[str, Any]):
    """The compiled helpers and properties, each compiled when it is first looked up."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler

    def __missing__(self, key: str) -> Any:
        return self.setdefault(key, self.compiler.function(key))


class Compiler:
    """Compiles one machine to its plan, and later what the plan asks for on demand."""

    def __init__(self, resolved: Resolved) -> None:
        m = resolved.machine
        self.machine = m
        self.resolved = resolved
        self.ghosts = ghosts_of(m)
        self.eraser = Eraser(m, self.ghosts)
        self.reach = Reach(m.functions, m.bases, self.ghosts[m.name])
        self.bodies_by_key: dict[str, tuple[ir.Stmt, ...]] = {}
        helpers = [*m.functions, *(p.function for p in m.properties)]
        params = {f.name: tuple(kind for _, kind in f.params) for f in helpers}
        taken = frozenset(all_names(m)).union(p.name for p in m.parameters)
        names = GlobalNames(resolved.world, taken, params)
        self.code = GeneratedCode(names, (m.name, m.module), self._helper)
        self.plan = self.empty_plan()
        self.writes = HelperWrites(self.body_of, self.plan.fields)
        self.cores: dict[str, str] = {}
        self.made = ""  # The name of what makes an instance as a part.

    def run(self) -> Plan:
        """Compile everything that an instance needs from its start."""
        m, plan = self.machine, self.plan
        plan.functions = _Functions(self)
        self.cores = cores = {tr.name: self.core(tr, tr.name) for tr in m.transitions}
        starts = {f.name: self.initial(f) for f in m.initials}
        hints = {tr.name: self.hint(tr) for tr in m.transitions}
        whens = {row.name: self.when(row) for row in m.ignores}
        finds = self.finds()
        plan.ways = self.ways()
        for way in plan.ways.values():
            rows = [row for row in m.ignores if row.event == way.name]
            way.silent, way.conditional = self.silent(rows), any(row.when for row in rows)
        plan.starts = {f.name: self.start(f) for f in m.initials}
        defaults, fresh = initial.defaults(self.code, plan), initial.fresh(self.code, plan)
        self.code.define()
        made = self.code.names.globals
        for way in plan.ways.values():
            served = self.serving(way)
            way.candidates = tuple(self.candidate(tr, made[cores[tr.name]]) for tr in served)
            rows = [row for row in m.ignores if row.event == way.name]
            way.ignores = tuple(self.ignoring(row, whens[row.name]) for row in rows)
        for key, start in plan.starts.items():
            start.candidates = (Candidate(key, made[starts[key]], None, None),)
        plan.hints = {key: made[hint] for key, hint in hints.items()}
        plan.alarms = tuple(self.alarm(group, made[find]) for group, find in finds)
        plan.defaults.update(made[defaults](None))
        plan.required = tuple(p.name for p in m.parameters if p.default is None)
        plan.timed = any(has_time(kind) for kind in plan.fields.values())
        plan.clocked = clock_of(m) is not None
        plan.fresh = made[fresh]
        plan.bounds = tuple((slot(n), k) for n, k in plan.fields.items() if bounded(k))
        checks = self.checks(m.name, ((p.name, p.type) for p in m.parameters))
        plan.parameters = dict(zip((p.name for p in m.parameters), checks, strict=True))
        plan.assumed = tuple(p.name for p in m.of_kind("assume"))
        plan.text, plan.observed = self.code.text, self.observed
        plan.compiled, plan.watched = self.compiled, functools.partial(self.compiled, watched=True)
        plan.logged = functools.partial(self.observed, logged=True)
        plan.fresh_but = self.fresh_but
        plan.guards = self.guards
        plan.constructor = self.constructor
        plan.maker = self.maker if initial.plainly_made(m) else None
        plan.only_reads = functools.partial(only_reads, m, self.ghosts)
        return plan

    def empty_plan(self) -> Plan:
        m = self.machine
        held = tuple(v.name for v in m.variables if not v.ghost)
        fields = {v.name: v.type for v in m.variables if not v.ghost}
        fields.update({p.name: p.type for p in m.parameters})
        of_parts = [key for key in held if t.part_of(fields[key]) is not None]
        families = {key: isinstance(fields[key], t.Map) for key in of_parts}
        slots, control = tuple(map(slot, held)), control_name(m)
        at = control and slot(control)
        return Plan(self.resolved, fields, held, slots, families, control, at)

    # Functions.

    def erased(self, function: ir.Function) -> tuple[ir.Stmt, ...]:
        return self.eraser.body(function.body)

    def body_of(self, key: str) -> tuple[ir.Stmt, ...]:
        """The statements of a helper, a property or an inherited transition."""
        if key not in self.bodies_by_key:
            self.bodies_by_key[key] = self.erased(self.function_of(key))
        return self.bodies_by_key[key]

    def function_of(self, key: str) -> ir.Function:
        if key.startswith(SUPER):
            return self.base(key).function
        helpers = [*self.machine.functions, *(p.function for p in self.machine.properties)]
        return next(f for f in helpers if f.name == key)

    def base(self, key: str) -> ir.Transition:
        return next(b for b in self.machine.bases if b.name == key.removeprefix(SUPER))

    def emitter(self, key: str, form: str) -> tuple[Body, list[str]]:
        """An emitter of a form of a function, and what it takes besides: a log, if it writes in
        place."""
        body = self.code.emitter("self")
        if not form.startswith(LOGGED):
            return body, []
        log, last = self.code.names.local(LOG), form.startswith(LOGGED + LAST)
        body.write_in_place(log, self.writes, self.body_of(key), self.plan.variables, last)
        return body, [log]

    def core(self, tr: ir.Transition, shown: str, key: str = "", form: str = "") -> str:
        """The function of a transition with its header, on a state; `form`: the key of the form, of
        a function that some other calls."""
        f, logged = tr.function, form.startswith(LOGGED)
        body, more = self.emitter(f"{SUPER}{tr.name}", form)
        header = Header(body, tr)

        def finish(value: ast.expr | None, place: Place) -> list[ast.stmt]:
            out: list[ast.stmt] = []
            value = header.ending(value, out)
            return [*out, *returning(value, place)]

        body.finish, body.gives = finish, f.output
        whole = self.body_of(f"{SUPER}{tr.name}") if logged else self.erased(f)
        made = [*header.guards(), *body.whole(whole, tr.place)]
        key = key or self.code.names.reserve(f"{shown}_core")
        return self.code.add(key, f.place, [*(n for n, _ in f.params), *more], made, shown)

    def initial(self, f: ir.Function) -> str:
        made = self.code.emitter("self").whole(self.erased(f), f.place)
        key = self.code.names.reserve(f"{f.name}_core")
        return self.code.add(key, f.place, [n for n, _ in f.params], made, f.name)

    def hint(self, tr: ir.Transition) -> str:
        """The function of the guards without arguments, up to the body's first other statement."""
        params = {n for n, _ in tr.function.params}
        body = self.code.emitter("self")
        made = Header(body, tr).looks(frozenset(params))
        for stmt in tr.function.body:
            if not isinstance(stmt, ir.Require) or _mentions(stmt, params):
                break
            made += body.statement(stmt)
        return self.code.add(
            self.code.names.reserve(f"{tr.name}_hint"), tr.place, [], made, tr.name
        )

    def when(self, row: ir.Ignore) -> str | None:
        if row.when is None:
            return None
        made = self.code.emitter("self").whole(row.when.body, row.place)
        key = self.code.names.reserve(f"{row.name}_when")
        return self.code.add(key, row.when.place, [n for n, _ in row.when.params], made, row.name)

    def function(self, key: str) -> Any:
        """Compile a helper or property; its function."""
        with ONE_AT_A_TIME:
            found = self.code.called[key]
            self.code.define()
            return self.code.names.globals[found]

    def _helper(self, key: str) -> None:
        """Emit a helper, a property or an inherited transition that some function calls."""
        made_as, form = self.code.called[key], key
        key = key.removeprefix(LOGGED).removeprefix(LAST)
        if key.startswith(SUPER):
            base = self.base(key)
            self.core(base, base.function.name, made_as, form)
            return
        f = self.function_of(key)
        body, more = self.emitter(key, form)
        made = body.whole(self.body_of(key), f.place)
        shown = f.name.rpartition(".")[2]
        self.code.add(made_as, f.place, [*(n for n, _ in f.params), *more], made, shown)

    def fresh_but(self, given: frozenset[str]) -> Any:
        """Compile and return the function that sets initial values of all variables but these."""
        with ONE_AT_A_TIME:
            made = initial.fresh(self.code, self.plan, given)
            self.code.define()
            return self.code.names.globals[made]

    def constructor(
        self, otherwise: Callable[..., None], assume: Callable[[Instance], None]
    ) -> Any:
        """Compile and return the `__init__` of a plain class."""
        with ONE_AT_A_TIME:
            made = initial.constructor(self.code, self.plan, otherwise, assume)
            self.code.define()
            return self.code.names.globals[made]

    def maker(self) -> Any:
        """Compile, once, and return what makes an instance as a part."""
        with ONE_AT_A_TIME:
            if not self.made:
                self.made = initial.maker(self.code, self.plan)
                self.code.define()
            return self.code.names.globals[self.made]

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
        made.read = reader(made.slots)
        made.copies = any(t.contains(kind, t.Map) for _, kind in event.params)
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
        made.read = reader(made.slots)
        return made

    def method(self, way: Way, watched: bool) -> str:
        """The method that users call for an event."""
        emitter = self.of_way(Method, way, watched)
        made = emitter.body(self.bodies(way))
        key = self.code.names.reserve(way.name)
        return self.code.add(key, self._place(way), [n for n, _ in way.params], made, way.name)

    def of_way(self, kind: type[M], way: Way, watched: bool) -> M:
        """An emitter of the methods of a way."""
        fields, code = self.plan.fields, self.code
        made = kind(code.names, code.called, fields, way, watched=watched, writes=self.writes)
        made.control = self.plan.control
        return made

    def bodies(self, way: Way) -> list[GuardedBody]:
        """The transitions of a way as its method runs them; none where `commit.choose` runs them:
        where it is not known which parts change, where a function that the method calls changes
        them, or where the transitions were declared in several files."""
        served = self.serving(way)
        calls = [self.part_calls(tr) for tr in served]
        files = {tr.function.place.file for tr in served} | {self._place(way).file}
        if None in calls or len(files) > 1:
            return []
        made = [self.body(tr, mine or {}) for tr, mine in zip(served, calls, strict=True)]
        return [] if any(each.core is not None and each.parts for each in made) else made

    def part_calls(self, tr: ir.Transition) -> dict[int, PartCall] | None:
        body = self.erased(tr.function)
        return part_calls(tr, body, self.reach, self.resolved.parts)

    def body(self, tr: ir.Transition, parts: dict[int, PartCall]) -> GuardedBody:
        body = self.erased(tr.function)
        if any(isinstance(s, ir.Do) for s in statements(body)):
            from .short_helpers import with_short_helpers  # The first machine starts without it.

            body = with_short_helpers(body, self.function_of, self.body_of, tr.function.place.file)
        returns = sum(isinstance(s, ir.Return) for s in statements(body))
        # A refusal reports the arguments as they were given, so the method may not assign them.
        lost = assigned(body) & {n for n, _ in tr.function.params}
        core = self.cores[tr.name] if returns > MOST_RETURNS or lost else None
        writes = tuple(self.reach.of_transition(tr).variables)
        return GuardedBody(tr, body, guards_of(tr, body), writes, core, parts)

    def guards(self, key: str) -> tuple[Guards, ...]:
        """Compile and return the guards of each transition of a way."""
        with ONE_AT_A_TIME:
            way = self.plan.ways[key]
            return self.of_way(Method, way, False).guards(self.code, self.bodies(way))

    def _place(self, way: Way) -> Place:
        served = self.serving(way)
        return served[0].function.place if len(served) == 1 else self.machine.event(way.event).place

    def compiled(self, key: str, *, watched: bool = False) -> Any:
        """Compile and return the method that users call for an event, or observed instances run."""
        with ONE_AT_A_TIME:
            made = self.method(self.plan.ways[key], watched)
            self.code.define()
            method = self.code.names.globals[made]
            return at_one_instant(method) if self.plan.clocked and not watched else method

    def observed(self, key: str, logged: bool = False) -> Any:
        """Compile and return the method of instances whose observers alone are told, or of those
        with a log; None where a step needs more: where it may change parts, where an argument is
        copied, where the method would leave every step to `commit.choose`."""
        from . import logged_method, observed_method  # No instance needs them to begin with.

        kind = logged_method.LoggedMethod if logged else observed_method.ObservedMethod
        with ONE_AT_A_TIME:
            way = self.plan.ways[key]
            bodies = [] if way.composite or way.copies else self.bodies(way)
            if not bodies:
                return None
            code = self.code
            emitter = self.of_way(kind, way, True)
            made = code.names.reserve(way.name)
            code.add(made, self._place(way), emitter.params(), emitter.body(bodies), way.name)
            code.define()
            return code.names.globals[made]

    def candidate(self, tr: ir.Transition, run: Any) -> Candidate:
        source = None
        if tr.source is not None and is_state(tr.control):
            assert tr.control is not None and isinstance(tr.control.type, t.Enum)
            members = self.resolved.world.enums[tr.control.type.name]
            source = tuple(members[state] for state in tr.source)
        where = None
        if source is not None and tr.control is not None:
            where = guards.elsewhere(tr.control, tr.source or ())
        return Candidate(tr.name, run, source, where)

    def silent(self, rows: Sequence[ir.Ignore]) -> tuple[enum.Enum, ...] | None:
        """The control states in which the first of these ignore the event, whatever the arguments
        are; None for all. A condition may have no value, so none after it counts."""
        found: list[enum.Enum] = []
        for row in rows:
            source = self.ignoring(row, None).source
            if row.when is not None:
                break
            if source is None:
                return None
            found += source
        return tuple(dict.fromkeys(found))

    def ignoring(self, row: ir.Ignore, when: str | None) -> Ignoring:
        source = None
        kind = self.plan.fields.get("state")
        if row.source is not None and isinstance(kind, t.Enum):
            members = self.resolved.world.enums[kind.name]
            source = tuple(members[state] for state in row.source)
        return Ignoring(source, None if when is None else self.code.names.globals[when])

    # Timers.

    def finds(self) -> list[tuple[list[ir.Transition], str]]:
        """The transitions of each timer that fires by itself, and the function of its deadlines."""
        out: list[tuple[list[ir.Transition], str]] = []
        for group in fireable(self.machine):
            tr = group[0]
            made = located(due_timers(self.code.emitter("self"), tr), tr.place)
            key = self.code.names.reserve(f"{tr.name}_due")
            out.append((group, self.code.add(key, tr.place, [], [made], tr.name)))
        return out

    def alarm(self, group: list[ir.Transition], find: Any) -> Alarm:
        """A timer: it takes the way of its event or its transition, if that is the same."""
        ways: list[Way] = []
        for event in dict.fromkeys(tr.event for tr in group):
            served = tuple(tr for tr in group if tr.event == event)
            known = (self.plan.ways[key] for key in (event, served[0].name))
            same = next((w for w in known if self.serving(w) == served and not w.ignores), None)
            ways.append(same or self.way_without_method(event, served))
        timer = group[0].timer
        urgent = timer is not None and isinstance(timer.type, t.Timer) and timer.type.urgent
        return Alarm(find, tuple(ways), urgent)

    def way_without_method(self, event: str, served: tuple[ir.Transition, ...]) -> Way:
        """The way of a timer that fires only these transitions, whatever is ignored."""
        way = self.way(event, self.machine.event(event), served)
        everyone = {c.name: c for c in self.plan.ways[event].candidates}
        way.candidates = tuple(everyone[tr.name] for tr in served)
        return way


def _mentions(node: ir.Node, names: set[str]) -> bool:
    return any(isinstance(each, ir.Local) and each.name in names for each in everything((node,)))
