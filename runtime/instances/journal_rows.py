"""The rows that a journal, logging records and span events have of an instance; see `journal`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lawful.runtime.kernel.commit import choose
from lawful.runtime.kernel.dispatch import control
from lawful.runtime.kernel.plan import Plan, Way
from lawful.runtime.kernel.state import State
from lawful.runtime.timers import Around
from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.outcomes import MachineFault, Refused, joined
from lawful.spec.syntax.declare import slot
from lawful.spec.values.time import clock_of

from .access import behaviour_of
from .json_forms import plain, variables
from .make import bare, begin
from .observers import Stepped

if TYPE_CHECKING:
    from lawful.runtime.instance import Machine
    from lawful.runtime.journal import Hidden

STATE = "state"  # The variable that `before` and `after` are of.
UNIVERSE = "universe"  # What the first row may have besides.


class Writer:
    """Makes the rows of one instance; `write` is given each."""

    def __init__(
        self,
        entry: Machine,
        instance: str,
        write: Callable[[dict[str, Any]], None],
        hidden: Hidden | None = None,
    ) -> None:
        access = entry.lawful
        self.instance = instance
        self.write = write
        self.plan: Plan = access.plan
        self.fingerprint = behaviour_of(self.plan)
        self.params = {way.name: dict(way.params) for way in self.plan.ways.values()}
        self.timers: dict[str, Json] = {}
        self.clock = clock_of(self.plan.machine)
        self.tick = 0
        self.seq = 0
        self.hidden = hidden
        if hidden is not None:
            hidden.check(self.plan)

    def row(self, time: float, **rest: Any) -> None:
        if self.hidden is not None:
            for part in ("args", "changed"):
                rest[part] = self.hidden.each(rest[part])
            for side in ("before", "after"):
                if rest[side] is not None:
                    rest[side] = self.hidden.told(STATE, rest[side])
            rest["output"] = self.hidden.told(f"{rest['event']}.output", rest["output"])
        head = {
            "v": 1,
            "instance": self.instance,
            "seq": self.seq,
            "time": time,
            "machine": self.plan.name,
            "fingerprint": self.fingerprint,
        }
        self.seq += 1  # First: the file may rotate, and begin with a row of this instance.
        self.write(head | rest)

    def attached(self, entry: Machine) -> None:
        """The first row: the instance as it is now, and whether its class makes it so."""
        self.whole(entry, "made" if self.seq == 0 and _is_new(entry) else "attached")

    def whole(self, entry: Machine, outcome: str) -> None:
        """A row that tells all of the instance as it is now, at which a replay can begin."""
        plan, around = self.plan, entry.__around__
        at = getattr(control(entry), "name", None)
        whole = variables(entry)
        self.timers = {name: whole[name] for name in whole if _of_timers(plan.fields[name])}
        self._passed(entry)
        rows = plan.machine.parameters
        fixed = {p.name: plain(getattr(entry, slot(p.name)), p.type) for p in rows}
        known = {name: list(map(str, every)) for name, every in around.universe.items()}
        self.row(
            around.now(),
            event=None,
            transition=None,
            args=fixed,
            outcome=outcome,
            before=None,
            after=at,
            changed=whole,
            output=None,
            why=None,
            **({UNIVERSE: known} if known else {}),
        )

    def stepped(self, done: Stepped) -> None:
        """The row of an event."""
        kinds, plan = self.params[done.event], self.plan
        why = self.why(done) if done.outcome == "refused" else None
        self.row(
            done.time,
            event=done.event,
            transition=done.transition,
            args={name: plain(value, kinds[name]) for name, value in done.args.items()},
            outcome=done.outcome,
            before=done.before,
            after=done.after,
            changed=self.changed(done),
            output=plain(done.output, plan.machine.event(done.event).output),
            why=why,
        )

    def why(self, done: Stepped) -> str:
        """Why an event was refused; where something is hidden, by which transitions only."""
        if self.hidden is None:
            return joined(done.reasons)
        return "refused by " + ", ".join(reason.transition for reason in done.reasons)

    def changed(self, done: Stepped) -> dict[str, Json]:
        """The new values; a timer that was armed and is armed again is what it was.

        The clock goes on by itself, between events: its tick is told with the event after that.
        """
        state = done.instance
        out = self._passed(state)
        for name, value in done.changed.items():  # The instance may have gone on since.
            new = plain(_inside(value, self.plan.fields[name]), self.plan.fields[name])
            if name not in self.timers:
                out[name] = new
            elif new != self.timers[name]:
                out[name] = self.timers[name] = new
        return out

    def _passed(self, state: State) -> dict[str, Json]:
        """The present tick by the clock's name, where it is another than in the last row."""
        if self.clock is None:
            return {}
        before, self.tick = self.tick, getattr(state, slot(self.clock.name)).now
        return {self.clock.name: self.tick} if self.tick != before else {}


def _is_new(entry: Machine) -> bool:
    """Whether the instance is as its class makes one with these parameters, clocks aside.

    Nothing keeps the arguments of an `@initial`: after one that takes some, every state may be new.
    """
    starts = entry.__plan__.starts.values()
    if any(start.params for start in starts):
        return True
    now = _but_clocks(entry)
    return any(_begun(entry, start) == now for start in starts or (None,))


def _begun(entry: Machine, start: Way | None) -> dict[str, Json] | None:
    """The variables of a new instance with the same parameters, which began so; None where it
    cannot."""
    plan, around = entry.__plan__, entry.__around__
    made = bare(type(entry), None, None)
    made.__around__ = Around(around.clock, around.universe)
    try:
        begin(made, {p.name: getattr(entry, slot(p.name)) for p in plan.machine.parameters})
        if start is not None:
            choose(made, start, ())
    except (Refused, MachineFault, TypeError, ValueError):
        return None
    return _but_clocks(made)


def _but_clocks(state: State) -> dict[str, Json]:
    kinds = state.__plan__.fields
    return {k: v for k, v in variables(state).items() if not isinstance(kinds[k], t.Clock)}


def _inside(value: Any, kind: t.Type) -> Any:
    """What an observer is told of a variable, with timers as they are inside."""
    match kind:
        case t.Timer():
            return value.deadline
        case t.Map(value=t.Timer()):
            return {key: timer.deadline for key, timer in value.items()}
        case _:
            return value


def _of_timers(kind: t.Type) -> bool:
    return isinstance(kind.value if isinstance(kind, t.Map) else kind, t.Timer)
