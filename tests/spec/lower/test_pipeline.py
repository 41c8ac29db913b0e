"""The passes of lowering: they fit together, and the rules of each stage hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from lawful import Scope
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import replaced
from lawful.spec.flat import Erased, Flat, Timed
from lawful.spec.lower import PASSES, PROOF_PASSES, REPLAY_PASSES, Sized, lower
from lawful.spec.lower.pipeline import Pass
from lawful.spec.lower.serial_bits import Narrowed
from lawful.spec.resolve.resolver import abstract_scopes
from tests.spec import texts
from tests.spec.codec.test_every_machine import everyone
from tests.spec.lower.stages import broken, broken_in_scopes

# A machine with everything that a pass looks at.
TEXT = """\
    class Node(Sort): ...
    class Part(Machine):
        late: Timer = Timer()
        @transition()
        def start(self) -> None:
            self.late.start(2)
    class Abstract(Machine):
        waits: bool = False
        @transition()
        def ask(self) -> None:
            self.waits = True
    class M(Machine):
        clock: Clock = Clock()
        part: Part = Part()
        asked: set[Node] = set()
        last: Annotated[int, Serial(bits=16)] = 0
        queue: list[Node] = []
        limit: Param[Nat] = 3
        @transition()
        def ask(self, n: Node) -> None:
            require(n not in self.asked, "asked")
            self.asked.add(n)
            self.last += 1
        @transition()
        def answer(self, n: Node, m: Node) -> None:
            require(n in self.asked and m in self.asked, "not asked")
            self.asked.discard(n)
        @refines(Abstract)
        def abstract(self) -> Abstract:
            return Abstract.lawful.state(waits=self.asked != set())
    """
SCOPE = Scope(clock=4, Node=2, Serial=3, queue=2, limit=(1, 2))


@pytest.fixture(scope="module")
def flat() -> Flat:
    resolved = texts.resolved(TEXT)
    return lower(resolved.machine, SCOPE, abstract_scopes(resolved))


def test_each_pass_reads_what_the_one_before_gives() -> None:
    assert [each.name for each in PASSES] == [
        "steps",
        "serial bits",
        "bounds",
        "plans",
        "abstract machines",
    ]
    assert (PASSES[0].reads, PASSES[-1].gives) == (ir.Machine, Flat)
    assert all(one.gives == other.reads for one, other in pairwise(PASSES))
    assert [(each.name, each.reads, each.gives) for each in PROOF_PASSES] == [
        ("steps", ir.Machine, Timed),
        ("sizes", Timed, Sized),
    ]
    (ghosts,) = REPLAY_PASSES
    assert (ghosts.name, ghosts.reads, ghosts.gives) == ("ghosts", ir.Machine, Erased)
    assert all(each.rules for each in (*PASSES, *PROOF_PASSES, *REPLAY_PASSES))


def test_the_rules_hold_of_every_machine_in_each_of_its_scopes() -> None:
    scopes, lines = broken_in_scopes(everyone())
    assert lines == [] and scopes > 30


def without_tick(flat: Flat) -> Flat:
    rows = flat.machine.transitions[:-1]
    machine = Timed(replace(flat.machine, transitions=rows))
    return replace(flat, machine=machine, rules=flat.rules[:-1])


def still(flat: Flat) -> Flat:
    """The timer of the part does not count."""
    (part,) = flat.machine.parts
    variables = tuple(replace(v, type=t.Timer()) for v in part.variables)
    machine = Timed(replace(flat.machine, parts=(replace(part, variables=variables),)))
    return replace(flat, machine=machine)


def another_modulus(flat: Flat) -> Flat:
    """Of 8 serial numbers an operation takes 16."""

    def change(each: ir.Node) -> ir.Node | None:
        match each:
            case ir.Op(op="serial_add", args=(*sides, ir.Const(value=8) as last)):
                return replace(each, args=(*sides, replace(last, value=16)))
            case _:
                return None

    made = replaced(flat.machine, change)
    assert isinstance(made, ir.Machine)
    return replace(flat, machine=Timed(made))


def planned(flat: Flat, rule: str, **changes: Any) -> Flat:
    """With another plan of the rule's last parameter."""
    rules = {r.name: r for r in flat.rules}
    *before, last = rules[rule].plans
    rules[rule] = replace(rules[rule], plans=(*before, replace(last, **changes)))
    return replace(flat, rules=tuple(rules.values()))


