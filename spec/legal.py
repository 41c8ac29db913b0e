"""What a legal machine is, as rows: each is a function over the resolved machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import ir
from . import types as t
from .context import root
from .declare import declared
from .errors import Problems
from .members import Members
from .walk import everything, statements, written

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
            given = ", ".join(f"{n}: {k}" for n, k in event.params)
            problems.add(
                "L212", transition.place, f"other parameters than the event {event.name} has",
                f"({given}) -> {event.output}", "all transitions of one event share its signature",
            )  # fmt: skip


def _target_not_assigned(machine: ir.Machine, members: Members, problems: Problems) -> None:
    for transition in machine.transitions:
        target = transition.target
        if target is None or len(target) > 1 or transition.control is None:
            continue
        for stmt in statements(transition.function.body):
            if transition.control in written(stmt):
                problems.add(
                    "L212", stmt.place, "the control state assigned, and a target given",
                    "one of the two", "leave the assignment out: `target` does it",
                )  # fmt: skip


def _timers_are_timers(machine: ir.Machine, members: Members, problems: Problems) -> None:
    for transition in machine.transitions:
        timer = transition.timer
        if timer is not None and not isinstance(timer.type, t.Timer | t.Unknown):
            problems.add("L212", transition.place, str(timer.type), "a Timer", "name a timer")


def _ignores_fit(machine: ir.Machine, members: Members, problems: Problems) -> None:
    events = {event.name: event for event in machine.events}
    for row in machine.ignores:
        event = events.get(row.event)
        if event is None:
            problems.add(
                "L217", row.place, row.event, f"one of {', '.join(sorted(events))}",
                "name an event of this machine",
            )  # fmt: skip
        elif not t.fits(t.NOTHING, event.output):
            problems.add(
                "L216", row.place, f"{row.event} gives a {event.output}", "an output with None",
                "annotate the event -> T | None, or refuse it",
            )  # fmt: skip


def _drops_and_expects_name(machine: ir.Machine, members: Members, problems: Problems) -> None:
    for name, (owner, row) in members.dropped.items():
        problems.add(
            "L217", declared(owner).place(row), f"drop({name!r})", "a member of an ancestor",
            _nearest(name, (*members.methods, *members.ignores)),
        )  # fmt: skip
    known = {*_property_names(machine, machine), *BUILT_IN}
    for name in members.expects:
        if name not in known:
            place = declared(members.chain[-1]).place("expects")
            problems.add(
                "L217", place, f"expects {name}", f"one of {', '.join(sorted(known))}",
                "name a property",
            )  # fmt: skip


def _property_names(machine: ir.Machine, whole: ir.Machine) -> Iterator[str]:
    """The names of all properties; those of parts as `part.property`."""
    yield from (p.name for p in machine.properties)
    for v in machine.variables:
        if isinstance(v.type, t.Part):
            inner = next((m for m in whole.parts if m.name == v.type.machine), None)
            names = () if inner is None else _property_names(inner, whole)
            yield from (f"{v.name}.{name}" for name in names)


def _nearest(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(known), 1)
    return f"write {found[0]}" if found else "correct or remove the name"


BUILT_IN = frozenset({"deadlock", "bounds", "asserts", "undefined", "ambiguous"})


def _ghosts_are_not_read(machine: ir.Machine, members: Members, problems: Problems) -> None:
    ghosts = {v.name for v in machine.variables if v.ghost}
    if not ghosts:
        return
    for transition in machine.transitions:
        for stmt in statements(transition.function.body):
            for expr in _read_by(stmt, ghosts):
                for node in everything((expr,)):
                    if isinstance(node, ir.Field) and node.name in ghosts:
                        if isinstance(node.of, ir.Self):
                            problems.add(
                                "L214", node.place, f"the ghost {node.name}",
                                "ordinary variables in guards, outputs and other variables",
                                "make it an ordinary variable, or use it in properties alone",
                            )  # fmt: skip


def _read_by(stmt: ir.Stmt, ghosts: set[str]) -> tuple[ir.Expr, ...]:
    """The expressions of a statement that decide what an ordinary variable or a guard sees."""
    match stmt:
        case ir.Require(test=test):
            return (test,)
        case ir.Assign(target=target, value=value) if not _is_ghost(target, ghosts):
            return (value,)
        case ir.Update(target=target, args=args) if not _is_ghost(target, ghosts):
            return args
        case ir.Step(args=args):
            return args
        case ir.Return(value=value) if value is not None:
            return (value,)
        case ir.Branch(test=test, then=then, other=other):
            inside = [p for s in statements((*then, *other)) for p in written(s)]
            only_ghosts = inside and all(_is_ghost(p, ghosts) for p in inside)
            return () if only_ghosts else (test,)
        case _:
            return ()


def _is_ghost(target: ir.Expr, ghosts: set[str]) -> bool:
    while isinstance(target, ir.Field | ir.Item | ir.Narrow):
        if isinstance(target, ir.Field) and isinstance(target.of, ir.Self):
            return target.name in ghosts
        target = target.of
    return isinstance(root(target), ir.Local)  # A local is judged where it is used.


RULES: tuple[Rule, ...] = (
    _signatures_agree,
    _target_not_assigned,
    _timers_are_timers,
    _ignores_fit,
    _drops_and_expects_name,
    _ghosts_are_not_read,
)
