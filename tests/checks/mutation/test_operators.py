"""Every mutation operator, at every place of a small machine."""

from __future__ import annotations

from lawful.checks.explore import explore
from lawful.checks.mutation.mutants import identities, mutants
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.spec import texts

EVERY = """
class Node(Sort): ...

class Note(Record):
    n: Nat
    of: Node
    by: Node
    to: Node | None

class Door(State):
    OPEN = 1
    SHUT = 2

class Box(Machine):
    held: Nat = 0

    @transition()
    def put(self, n: Nat) -> None:
        self.held = n

    @transition()
    def take(self, n: Nat) -> None:
        self.held = self.held - n

class Every(Machine):
    state: Door = Door.OPEN
    queue: list[Nat] = []
    late: set[Node] = set()
    box: Box = Box()
    idle: Timer = Timer()
    rest: Timer = Timer()
    pause: Param[Nat] = 3
    most: Param[Nat] = 9
    deadlock_ok = True

    def small(self, n: Nat) -> bool:
        return n < self.most

    def unused(self) -> bool:
        return self.most > 1

    @transition(source=Door.OPEN, target=Door.SHUT)
    def come(self, a: Node, b: Node, n: Nat) -> Note:
        require(self.small(n) and a != b, "no")
        self.queue.append(n)
        self.late.add(a)
        self.idle.start(self.pause)
        return Note(n=n, of=a, by=b, to=None)

    @transition()
    def go(self, a: Node) -> tuple[Nat, ...]:
        n = self.queue.pop(0)
        self.late.discard(a)
        self.box.put(n)
        if n > 1:
            self.rest.stop()
        return (n, self.queue[0])

    @invariant
    def asked(self) -> bool:
        return self.unused()
"""


def test_every_change_is_made_once_at_every_place() -> None:
    every = list(mutants(resolve(texts.last_machine(texts.module(EVERY))).machine))
    assert [(each.change.operator, each.owner, each.what) for each in every] == EXPECTED
    assert len({*identities(every)}) == len(every)
    made = [each.made() for each in every]
    assert all(one != every[0].whole for one in made)


def test_a_mutant_is_shown_as_a_change_of_its_line() -> None:
    every = list(mutants(resolve(texts.last_machine(texts.module(EVERY))).machine))
    shown = {each.change.what: each.diff() for each in every}
    assert shown["self.box.take(n) for self.box.put(n)"] == (
        "- self.box.put(n)",
        "+ self.box.take(n) for self.box.put(n)",
    )
    assert shown["self.queue[-1] for self.queue[0]"] == (
        "- return (n, self.queue[0])",
        "+ return (n, self.queue[-1])",
    )


def test_what_only_properties_read_and_texts_of_reasons_are_left_alone() -> None:
    every = list(mutants(resolve(texts.last_machine(texts.module(EVERY))).machine))
    assert "unused" not in {each.row for each in every}
    assert not [each for each in every if '"' in each.change.what]


