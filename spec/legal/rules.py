"""The rules that a legal machine keeps, as rows: each is a function of the resolved machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import cast

from .. import ir
from .. import types as t
from ..analysis.composition import judged
from ..analysis.walk import everything, inlined, statements, written
from ..errors import Place, Problems, a, nearest
from ..syntax.declare import Declared, declared
from ..syntax.members import Members
from ..verdicts import Verdict
from ..words import Expect, Expected
from .assumptions import assumptions_read_parameters
from .clocks import clocks_fit
from .fairness import fairness_fits
from .growth import growth_fits
from .part_starts import parts_begin_where_they_are_made
from .starts import starts_are_whole
from .texts import texts_are_not_compared
from .unread_ghosts import ghosts_are_not_read

Rule = Callable[[ir.Machine, Members, Problems], None]


def judge(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """Note everything about the machine that no single expression or statement shows."""
    for rule in RULES:
        rule(machine, members, problems)


def _signatures_agree(machine: ir.Machine, members: Members, problems: Problems) -> None:
    for transition in machine.transitions:
        event = machine.event(transition.event)
        f = transition.function
        if (f.params, f.output) != (event.params, event.output):
            wanted = f"def {transition.name}{_signature(event.params, event.output)}"
            problems.add(
                "L212",
                transition.place,
                f"def {transition.name}{_signature(f.params, f.output)}",
                f"the parameters and the output of the event {event.name}",
                f"write {wanted}: all transitions of one event share its signature",
            )


def _signature(params: tuple[tuple[str, t.Type], ...], output: t.Type) -> str:
    given = ", ".join(("self", *(f"{name}: {kind}" for name, kind in params)))
    return f"({given}) -> {output}"


def _events_are_no_other_members(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """An event's name leads to the event: no variable, helper or property has it."""
    for event in machine.events:
        kind = "variable" if event.name in members.fields else None
        member = members.methods.get(event.name)
        if member is not None and member.header is None:
            kind = "helper"
        elif member is not None and member.header is not None:
            head = member.header
            if head.kind not in ("transition", "event"):
                kind = head.kind
            elif head.kind == "transition" and head.event not in (None, event.name):
                kind = f"transition of the event {head.event}"
        if kind is not None:
            problems.add(
                "L219",
                event.place,
                f"{event.name}, an event and {a(kind)}",
                "one meaning for each name",
                "rename one of them",
            )


