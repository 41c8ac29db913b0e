"""Machines whose names TLA+ or a module of ours takes for something else, or bind twice."""

from __future__ import annotations

from typing import Annotated

from annotated_types import MaxLen

from lawful import (
    Expect,
    Fairness,
    Machine,
    Nat,
    OrderedSort,
    Param,
    Record,
    Scope,
    Sort,
    State,
    Strong,
    Weak,
    can,
    constraint,
    infinitely_often,
    initial,
    invariant,
    require,
    step_property,
    total,
    transition,
)


class Edge(Sort):
    """As an operator that modules define for themselves."""


class i(OrderedSort):
    """As a name that is bound in the ranks of a sort."""


class VIEW(Sort):
    """As a section of a configuration."""


class Kind(State):
    """As a keyword, a section of a configuration and an operator."""

    IF = "if"
    INIT = "init"
    Next = "next"


class Word(Record):
    """A field is a keyword."""

    size: Nat
    IN: bool = False


class Inner(Machine):
    """Its properties have parameters that are named as the keys of the families are."""

    state: Kind = Kind.IF
    key_1: Nat = 0

    @transition(source=Kind.IF, target=Kind.INIT)
    def go(self) -> None: ...

    @transition(source=Kind.INIT, target=Kind.Next)
    def more(self) -> None: ...

    @invariant
    def at(self, key_1: Edge, self_1: bool) -> bool:
        return self.key_1 < 2 or self_1 or key_1 in {key_1}

    @infinitely_often
    def ends(self, key_1: Edge) -> bool:
        return self.state == Kind.Next or key_1 not in {key_1}


class Sequences(Machine):
    """Named as a module of TLA+, and its variables as what is bound around them."""

    size: Nat = 0
    outs: Nat = 0
    vars: set[Edge] = set()
    now: dict[Edge, Nat] = {}
    Init: Nat = 0
    s: VIEW | None = None
    n: i | None = None
    left: dict[Edge, Inner] = total(Inner())
    lim: Param[int] = 1

    @initial
    def start(self, lim: Nat, size: bool) -> None:
        require(lim < 2 and size)
        self.size = lim

    @transition()
    def put(self, p: Edge, outs: Edge, each_p: Nat) -> None:
        require(p in self.now)
        require(each_p == self.now[p])
        require(outs in self.vars)
        self.vars.discard(outs)

    @transition()
    def add(self, p: Edge, each_p: Edge) -> None:
        require(p not in self.now and each_p not in self.vars)
        self.now[p] = 1
        self.vars.add(each_p)

    @transition()
    def take(
        self,
        words: Annotated[tuple[Annotated[tuple[Nat, ...], MaxLen(1)], ...], MaxLen(1)],
        size: tuple[Nat],
    ) -> None:
        require(len(words) == 1 and size[0] == 0 and self.size == 0)
        require(words[0][:1] == (1,))
        self.size = 1

    @transition()
    def rank(self, a: i, b: i) -> None:
        require(a < b)
        self.n = b

    @transition()
    def go(self, p: Edge) -> None:
        if can(self.left[p].go):
            self.left[p].go()
        else:
            self.left[p].more()

    @transition()
    def see(self, w: Word, v: VIEW) -> None:
        require(w.IN and w.size == 1)
        self.s = v

    @constraint
    def small(self, r: VIEW) -> bool:
        return self.size < 2 or self.s == r

    @invariant
    def INVARIANT(self, now: VIEW) -> bool:
        return self.size < 2 or self.s != now

    @step_property
    def PROPERTY(self, after: Sequences, self_1: bool) -> bool:
        return after.size >= self.size or self_1

    deadlock_ok = True
    fairness = Fairness(Weak("put", each=("p",)), Strong("add", each=("p",)), Weak("go"))
    scope = Scope(Nat=range(0, 2), int=range(0, 2), Edge=1, i=2, VIEW=1)


class Narrow(Machine):
    """Undefined where nothing is, although the second parameter is then never in the set."""

    found: dict[Edge, Nat] = {}
    wanted: set[Edge] = set()

    @transition()
    def take(self, p: Edge, q: Edge) -> None:
        require(self.found[p] == 0)
        require(q in self.wanted)
        self.wanted.discard(q)

    scope = Scope(Nat=range(0, 2), Edge=1)
    deadlock_ok = True
    expects = Expect(undefined=("undefined", 1))
