"""What a replay needs: the machines as IR, and how to read and judge the recorded rows.

A program can be pickled, in a few kilobytes, so another process can replay without the source of
the declarations.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lawful.spec import ir
from lawful.spec.codec import as_json
from lawful.spec.errors import nearest
from lawful.spec.ir import Json
from lawful.spec.values.time import clock_of

from .flaws.mapping_names import MappingError, check_names
from .mapping import TraceMapping, mapping_of
from .preparation.preparation_table import Preparation
from .preparation.row_numbers import file_at, record_at, time_at
from .resuming import Policy
from .row_state import StateForm
from .row_step import Stepper
from .rows import RowOf, journal_row
from .sources import Sources, sources
from .stays.deadline_table import unknown_states
from .unseen import possible_states
from .unseen.possible_states import PossibleStates

REMEMBERED = 1000  # Rows of an instance that a later increment knows again.


@dataclass(frozen=True)
class ReplayProgram:
    """What a replay needs: the machines as IR. It can be pickled, in a few kilobytes.

    `anywhere`: instances may begin in any state; the state in their first row is trusted, even if
    the row says that the instance was just made.
    `mapping`: how to read traces that are not in the journal format.
    `older`: other versions of the machines; a row is judged by the version whose fingerprint it
    has. `after`: how an instance goes on after a deviation. `every`: keep every problem, not the
    first of each kind. `pass_unknown`: pass over events that the machine does not have, and count
    them. `resumable`: keep the state of each instance, from which a next increment goes on.
    `any_version`: judge rows by the machine, whichever version of it wrote them.
    `remembered`: how many rows of each instance an increment or a micro-batch knows again when they
    are delivered again.
    `until`: the traces are complete up to this time, in seconds since 1970, so deadlines before it
    have passed. Without it they pass only where a later row of the instance comes.
    Raises ValueError where two machines have one name, or an older version is of another machine,
    and MappingError, which is one, where the mapping does not suit its machine.
    """

    machines: tuple[ir.Machine, ...]
    anywhere: bool = False
    mapping: TraceMapping | None = None
    older: tuple[ir.Machine, ...] = ()
    after: Policy = "resync"
    every: bool = False
    pass_unknown: bool = False
    resumable: bool = False
    any_version: bool = False
    until: float | None = None
    remembered: int = REMEMBERED

    def __post_init__(self) -> None:
        if self.remembered < 0:
            raise ValueError(f"remembered is a number of rows from 0 on, not {self.remembered}")
        names = [machine.name for machine in self.machines]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"a replay takes one or more machines of different names, not {names}")
        strange = [machine.name for machine in self.older if machine.name not in names]
        if strange:
            raise ValueError(f"an older version of {strange[0]}, which is none of {names}")
        if self.mapping is not None and not self.mapping.machine:
            if len(names) > 1:
                raise ValueError(f"the mapping does not say of which machine it is: {names}")
            mapping = dataclasses.replace(self.mapping, machine=names[0])
            object.__setattr__(self, "mapping", mapping)
        if self.mapping is not None:
            self._check_mapping(self.mapping)

    def _check_mapping(self, mapping: TraceMapping) -> None:
        """MappingError where the mapping does not suit a version of its machine."""
        versions = [m for m in (*self.machines, *self.older) if m.name == mapping.machine]
        if not versions:
            names = [machine.name for machine in self.machines]
            how = nearest(mapping.machine, names, f"the machines are {', '.join(names)}")
            raise MappingError(f'machine is "{mapping.machine}", and is not given; {how}')
        check_names(mapping, versions)
        if self.any_order and (why := self._with_any_order(mapping)):
            raise MappingError(why)
        for machine in versions:
            timed = clock_of(machine) is not None
            if mapping.history is not None and timed:
                what = "a machine with a clock"
                raise MappingError(f"histories of calls and returns are not for {what}")
            if why := possible_states.wrong(machine, mapping, timed):
                raise MappingError(why)
            self._check_deadlines(machine, mapping)

    def _with_any_order(self, mapping: TraceMapping) -> str:
        """What does not go together with rows in any order, as a sentence; empty if nothing."""
        if not (mapping.combine or mapping.history or mapping.unseen):
            return ""
        others = "`combine`, `hidden`, `attach`, `partial` and histories"
        return f'ties = "any" is for traces that tell everything else, without {others}'

    def _check_deadlines(self, machine: ir.Machine, mapping: TraceMapping) -> None:
        """MappingError where deadlines do not suit the machine, or the rest of the mapping."""
        if not mapping.deadlines:
            return
        if mapping.time is None:
            raise MappingError("deadlines need `time`")
        if mapping.history or mapping.unseen:
            others = "histories, `hidden`, `attach` and `partial`"
            raise MappingError(f"deadlines are for traces that tell everything, without {others}")
        states = StateForm(machine).control_states
        if why := unknown_states(mapping.deadlines, states, machine.name):
            raise MappingError(why)

    def of(self, machine: str) -> ReplayProgram:
        """The program that judges a machine: this one."""
        if machine not in self.steppers:
            raise KeyError(machine)
        return self

    def sources(self, paths: Iterable[str | Path], some: bool = True) -> Sources:
        """The files under the paths: journals, or with a mapping files of other programs. There has
        to be a row, unless there need not be `some`."""
        return sources(paths, foreign=self.mapping is not None, some=some)

    @cached_property
    def steppers(self) -> Mapping[str, Stepper]:
        """A stepper for each machine, by name; made when it is first needed in a process."""
        return {machine.name: Stepper(machine, self.anywhere) for machine in self.machines}

    @cached_property
    def versions(self) -> Mapping[str, Mapping[str, Stepper]]:
        """The steppers of all versions of each machine, by name and fingerprint."""
        out = {name: {stepper.fingerprint: stepper} for name, stepper in self.steppers.items()}
        for machine in self.older:
            stepper = Stepper(machine, self.anywhere)
            out[machine.name].setdefault(stepper.fingerprint, stepper)
        return out

    @cached_property
    def _views(self) -> dict[str, PossibleStates]:
        return {}

    def view(self, stepper: Stepper) -> PossibleStates | None:
        """Follows rows of this version that do not tell everything; None where they do."""
        if self.mapping is None or not self.mapping.unseen:
            return None
        known = self._views.get(stepper.fingerprint)
        if known is None:
            known = self._views[stepper.fingerprint] = PossibleStates(stepper, self.mapping)
        return known

    @cached_property
    def compiled(self) -> dict[str, object]:
        """What engines compile of the program, by their names; it is kept as long as the program,
        because a worker process runs many tasks."""
        return {}

    @cached_property
    def text(self) -> str:
        """The program as JSON text; `program_of` reads it."""
        machines = [as_json.to_json(m, places=False) for m in self.machines]
        older = [as_json.to_json(m, places=False) for m in self.older]
        # A text of its own, which keeps its order: a computed field may read those before it.
        mapping = None if self.mapping is None else json.dumps(self.mapping.to_json())
        rest = {name: getattr(self, name) for name in OPTIONS}
        return as_json.canonical({"machines": machines, "older": older, "mapping": mapping, **rest})

    @property
    def form(self) -> str:
        """What messages call the recorded rows: a journal, or the log of another program."""
        return "journal" if self.mapping is None else "log"

    @property
    def row_of(self) -> RowOf:
        """The function that makes a row of the JSON object in a line."""
        return journal_row if self.mapping is None else self.mapping.row_of

    @property
    def dense(self) -> bool:
        """Whether the rows of an instance are numbered from `first` on without a gap."""
        return self.mapping is None or self.mapping.dense

    @property
    def first(self) -> int:
        """The number of the first row of an instance, where they are numbered without a gap."""
        return 0 if self.mapping is None else self.mapping.first

    @property
    def deadlines(self) -> Mapping[str, float]:
        """How many seconds an instance may stay in a control state."""
        return {} if self.mapping is None else self.mapping.deadlines

    @property
    def combine(self) -> bool:
        """Whether rows of one instance and number are parts of one event."""
        return self.mapping is not None and self.mapping.combine

    @property
    def any_order(self) -> bool:
        """Whether rows of an instance at one time may have happened in any order."""
        how = None if self.mapping is None else self.mapping.preparation
        return how is not None and how.any_order

    @property
    def trust_samples(self) -> bool:
        """Whether rows of sampled traces are judged as if no row were missing."""
        how = None if self.mapping is None else self.mapping.preparation
        return how is not None and how.trust_samples

    @property
    def orders_rows(self) -> bool:
        """Whether rows have no numbers of their own: the order of the mapping makes them."""
        how = None if self.mapping is None else self.mapping.preparation
        return how is not None and bool(how.order)

    def place(self, seq: int) -> dict[str, Json]:
        """What a finding says of where a row is: the `number` of its record in its file, or its
        `time`; nothing where rows have numbers of their own."""
        how = None if self.mapping is None else self.mapping.preparation
        if self.mapping is None or how is None or not how.order or seq < 0:
            return {}
        if how.order == "file":
            return {"number": record_at(how, seq)}
        return {"time": time_at(how, seq, self.mapping.unit)}

    @property
    def by_files(self) -> Preparation | None:
        """How rows are numbered by their place in the files; None where they have other numbers."""
        how = None if self.mapping is None else self.mapping.preparation
        return how if how is not None and how.order == "file" else None

    def record_place(self, seq: int) -> tuple[int, int] | None:
        """The number of the file that a row is in, from 0, and that of its record; None where its
        number does not say."""
        how = self.by_files
        return None if how is None or seq < 0 else (file_at(how, seq), record_at(how, seq))

    def named_place(self, seq: int) -> str:
        """The place of a row in a sentence, as `place` has it."""
        told = self.place(seq)
        return f"the row at {told['time']}" if "time" in told else f"row {told.get('number', seq)}"

    @property
    def tie(self) -> str:
        """What is said of two different rows of one instance and number."""
        how = None if self.mapping is None else self.mapping.preparation
        timed = how is not None and how.order == "time"
        return "two rows at one time, and `ties` does not say which is first" if timed else TWICE

    def __reduce__(self) -> tuple[Callable[[str], ReplayProgram], tuple[str]]:
        return program_of, (self.text,)


TWICE = "a sequence number twice"
OPTIONS = (
    *("anywhere", "after", "every", "pass_unknown", "resumable", "any_version", "until"),
    "remembered",
)
_known: dict[str, ReplayProgram] = {}


def program_of(text: str) -> ReplayProgram:
    """The program of a text; cached, because a worker process runs many tasks."""
    if text not in _known:
        data = json.loads(text)
        machines, older = (tuple(map(as_json.from_json, data[k])) for k in ("machines", "older"))
        mapping = None if data["mapping"] is None else mapping_of(json.loads(data["mapping"]))
        options = {name: data[name] for name in OPTIONS}
        _known[text] = ReplayProgram(machines, mapping=mapping, older=older, **options)
    return _known[text]