EXPECTED = [
    ("widen source", "Every", "come: from any state"),
    ("change target", "Every", "come: without its target"),
    ("change target", "Every", "come: to OPEN for SHUT"),
    ("drop guard", "Every", "come: without require(self.small(n) and a != b)"),
    ("negate guard", "Every", "come: not (self.small(n) and a != b) for self.small(n) and a != b"),
    ("drop conjunct", "Every", "come: a != b for self.small(n) and a != b"),
    ("negate conjunct", "Every", "come: not self.small(n) and a != b for self.small(n) and a != b"),
    ("drop conjunct", "Every", "come: self.small(n) for self.small(n) and a != b"),
    ("negate conjunct", "Every", "come: self.small(n) and not a != b for self.small(n) and a != b"),
    ("relational operator", "Every", "come: a == b for a != b"),
    ("wrong element", "Every", "come: b for a"),
    ("wrong element", "Every", "come: a for b"),
    ("drop update", "Every", "come: without self.queue.append(n)"),
    ("order of a queue", "Every", "come: self.queue.insert(0, n) for self.queue.append(n)"),
    ("drop update", "Every", "come: without self.late.add(a)"),
    ("set for one element", "Every", "come: self.late = {a} for self.late.add(a)"),
    ("wrong element", "Every", "come: b for a"),
    ("drop update", "Every", "come: without self.idle.start(self.pause)"),
    ("wrong timer", "Every", "come: self.rest.start(self.pause) for self.idle.start(self.pause)"),
    ("wrong duration", "Every", "come: self.pause + 1 for self.pause"),
    ("wrong duration", "Every", "come: self.most for self.pause"),
    (
        "swap arguments",
        "Every",
        "come: Note(n=n, of=b, by=a, to=None) for Note(n=n, of=a, by=b, to=None)",
    ),
    ("change argument", "Every", "come: n + 1 for n"),
    ("wrong element", "Every", "come: b for a"),
    ("wrong element", "Every", "come: a for b"),
    ("order of a queue", "Every", "go: n = self.queue.pop(-1) for n = self.queue.pop(0)"),
    ("off by one", "Every", "go: 1 for 0"),
    ("drop update", "Every", "go: without self.late.discard(a)"),
    ("set for one element", "Every", "go: self.late.clear() for self.late.discard(a)"),
    ("drop call", "Every", "go: without self.box.put(n)"),
    ("change argument", "Every", "go: n + 1 for n"),
    ("wrong event", "Every", "go: self.box.take(n) for self.box.put(n)"),
    ("negate guard", "Every", "go: not n > 1 for n > 1"),
    ("fix a branch", "Every", "go: True for n > 1"),
    ("fix a branch", "Every", "go: False for n > 1"),
    ("relational operator", "Every", "go: n >= 1 for n > 1"),
    ("off by one", "Every", "go: 2 for 1"),
    ("off by one", "Every", "go: 0 for 1"),
    ("drop update", "Every", "go: without self.rest.stop()"),
    ("wrong timer", "Every", "go: self.idle.stop() for self.rest.stop()"),
    ("change output", "Every", "go: (self.queue[0],) for (n, self.queue[0])"),
    ("change output", "Every", "go: (n,) for (n, self.queue[0])"),
    ("wrong element", "Every", "go: self.queue[-1] for self.queue[0]"),
    ("off by one", "Every", "go: 1 for 0"),
    ("restart timer", "Every", "go: self.idle is started again"),
    ("change result", "Every", "small: not n < self.most for n < self.most"),
    ("relational operator", "Every", "small: n <= self.most for n < self.most"),
    ("change initial value", "Every", "initial value: state = Door.SHUT for Door.OPEN"),
    ("drop assignment", "Box", "put: without the assignment of self.held"),
    ("change assignment", "Box", "put: n + 1 for n"),
    ("drop assignment", "Box", "take: without the assignment of self.held"),
    ("change assignment", "Box", "take: self.held - n + 1 for self.held - n"),
    ("arithmetic operator", "Box", "take: self.held + n for self.held - n"),
    ("swap operands", "Box", "take: n - self.held for self.held - n"),
    ("change initial value", "Box", "initial value: held = 1 for 0"),
]


POPS = """
class Pops(Machine):
    items: list[Nat] = [1]
    deadlock_ok = True

    @transition()
    def take(self) -> Nat | None:
        require(len(self.items) > 0, "empty")
        return self.items.pop(0)

    scope = Scope(Nat=range(0, 3), items=1)
"""


def test_a_returned_pop_is_changed_and_its_pop_stays() -> None:
    found = resolve(texts.machine(POPS))
    every = {each.what: each for each in mutants(found.machine)}
    nothing = [each for what, each in every.items() if what.startswith("take: None for")]
    assert [each.change.operator for each in nothing] == ["change output"]
    for each in every.values():
        flat = lower(each.made(), found.scopes["scope"])
        assert explore(flat, found.world, {}).distinct > 0