def _control_moves_by_target(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """The control state goes where the header says, and only there. Where the header does not say,
    it goes where the body assigns it; of a family, which has other control states, it must say."""
    own = _control_variable(machine, members)
    for row in (*machine.transitions, *machine.bases):
        control = row.control or own
        if control is None or (row.target is not None and len(row.target) > 1):
            continue
        found = f"the control state assigned in {row.name}, which has a target"
        rewrite = "leave it to `target`, or assign that state"
        if row.target is None:
            if isinstance(control, ir.Field) and isinstance(control.of, ir.Self):
                continue
            found = f"the control state assigned in {row.name}, which has no target"
            rewrite = "say where it goes: target=S, or target=(S, T) and assign one of these"
        for stmt in _with_helpers(row.function.body, machine):
            if control in written(stmt) and not _goes_to(stmt, control, row.target):
                problems.add("L212", stmt.place, found, "one of the two", rewrite)


def _goes_to(stmt: ir.Stmt, control: ir.Expr, target: tuple[str, ...] | None) -> bool:
    """Whether it assigns the one state to which the header leads, too: a helper may do that."""
    match stmt:
        case ir.Assign(target=place, value=ir.Const(value=value)) if place == control:
            return isinstance(control, ir.Field) and target == (value,)
        case _:
            return False


def _timers_fire_once(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """A header that disarms a part's timer leaves none for a transition of the part to wait for."""
    for row in (*machine.transitions, *machine.bases):
        part = row.timer.of if isinstance(row.timer, ir.Field) else None
        if part is None or not isinstance(row.timer, ir.Field) or not isinstance(part.type, t.Part):
            continue
        steps = (s for s in row.function.body if isinstance(s, ir.Step) and s.part == part)
        first = next(steps, None)  # One before it may start the timer again.
        serving = () if first is None else machine.part(part.type.machine).serving(first.name)
        same = [s.timer for s in serving if isinstance(s.timer, ir.Field)]
        names = [timer.name for timer in same]
        if first is not None and serving and names == [row.timer.name] * len(serving):
            problems.add(
                "L212",
                first.place,
                f"{first.name}, whose timer {row.timer.name} is disarmed here",
                "a transition of the part that waits for no timer",
                f"leave timer= out of {first.name}: what shall happen is said here",
            )


def _ancestors_wait_for_no_disarmed_timer(
    machine: ir.Machine, members: Members, problems: Problems
) -> None:
    """A header that disarms a timer leaves none for the ancestor's transition to wait for."""
    bases = {base.name: base for base in machine.bases}
    for row in (*machine.transitions, *machine.bases):
        timer = row.timer
        for stmt in row.function.body if isinstance(timer, ir.Field) else ():
            if timer in written(stmt):
                break  # It may be armed again.
            if not isinstance(timer, ir.Field) or not isinstance(stmt, ir.Base):
                continue
            if bases[stmt.name].timer == timer:
                name = stmt.name.rpartition(".")[2]
                problems.add(
                    "L212",
                    stmt.place,
                    f"super().{name}(), which waits for {timer.name}; this header disarms it",
                    "a transition of the ancestor that waits for no timer",
                    "leave timer= out of this header: the ancestor's transition asks for the timer",
                )


def _control_variable(machine: ir.Machine, members: Members) -> ir.Expr | None:
    """The variable `state`, where the headers of this machine move it."""
    moved = any(
        isinstance(row.control, ir.Field) and row.control.name == "state"
        for row in machine.transitions
    )
    state = next((v for v in machine.variables if v.name == "state"), None)
    if state is None or not moved or not isinstance(state.type, t.Enum):
        return None
    return ir.Field(state.place, state.type, ir.Self(state.place, t.Part(machine.name)), "state")


def _with_helpers(body: Iterable[ir.Stmt], machine: ir.Machine) -> Iterator[ir.Stmt]:
    for stmt in statements(body):
        yield stmt
        if isinstance(stmt, ir.Do):
            inside = inlined(stmt, machine.functions)
            if stmt not in inside:
                yield from _with_helpers(inside, machine)


def _ignores_fit(machine: ir.Machine, members: Members, problems: Problems) -> None:
    events = {event.name: event for event in machine.events}
    for row in machine.ignores:
        event = events.get(row.event)
        if event is None:
            problems.add(
                "L217",
                row.place,
                f"ignore({row.event!r})",
                f"one of {', '.join(sorted(events))}",
                nearest(row.event, events),
            )
        elif not t.fits(t.NOTHING, event.output):
            problems.add(
                "L216",
                row.place,
                f"{row.event}, which gives {a(event.output)}",
                "an event whose output admits None",
                f"annotate it -> {event.output} | None, or leave the event refused here",
            )


def _drops_name_members(machine: ir.Machine, members: Members, problems: Problems) -> None:
    for name, (owner, row) in members.dropped.items():
        problems.add(
            "L217",
            declared(owner).place(row),
            f"drop({name!r})",
            "a member of an ancestor",
            nearest(name, (*members.methods, *members.ignores)),
        )


def _expectations_fit(machine: ir.Machine, members: Members, problems: Problems) -> None:
    known = judged(machine)
    verdicts = [verdict.value for verdict in Verdict]
    for place, expects in _expectations(members, declared(members.chain[-1])):
        for name, given in expects.items():
            if name not in known:
                problems.add(
                    "L217",
                    place,
                    f"expects {name}",
                    f"one of {', '.join(sorted(known))}",
                    nearest(name, known),
                )
            verdict = given if isinstance(given, str) else given[0]
            if verdict not in verdicts:
                problems.add(
                    "L217",
                    place,
                    f"{name}={verdict!r}",
                    f"one of {', '.join(verdicts)}",
                    nearest(verdict, verdicts),
                )


def _expectations(
    members: Members, statement: Declared
) -> Iterator[tuple[Place, dict[str, Expected]]]:
    """Every `Expect` with its place: the machine's, and those of its scopes."""
    yield statement.place("expects"), members.expects
    for name, scope in members.scopes.items():
        if isinstance(scope.expects, Expect):
            yield statement.place(name), scope.expects.verdicts


def _scopes_expect_verdicts(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """What a scope is given after its mapping is an `Expect`, not another mapping."""
    statement = declared(members.chain[-1])
    for name, scope in members.scopes.items():
        given = cast(object, scope.expects)  # Of any type where no type checker is used.
        if not isinstance(given, Expect | None):
            problems.add(
                "L217",
                statement.place(name),
                f"Scope(..., {given!r}), a {type(given).__name__}",
                "an Expect after the mapping of bounds",
                "join several mappings of bounds with |",
            )


def _everything_has_a_type(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """Every expression has a type, unless it was refused and has a problem of its own."""
    for node in () if problems.found else everything([machine]):
        if isinstance(node, ir.Expr) and isinstance(node.type, t.Unknown):
            problems.add(
                "L203",
                node.place,
                "a value whose type cannot be told",
                "a value of one type",
                "annotate the local that it comes from",
            )


RULES: tuple[Rule, ...] = (
    _signatures_agree,
    _events_are_no_other_members,
    _control_moves_by_target,
    _timers_fire_once,
    _ancestors_wait_for_no_disarmed_timer,
    _ignores_fit,
    _drops_name_members,
    _expectations_fit,
    _scopes_expect_verdicts,
    fairness_fits,
    clocks_fit,
    assumptions_read_parameters,
    growth_fits,
    ghosts_are_not_read,
    parts_begin_where_they_are_made,
    starts_are_whole,
    texts_are_not_compared,
    _everything_has_a_type,
)
