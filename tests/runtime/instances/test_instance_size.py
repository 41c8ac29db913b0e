"""What an instance is made of: its variables, and next to nothing besides."""

from __future__ import annotations

import copy
import gc
import pickle
import struct
import subprocess
import sys
import weakref

import pytest

from lawful import (
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Refused,
    State,
    can,
    invariant,
    require,
    transition,
)
from lawful.runtime.kernel.event_record import Stepped


class Phase(State):
    IDLE = "idle"
    BUSY = "busy"


class Job(Machine):
    state: Phase = Phase.IDLE
    done: Nat = 0
    most: Param[int] = 3

    @transition(source=Phase.IDLE, target=Phase.BUSY)
    def start(self) -> None: ...

    @transition(source=Phase.BUSY)
    def work(self) -> None:
        require(self.done < self.most, "all is done")
        self.done += 1


class Weighed(Job):
    """Its ancestor's fields have their places already, one of them with another beginning."""

    done: Nat = 1
    weight: Nat = 7

    @invariant
    def light(self) -> bool:
        return self.done < 3


class Named(Machine):
    """Names that are also words of ours."""

    declared: Nat = 1
    resolved: Nat = 2
    originals: Nat = 3
    plan: Nat = 4
    watch: Nat = 5
    around: Nat = 6
    given: Nat = 7

    @transition()
    def swap(self, cls: Nat, name: Nat) -> Nat:
        self.declared, self.resolved = self.resolved, self.declared
        self.watch = cls
        self.plan = name
        return self.around


class ByHand:
    __slots__ = ("__weakref__", "done", "most", "state")


def test_an_instance_has_two_words_more_than_one_by_hand() -> None:
    word = struct.calcsize("P")
    assert sys.getsizeof(Job()) == sys.getsizeof(ByHand()) + 2 * word
    assert not hasattr(Job(), "__dict__")
    assert sys.getsizeof(Weighed()) == sys.getsizeof(Job()) + word
    job = Job()
    assert weakref.ref(job)() is job


def test_a_variable_may_have_any_name() -> None:
    named = Named()
    assert named.swap(8, 9) == 6
    fields = {name: getattr(named, name) for name in Named.lawful.plan.variables}
    assert fields == {
        "declared": 2,
        "resolved": 1,
        "originals": 3,
        "plan": 9,
        "watch": 8,
        "around": 6,
        "given": 7,
    }
    for other in (copy.copy(named), copy.deepcopy(named), pickle.loads(pickle.dumps(named))):
        assert other == named
    assert Named.lawful.restore(named.lawful.snapshot()) == named


def test_what_begins_with_anything_of_its_own_is_made_the_longer_way() -> None:
    assert (Job().most, Job(most=1).most, Job().most) == (3, 1, 3)
    assert (Weighed().done, Weighed(most=2).weight, Job().done) == (1, 7, 0)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"Job\(\) got an unexpected keyword argument 'least'"):
            Job(least=1)
        with pytest.raises(TypeError, match="most"):
            Job(most="3")


def test_instances_of_a_plain_class_are_asserted_from_then_on() -> None:
    first = Weighed()
    Weighed.lawful.enforce("all")
    try:
        second, third = Weighed(), Weighed()
    finally:
        Weighed.lawful.enforce("off")
    for each in (first, second, third, Weighed()):
        each.start()
        each.work()
    first.work()
    for each in (second, third):
        with pytest.raises(PropertyViolated):
            each.work()
        assert each.done == 2


class Lamp(Machine):
    on: bool = False

    @transition()
    def switch(self) -> None:
        require(not self.on, "it is on")
        self.on = True


class Desk(Machine):
    lamp: Lamp = Lamp()
    used: Nat = 0

    @transition()
    def use(self) -> None:
        require(can(self.lamp.switch), "it is too bright")
        self.used += 1


def test_what_a_part_could_do_is_not_what_the_whole_did() -> None:
    desk, heard = Desk(), list[Stepped]()
    desk.lawful.observe(heard.append)
    desk.use()
    assert [(each.event, each.transition, each.outcome) for each in heard] == [
        ("use", "use", "done")
    ]


def test_nothing_of_one_instance_is_told_of_another() -> None:
    jobs, heard = [Job() for _ in range(3)], list[tuple[int, str | None, str]]()

    def hear(done: Stepped) -> None:
        number = next(i for i, job in enumerate(jobs) if job is done.instance)
        heard.append((number, done.transition, done.outcome))

    for job in jobs:
        job.lawful.observe(hear)
    jobs[0].start()
    with pytest.raises(Refused):
        jobs[1].work()
    jobs[2].start()
    jobs[0].work()
    assert heard == [
        (0, "start", "done"),
        (1, None, "refused"),
        (2, "start", "done"),
        (0, "work", "done"),
    ]


def test_a_refusal_that_nobody_reads_has_no_dictionary() -> None:
    def held(error: Refused) -> list[type]:
        return [each for each in map(type, gc.get_referents(error)) if issubclass(each, dict)]

    with pytest.raises(Refused) as caught:
        Job().work()
    assert held(caught.value) == []
    assert caught.value.event == "work"
    assert held(caught.value) == [dict]


IMPORTED = """
import sys
import lawful
print("lawful.spec.syntax.tree" in sys.modules, "annotated_types" in sys.modules)
import lawful.machines.unicast.declaration as unicast
print("lawful.spec.syntax.tree" in sys.modules, "lawful.runtime.compile.compiler" in sys.modules)
unicast.SenderEntryFixed()
print("lawful.runtime.compile.compiler" in sys.modules)
"""


def test_the_parser_and_the_compiler_are_imported_when_they_are_needed() -> None:
    said = subprocess.run(
        [sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["False", "False", "True", "False", "True"]


def test_a_subclass_is_made_as_it_declares_whatever_its_ancestor_was_before() -> None:
    class Later(Job):
        steps: Param[Nat] = 5

    assert (Job().most, Job(most=2).most) == (3, 2)
    assert (Later().steps, Later(steps=6).steps, Later(steps=7, most=1).most) == (5, 6, 1)
    Later.lawful.enforce("all")
    assert (Later(steps=8).steps, Job(most=4).most) == (8, 4)
    Later.lawful.enforce("off")
    assert [Later(steps=9).steps for _ in range(3)] == [9, 9, 9]
