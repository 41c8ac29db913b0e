"""Where the state goes that a body assigns, and a header does not say."""

from __future__ import annotations

import pytest

from lawful import Machine, Nat, Scope, State, invariant, refuse, transition
from lawful.checks.explore import explore
from lawful.spec import ir
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.text import statements
from tests.spec import texts


class Job(State):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"

    def again(self) -> Job:
        return Job.WAITING if self is Job.DEAD else self


class Jobs(Machine):
    """Each transition of the first part goes on with a state that its body names."""

    state: Job = Job.WAITING
    tries: Nat = 0

    def _give_up(self, late: bool) -> None:
        if late:
            self.state = Job.DEAD
            return
        self.state, self.tries = Job.WAITING, 0

    @transition(source=Job.WAITING)
    def start(self) -> None:
        self.tries = min(self.tries + 1, 2)
        self.state = Job.RUNNING

    @transition(source=Job.RUNNING)
    def fail(self, again: bool) -> bool:
        if self.tries > 1 and not again:
            refuse("not yet")
        self.state = Job.WAITING if again else Job.DEAD
        return again

    @transition(source=[Job.RUNNING, Job.DEAD])
    def finish(self) -> bool:
        if self.tries > 1:
            return False
        for n in range(2):
            if n == self.tries:
                self.state = Job.DONE
                break
        return True

    @transition(source=Job.RUNNING)
    def stop(self, late: bool) -> None:
        self._give_up(late)

    @transition(source=Job.DEAD)
    def repeat(self) -> None:
        self.state = self.state.again()

    @transition
    def reset(self) -> None:
        self.state = Job.WAITING

    @transition(source=Job.DONE)
    def look(self) -> None:
        self.tries = 0

    scope = Scope(Nat=range(0, 3))


class Stubborn(Jobs):
    """Its ancestor's transition may leave the state where the ancestor's body does."""

    @transition(source=Job.RUNNING)
    def fail(self, again: bool) -> bool:
        if super().fail(again):
            self.state = Job.RUNNING
        return again


class Written(Jobs):
    """The same with targets written out."""

    @transition(source=Job.WAITING, target=Job.RUNNING)
    def start(self) -> None:
        self.tries = min(self.tries + 1, 2)

    @transition(source=Job.RUNNING, target=(Job.WAITING, Job.DEAD))
    def fail(self, again: bool) -> bool:
        if self.tries > 1 and not again:
            refuse("not yet")
        self.state = Job.WAITING if again else Job.DEAD
        return again

    @transition(target=Job.WAITING)
    def reset(self) -> None: ...


class Plain(Machine):
    """No header speaks of the state, so it is a variable as any other."""

    state: Job = Job.WAITING

    @transition
    def go(self) -> None:
        self.state = Job.DONE

    @invariant
    def known(self) -> bool:
        return self.state in (Job.WAITING, Job.DONE)


def targets(cls: type[Machine]) -> dict[str, tuple[str, ...] | None]:
    machine = resolve(cls).machine
    rows: tuple[ir.Transition, ...] = (*machine.transitions, *machine.bases)
    return {row.name: row.target for row in rows}


def test_the_targets_are_what_the_body_assigns_and_the_sources_where_it_may_not() -> None:
    assert targets(Jobs) == {
        "start": ("RUNNING",),
        "fail": ("WAITING", "DEAD"),
        "finish": ("RUNNING", "DONE", "DEAD"),
        "stop": ("WAITING", "DEAD"),
        "repeat": ("WAITING", "RUNNING", "DONE", "DEAD"),
        "reset": ("WAITING",),
        "look": None,
    }
    assert targets(Stubborn)["fail"] == ("WAITING", "RUNNING", "DONE", "DEAD")
    assert targets(Stubborn)["Jobs.fail"] == ("WAITING", "DEAD")
    assert targets(Plain) == {"go": None}


@pytest.mark.parametrize("engine", ["reference", "generated"])
def test_the_machine_is_that_with_targets_written_out(engine: str) -> None:
    counts = list[tuple[int, int, int]]()
    for cls in (Jobs, Written):
        found = resolve(cls)
        flat = lower(found.machine, found.scopes["scope"])
        result = explore(flat, found.world, {}, engine="reference" if engine[0] == "r" else "auto")
        counts.append((result.distinct, result.generated, result.depth))
        assert all(p.verdict.value != "violated" for p in result.properties if p.name == "bounds")
    assert counts[0] == counts[1]


def test_an_instance_goes_where_its_body_goes() -> None:
    jobs = Jobs()
    jobs.start()
    assert jobs.finish() and jobs.lawful.at(Job.DONE)
    jobs.reset()
    jobs.start()
    jobs.stop(late=True)
    jobs.repeat()
    assert jobs.lawful.at(Job.WAITING)


def test_the_text_of_the_machine_has_no_target_beside_an_assignment() -> None:
    """It can be declared again, and means the same."""
    text = statements.machine(resolve(Jobs).machine)
    again = texts.machine(f"from enum import auto\n{text.replace('= ...', '= auto()')}")
    assert "\n    @transition(source=Job.WAITING)\n    def start" in text
    assert targets(again) == targets(Jobs)
