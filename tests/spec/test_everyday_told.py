"""What a refusal says of everyday Python: the rewrite for that thing, once for each cause."""

from __future__ import annotations

import pytest

from tests.spec import texts

TEXT = """
from datetime import timedelta
from itertools import combinations


class Way(Enum):
    UP = "up"
    DOWN = "down"


class S(Record):
    parts: tuple[Nat, ...] = ()


class M(Machine):
    n: Nat = 0
    q: Annotated[list[Nat], MaxLen(3)] = []
    s: set[Nat] = set()
    last: S | None = None
    cool_down: Timer = Timer()

    @transition
    def go(self, way: Way, span: timedelta) -> {output}:
        {body}

    scope = Scope(Nat=range(0, 3), timedelta=1)
"""
# The output, the body, and of each problem its number and how its rewrite begins.
TOLD = [
    ("None", "self.cool_down.cancel()", [("L205", "write self.cool_down.stop()")]),
    ("None", "t = self.cool_down\n        t.reset()", [("L205", "write t.start(seconds)")]),
    (
        "None",
        "self.cool_down.start(span.total_seconds())",
        [("L205", "keep its seconds, as a Param[float]")],
    ),
    (
        "int",
        "try:\n            k = self.q.index(3)\n        except ValueError:\n            return 0\n"
        "        return k",
        [("L102", "ask before")],
    ),
    ("Nat", "return self.s.pop()", [("L205", "which one it takes is not determined: take a")]),
    ("S", "return self.last.replace(parts=())", [("L207", "test it with `is None`, or write n")]),
    (
        "bool",
        "return [x for x in self.q] == tuple(self.q)",
        [("L203", "write tuple(...) of the list: an argument")],
    ),
    (
        "bool",
        "return any(p[0] > 1 for p in combinations(self.q, 2))",
        [("L204", "in a comprehension: (... for x, y in combinations(q, 2))")],
    ),
    ("tuple[bool, list[Nat]]", "refuse('no')", [("L202", "use tuple[bool, tuple[Nat, ...]]")]),
    ("dict[str, int]", "refuse('no')", [("L202", "for keys that you write out a Record")]),
    (
        "S",
        "return max({S(), S((self.n,))}, key=lambda x: len(x.parts))",
        [("L210", "take the keys of a map, which have an order, max(m, key=")],
    ),
    ("None", "self.missing = 1", [("L205", "declare it in the class, missing: int = 0")]),
    ("None", "n += 1", [("L201", "write self.n")]),
    ("None", "[self.q.append(x) for x in (1, 2)]", [("L102", "write a loop: for x in s: ...")]),
    ("None", "xs = [1, Way.UP]", [("L203", "Python would merge True with 1")]),
    ("list[Nat] | None", "return None", [("L202", "make it immutable: tuple[Nat, ...] | None")]),
    ("set[Nat] | None", "return None", [("L202", "make it immutable: frozenset[Nat] | None")]),
    ("str", "return f'{self.n}' or 'none'", [("L203", "nothing depends on a text")]),
    (
        "Nat",
        "found = {w.value: 0 for w in Way}\n        found[way.value] += 1\n"
        "        found[way.name] = 1\n        return len(found)",
        [("L203", "text is opaque")],
    ),
]


@pytest.mark.parametrize(("output", "body", "told"), TOLD)
def test_each_cause_is_told_once_with_its_rewrite(
    output: str, body: str, told: list[tuple[str, str]]
) -> None:
    found = texts.problems(TEXT.format(output=output, body=body))
    assert [problem.number for problem in found] == [number for number, _ in told]
    for problem, (_, rewrite) in zip(found, told, strict=True):
        assert problem.rewrite.startswith(rewrite)


def test_the_bound_of_a_record_s_field_does_not_bound_a_variable_of_its_name() -> None:
    text = """
class S(Record):
    parts: tuple[Nat, ...] = ()

class M(Machine):
    n: Nat = 0
    parts: dict[Nat, bool] = {{}}

    @transition
    def go(self, s: S) -> None:
        self.n = len(s.parts)

    scope = Scope({scope}, Nat=range(0, 3))
"""
    (problem,) = texts.problems(text.format(scope="{}"))
    assert (problem.number, problem.rewrite) == ("L301", 'Scope({"S.parts": 3})')
    assert texts.problems(text.format(scope='{"S.parts": 3}')) == ()


def test_a_property_that_gives_a_machine_is_refused_where_it_is_declared() -> None:
    text = """
    class Lamp(Machine):
        on: bool = False

    class M(Machine):
        left: Lamp = Lamp()
        right: Lamp = Lamp()

        @property
        def first(self) -> Lamp:
            return self.left

        @transition
        def go(self) -> bool:
            return self.first.on
    """
    (told,) = texts.problems(text)
    assert (told.number, told.found) == ("L202", "-> Lamp, a machine")
    assert told.rewrite.startswith("give its key, or a value in it")


def test_a_timer_that_is_declared_with_seconds_is_started_elsewhere() -> None:
    (told,) = texts.problems("class M(Machine):\n    t: Timer = Timer(30)\n")
    assert (told.number, told.rewrite[:37]) == ("L204", "it begins stopped: start it in a tran")


def test_a_variable_with_each_element_of_a_sort_begins_as_total() -> None:
    text = """
    class K(Sort): ...

    class M(Machine):
        at: dict[K, Nat] = {k: 0 for k in K}
    """
    with pytest.raises(TypeError, match=r"K has elements only .* each of them begins as total"):
        texts.machine(text)


def test_a_parameter_of_text_is_told_where_it_is_declared_alone() -> None:
    text = """
    class M(Machine):
        @transition
        def go(self, why: str | None = None) -> str:
            return why or "none"
    """
    (told,) = texts.problems(text)
    assert (told.number, told.found) == ("L202", "why: str | None")


def test_the_timer_of_one_member_of_a_family_is_named_by_its_key() -> None:
    text = """
    class K(Sort): ...

    class M(Machine):
        due: dict[K, Timer] = total(Timer())

        @transition(timer="due")
        def go(self, k: K) -> None: ...
    """
    (told,) = texts.problems(text)
    assert (told.number, told.rewrite) == ("L212", 'write timer="due[k]"')


@pytest.mark.parametrize(
    "field",
    [
        "k: dict[str, Nat] = {}",
        "k: dict[str, str] = {}",
        "k: set[str] = set()",
        "k: Counter[str] = Counter()",
        "k: dict[Nat, dict[str, Nat]] = {}",
        "k: Param[frozenset[str]] = frozenset()",
    ],
)
def test_keys_that_are_text_are_refused_once(field: str) -> None:
    text = f"""
    from collections import Counter


    class M(Machine):
        n: Nat = 0
        {field}

        @transition
        def go(self) -> None:
            self.n += 1
    """
    (problem,) = texts.problems(text)
    assert (problem.number, problem.expected) == ("L202", "elements and keys without text")


def test_an_argument_whose_keys_are_text_is_refused_once() -> None:
    text = """
    class M(Machine):
        n: Nat = 0

        @transition
        def go(self, names: frozenset[str]) -> None:
            self.n += len(names)
    """
    (problem,) = texts.problems(text)
    assert problem.expected == "elements and keys without text"
