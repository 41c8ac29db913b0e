"""Messages on their way between parts: who sent them, who took them, what is in flight."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Sort,
    require,
    transition,
)
from lawful.checks.explorer.message_flights import Flight, Message, Moves, flights
from lawful.checks.explorer.walked_path import Path, WalkedPath
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve


class Letter(Record):
    number: Nat


class Writer(Machine):
    number: Nat = 0

    @transition()
    def write(self) -> Letter:
        self.number += 1
        return Letter(self.number)

    @transition()
    def look(self) -> None:
        """Changes nothing."""


class Reader(Machine):
    last: Nat = 0

    @transition()
    def read(self, letter: Letter) -> None:
        self.last = letter.number


class Post(Machine):
    """Letters in a bag; what is read may be answered in order."""

    writer: Writer = Writer()
    reader: Reader = Reader()
    bag: Counter[Letter] = Counter()
    answers: list[Nat] = [0]
    history: Ghost[list[Letter]] = []
    count: Param[int] = 1

    @transition()
    def send(self) -> None:
        letter = self.writer.write()
        self.bag[letter] += 1
        self.history.append(letter)

    @transition()
    def copy(self, letter: Letter) -> None:
        require(letter in self.bag)
        self.bag[letter] += 1

    @transition()
    def deliver(self, letter: Letter) -> None:
        require(letter in self.bag)
        self.bag[letter] -= 1
        self.reader.read(letter)
        self.answers.append(letter.number)

    @transition()
    def lose(self, letter: Letter) -> None:
        require(letter in self.bag)
        self.bag[letter] -= 1

    @transition()
    def hear(self) -> None:
        require(len(self.answers) > 0)
        self.answers.pop(0)
        self.writer.look()

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3), bag=3, answers=3, history=2)


class House(Sort):
    pass


class Street(Machine):
    """A family of readers, each with letters of its own."""

    readers: dict[House, Reader] = {}
    boxes: dict[House, list[Letter]] = {}
    flags: dict[House, bool] = {}

    @transition()
    def build(self, h: House) -> None:
        require(h not in self.readers)
        self.readers[h] = Reader()
        self.boxes[h] = []

    @transition()
    def post(self, h: House, to: Nat) -> None:
        require(h in self.readers)
        for other in self.boxes:
            self.boxes[other].append(Letter(to))

    @transition()
    def read(self, h: House) -> None:
        require(h in self.readers and len(self.boxes[h]) > 0)
        self.readers[h].read(self.boxes[h].pop(0))

    deadlock_ok = True
    scope = Scope(House=2, Nat=range(0, 2), boxes=2)


def walked(cls: type[Machine]) -> WalkedPath:
    resolved = resolve(cls)
    return WalkedPath(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)


def along(walk: WalkedPath, *calls: str) -> Path:
    """The path of these calls, as they are written."""
    path: Path = (0,)
    for call in calls:
        name, _, inside = call.partition(" ")
        given = dict(word.split("=") for word in inside.split())
        rows: Any = walk.events(path)
        (index,) = (
            row["index"]
            for row in rows
            if row["transition"] == name
            and all(
                str(row["args"][k]) in (v, f"{{'$': 'Letter', 'number': {v}}}")
                for k, v in given.items()
            )
        )
        path = (*path, index)
    return path


def letter(number: int) -> dict[str, Any]:
    return {"$": "Letter", "number": number}


def test_messages_go_from_the_part_that_is_called_to_the_part_that_is_called() -> None:
    walk = walked(Post)
    path = along(walk, "send", "copy letter=1", "deliver letter=1", "lose letter=1", "hear", "send")
    view: Any = walk.view(path)
    assert view["flights"] == {
        "first": 1,
        "lanes": ["writer", "reader"],
        "rows": [
            {"step": 1, "lanes": ["writer"]},
            {"step": 2, "lanes": []},
            {"step": 3, "lanes": ["reader"]},
            {"step": 4, "lanes": []},
            # It calls the writer, which does not change.
            {"step": 5, "lanes": ["writer"]},
            {"step": 6, "lanes": ["writer"]},
        ],
        "messages": [
            {"channel": "answers", "item": 0, "sent": 0, "from": None, "ended": 5, "to": "writer"},
            {
                "channel": "bag",
                "item": letter(1),
                "sent": 1,
                "from": "writer",
                "ended": 3,
                "to": "reader",
            },
            {
                "channel": "bag",
                "item": letter(1),
                "sent": 2,
                "from": None,
                "ended": 4,
                "to": None,
            },
            {
                "channel": "answers",
                "item": 1,
                "sent": 3,
                "from": "reader",
                "ended": None,
                "to": None,
            },
            {
                "channel": "bag",
                "item": letter(2),
                "sent": 6,
                "from": "writer",
                "ended": None,
                "to": None,
            },
        ],
    }


def test_members_of_a_family_have_lanes_and_their_own_channels() -> None:
    walk = walked(Street)
    path = along(walk, "build h=House1", "build h=House2", "post h=House2 to=1", "read h=House1")
    view: Any = walk.view(path)
    assert view["flights"]["lanes"] == ["readers[House1]", "readers[House2]"]
    assert [row["lanes"] for row in view["flights"]["rows"]] == [
        ["readers[House1]"],
        ["readers[House2]"],
        # It calls nobody; its argument names the member.
        ["readers[House2]"],
        ["readers[House1]"],
    ]
    ends = [(m["channel"], m["from"], m["ended"], m["to"]) for m in view["flights"]["messages"]]
    assert ends == [
        ("boxes[House1]", "readers[House2]", 4, "readers[House1]"),
        ("boxes[House2]", "readers[House2]", None, None),
    ]


def test_of_equal_messages_the_first_sent_is_taken_first() -> None:
    one = Message("c", "1")
    both = Moves(("a",), (one,), ())
    assert flights((), [both, both, Moves(("b",), (), (one,))]) == [
        Flight(one, 1, "a", 3, "b"),
        Flight(one, 2, "a"),
    ]


def test_the_one_whose_channel_it_is_takes_the_message() -> None:
    one = Message("box[2]", "1")
    assert flights([one], [Moves(("n[1]", "n[2]"), (), (one,))]) == [
        Flight(one, 0, None, 1, "n[2]")
    ]


def test_a_long_path_shows_its_last_steps_and_what_is_older_and_in_flight() -> None:
    walk = walked(Post)
    path = along(walk, "send", "hear", *["copy letter=1", "lose letter=1"] * 17)
    view: Any = walk.view(path)
    found = view["flights"]
    assert (found["first"], [row["step"] for row in found["rows"]]) == (7, [*range(7, 37)])
    # The first copy is lost before the second, so the last one is in flight since step 35.
    assert [(m["sent"], m["ended"]) for m in found["messages"]][-1] == (35, None)
    assert min(m["ended"] or 36 for m in found["messages"]) >= 7


class Alone(Machine):
    todo: list[Nat] = []

    @transition()
    def add(self) -> None:
        self.todo.append(1)

    deadlock_ok = True
    scope = Scope(Nat=range(0, 2), todo=1)


class Desk(Machine):
    writer: Writer = Writer()
    todo: list[Nat] = []

    @transition()
    def add(self) -> None:
        self.todo.append(1)

    deadlock_ok = True
    scope = Scope(Nat=range(0, 2), todo=1)


@pytest.mark.parametrize("cls", [Alone, Desk], ids=lambda cls: cls.__name__)
def test_a_machine_without_several_parts_has_no_picture(cls: type[Machine]) -> None:
    assert walked(cls).view((0, 0))["flights"] is None
