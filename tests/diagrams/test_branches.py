"""A transition with several targets: the condition on each of its branches."""

from __future__ import annotations

from lawful import Machine, Nat, State, require, transition
from lawful.diagrams import mermaid
from lawful.diagrams.chart import chart
from lawful.spec.resolve import resolve


class P(State):
    A = "a"
    B = "b"
    C = "c"


class Branches(Machine):
    state: P = P.A

    @transition(source=P.A, target=[P.B, P.C])
    def go(self, k: Nat) -> None:
        require(k > 0)
        if k > 2:
            self.state = P.B
        else:
            self.state = P.C

    @transition(source=P.A, target=[P.A, P.B, P.C])
    def elif_(self, k: Nat) -> None:
        if k == 1:
            self.state = P.B
        elif k == 2:
            self.state = P.C
        else:
            self.state = P.A

    @transition(source=P.B, target=[P.A, P.C])
    def last(self, k: Nat) -> None:
        self.state = P.A
        if k > 1:
            self.state = P.C

    @transition(source=P.B, target=[P.A, P.C])
    def tern(self, k: Nat) -> None:
        self.state = P.A if k > 1 and k < 4 else P.C

    @transition(source=P.C, target=[P.A, P.B])
    def early(self, k: Nat) -> None:
        self.to(k)

    def to(self, k: Nat) -> None:
        if k == 0:
            self.state = P.A
            return
        self.state = P.B

    @transition(source=P.C, target=[P.A, P.B])
    def loop(self, ks: tuple[Nat, ...]) -> None:
        self.state = P.A
        for k in ks:
            if k > 1:
                self.state = P.B

    @transition(source=P.C, target=[P.A, P.B])
    def given(self, to: P) -> None:
        require(to != P.C)
        self.state = to

    @transition(source=P.A, target=[P.B, P.C])
    def either(self, k: Nat) -> None:
        if k == 1:
            self.state = P.B
        elif k == 2:
            self.state = P.C
        else:
            self.state = P.B

    @transition(source=P.C, target=[P.A, P.B])
    def replaced(self, k: Nat, to: P) -> None:
        require(to != P.C)
        self.state = P.A if k > 1 else P.B
        if k > 2:
            self.state = to

    @transition(source=P.C, target=[P.A, P.B])
    def never(self, k: Nat) -> None:
        if k > 1:
            self.state = P.A
        self.state = P.B


def test_each_edge_has_the_condition_on_which_the_body_goes_there() -> None:
    shown = chart(resolve(Branches).machine)
    (region,) = shown.regions
    edges = [(e.source, e.target, e.label.name, e.label.guards) for e in region.edges]
    assert edges == [
        ("A", "B", "go", ("k > 0", "k > 2")),
        ("A", "C", "go", ("k > 0", "k <= 2")),
        ("A", "B", "elif_", ("k == 1",)),
        ("A", "C", "elif_", ("k != 1 and k == 2",)),
        # What is assigned last counts.
        ("B", "A", "last", ("k <= 1",)),
        ("B", "C", "last", ("k > 1",)),
        ("B", "A", "tern", ("k > 1 and k < 4",)),
        ("B", "C", "tern", ("not (k > 1 and k < 4)",)),
        ("C", "A", "early", ("k == 0",)),
        ("C", "B", "early", ("k != 0",)),
        # Not known: the state is assigned in a loop, or is a value.
        ("C", "A", "loop", ()),
        ("C", "B", "loop", ()),
        ("C", "A", "given", ("to != P.C",)),
        ("C", "B", "given", ("to != P.C",)),
        # On two ways.
        ("A", "B", "either", ("(k == 1 or k != 1 and k != 2)",)),
        ("A", "C", "either", ("k != 1 and k == 2",)),
        # A value replaces what was assigned; what is always replaced has no condition.
        ("C", "A", "replaced", ("to != P.C",)),
        ("C", "B", "replaced", ("to != P.C",)),
        ("C", "A", "never", ()),
        ("C", "B", "never", ()),
    ]
    (stay,) = region.stays
    assert (stay.state, stay.labels[0].guards) == ("A", ("k != 1 and k != 2",))
    assert "early(k) [k == 0]" in mermaid.chart_text(shown)