def after(flat: Flat) -> ir.Expr:
    """A test that reads a parameter which comes later."""
    (plan,) = (p for r in flat.rules if r.name == "answer" for p in r.plans[:1])
    assert plan.over is not None
    return ir.Op(plan.over.place, t.BOOL, "in", (ir.Local(plan.over.place, t.INT, "m"), plan.over))


def haunted(machine: ir.Machine) -> ir.Machine:
    """Its variables are ghosts, which steps still assign."""
    variables = (replace(v, ghost=True, type=t.NOTHING) for v in machine.variables)
    return replace(machine, variables=tuple(variables))


ENDLESS = (("M", "last", t.INT), ("M", "queue", t.Seq(t.BOOL, True)))
OFFENDERS: dict[str, Callable[[Flat], Flat]] = {
    "time_passes_in_one_step": without_tick,
    "timers_count_where_time_passes": still,
    "serial_numbers_have_one_modulus": another_modulus,
    "bits_only_get_fewer": lambda f: replace(f, serials=((3, 32),)),
    "every_variable_has_a_bounded_type": lambda f: replace(f, fields=(*f.fields[:-1], ENDLESS[0])),
    "every_sort_has_a_size": lambda f: replace(f, sizes=()),
    "every_parameter_has_values": lambda f: replace(f, parameters=(("other", (1,)),)),
    "every_rule_has_a_plan_for_each_parameter": lambda f: planned(f, "ask", name="other"),
    "plans_read_what_is_known": lambda f: planned(f, "ask", guards=(after(f),)),
    "plans_are_tests_and_collections": lambda f: planned(
        f, "answer", over=ir.Local(f.machine.place, t.INT, "n")
    ),
    "every_abstract_machine_is_lowered": lambda f: replace(f, abstracts=()),
    "nothing_assigns_a_ghost": lambda f: replace(f, machine=Timed(haunted(f.machine))),
    "opaque_types_have_no_size": lambda f: replace(
        f, machine=Timed(replace(f.machine, types=(t.Opaque("Node"),)))
    ),
}
RULES = [
    (each, rule) for each in (*PASSES, PROOF_PASSES[-1], *REPLAY_PASSES) for rule in each.rules
]


def stage(each: Pass, flat: Flat) -> Any:
    """What the pass gives, of a machine that may be wrong."""
    stages = {
        Timed: flat.machine,
        Narrowed: Narrowed(flat.machine, flat.serials),
        Flat: flat,
        Erased: flat.machine,  # It has no ghosts.
        Sized: Sized(flat.machine, dict(flat.sizes)),
    }
    return stages[each.gives]


def test_what_a_pass_establishes_later_ones_leave_true(flat: Flat) -> None:
    assert broken(flat) == []
    over = {rule.name: [plan.over is not None for plan in rule.plans] for rule in flat.rules}
    assert over == {"ask": [False], "answer": [True, True], "tick": []}
    assert (flat.serials, [a.machine.name for a in flat.abstracts]) == (((16, 3),), ["Abstract"])


@pytest.mark.parametrize(("each", "rule"), RULES, ids=[rule.__name__ for _, rule in RULES])
def test_a_machine_that_breaks_a_rule_is_found(each: Pass, rule: Any, flat: Flat) -> None:
    assert list(rule(stage(each, flat))) == []
    assert list(rule(stage(each, OFFENDERS[rule.__name__](flat)))) != []
