"""Machines whose liveness is decided by hand: each trap of checking it has one."""

from __future__ import annotations

from lawful import (
    Expect,
    Fairness,
    Machine,
    Nat,
    Scope,
    Sort,
    State,
    Strong,
    Weak,
    eventually,
    eventually_always,
    infinitely_often,
    leads_to,
    require,
    total,
    transition,
)


class Light(State):
    """A traffic light."""

    RED = "red"
    GREEN = "green"
    DARK = "dark"


class Unfair(Machine):
    """Nothing obliges it to go on: it stops where it is."""

    state: Light = Light.RED

    @transition(source=Light.RED, target=Light.GREEN)
    def go(self) -> None: ...

    @transition(source=Light.GREEN, target=Light.RED)
    def stop(self) -> None: ...

    @infinitely_often
    def green(self) -> bool:
        return self.state == Light.GREEN

    @eventually
    def once(self) -> bool:
        return self.state == Light.GREEN

    expects = Expect(green=("violated", 0), once=("violated", 0))


class Fair(Unfair):
    """Weak fairness of both is enough."""

    fairness = Fairness(Weak("go"), Weak("stop"))

    @eventually_always
    def settled(self) -> bool:
        return self.state == Light.GREEN

    @leads_to
    def red_then_green(self) -> tuple[bool, bool]:
        return self.state == Light.RED, self.state == Light.GREEN

    expects = Expect(green="holds", once="holds", settled=("violated", 2))


class HalfFair(Unfair):
    """It may stay green for ever; the decorator's way to say it."""

    @transition(source=Light.RED, target=Light.GREEN, fair="weak")
    def go(self) -> None: ...

    @infinitely_often
    def red(self) -> bool:
        return self.state == Light.RED

    expects = Expect(green="holds", once="holds", red=("violated", 1))


class Idles(Machine):
    """A fair step that changes nothing takes no group: it is no way out of doing the other."""

    state: Light = Light.RED

    @transition(source=Light.RED)
    def wait(self) -> None: ...

    @transition(source=Light.RED, target=Light.GREEN)
    def go(self) -> None: ...

    @eventually
    def green(self) -> bool:
        return self.state == Light.GREEN

    fairness = Fairness(Weak("wait", "go"))
    deadlock_ok = True


class IdlesForEver(Idles):
    """Fairness of the step that changes nothing asks for nothing."""

    fairness = Fairness(Weak("wait"))

    expects = Expect(green=("violated", 0))


class Lock(Sort):
    """Who waits."""


class Semaphore(Machine):
    """A mutex: under weak fairness somebody may wait for ever, under strong nobody does."""

    waits: dict[Lock, bool] = total(True)
    inside: Lock | None = None

    @transition()
    def enter(self, p: Lock) -> None:
        require(self.inside is None and self.waits[p], "somebody is inside")
        self.inside = p
        self.waits[p] = False

    @transition()
    def leave(self, p: Lock) -> None:
        require(self.inside == p, "not inside")
        self.inside = None
        self.waits[p] = True

    @leads_to
    def gets_in(self, p: Lock) -> tuple[bool, bool]:
        return self.waits[p], self.inside == p

    fairness = Fairness(Weak("enter"), Weak("leave"))
    scope = Scope(Lock=2)
    expects = Expect(gets_in=("violated", 2))


class StrongSemaphore(Semaphore):
    """As before."""

    fairness = Fairness(Strong("enter"), Weak("leave"))

    expects = Expect(gets_in="holds")


class TogetherSemaphore(Semaphore):
    """Strong fairness of all entering together does not tell who enters."""

    fairness = Fairness(Strong("enter", each=()), Weak("leave"))


class Diamond(Machine):
    """Two ways meet: a state seen again on another way is no cycle. The last step ends it."""

    at: Nat = 0

    @transition()
    def left(self) -> None:
        require(self.at == 0, "gone")
        self.at = 1

    @transition()
    def right(self) -> None:
        require(self.at == 0, "gone")
        self.at = 2

    @transition()
    def meet(self) -> None:
        require(self.at in (1, 2), "not there")
        self.at = 3

    @transition()
    def arrive(self) -> None:
        require(self.at == 3, "not there")
        self.at = 4

    @eventually
    def arrived(self) -> bool:
        return self.at == 4

    fairness = Fairness(Weak("left", "right"), Weak("meet"), Weak("arrive"))
    scope = Scope(Nat=range(0, 5))
    deadlock_ok = True


class Edges(Machine):
    """Two ways from red to green; only one is taken by the group, and it need not be taken where
    the group is disabled again and again: fairness is of steps, not of the states between."""

    state: Light = Light.RED

    @transition(source=Light.RED, target=Light.GREEN)
    def plain(self) -> None: ...

    @transition(source=Light.RED, target=Light.GREEN)
    def marked(self) -> None:
        self.seen = True

    @transition(source=Light.GREEN, target=Light.RED)
    def back(self) -> None:
        self.seen = False

    seen: bool = False

    @infinitely_often
    def is_seen(self) -> bool:
        return self.seen

    fairness = Fairness(Weak("plain"), Weak("marked"), Weak("back"))
    expects = Expect(is_seen=("violated", 2))


class StrongEdges(Edges):
    """Strong fairness obliges to the marked step although another joins the same states."""

    fairness = Fairness(Weak("plain"), Strong("marked"), Weak("back"))
    expects = Expect(is_seen="holds")


class Prefix(Machine):
    """`eventually` once met is met, whatever comes: only what has not met it is followed."""

    state: Light = Light.RED

    @transition(source=Light.RED, target=Light.GREEN)
    def go(self) -> None: ...

    @transition(source=Light.GREEN, target=Light.DARK)
    def fail(self) -> None: ...

    @eventually
    def green(self) -> bool:
        return self.state == Light.GREEN

    @eventually_always
    def dark(self) -> bool:
        return self.state == Light.DARK

    fairness = Fairness(Weak("go"), Weak("fail"))
    deadlock_ok = True


class Beyond(Machine):
    """It counts for ever; the scope cuts it. The step that leaves is enabled, so stopping at the
    border is not fair, and no lasso goes beyond it."""

    count: Nat = 0

    @transition()
    def more(self) -> None:
        self.count += 1

    @transition()
    def less(self) -> None:
        require(self.count > 0, "at zero")
        self.count -= 1

    @eventually
    def three(self) -> bool:
        return self.count == 3

    @infinitely_often
    def zero(self) -> bool:
        return self.count == 0

    fairness = Fairness(Weak("more"))
    scope = Scope(Nat=range(0, 3))
    expects = Expect(three=("violated", 2), zero=("violated", 3))


class Bursts(Machine):
    """Undefined in one reachable state, which says more than that it holds elsewhere."""

    left: dict[int, int] = {1: 1}

    @transition(fair="weak")
    def lose(self) -> None:
        require(1 in self.left, "gone")
        del self.left[1]

    @eventually
    def gone(self) -> bool:
        return self.left[1] == 0

    scope = Scope({"left": range(1, 2)})
    deadlock_ok = True
    expects = Expect(gone=("undefined", 1))


class Worker(Machine):
    """A part: alone, nothing obliges it."""

    state: Light = Light.RED

    @transition(source=Light.RED, target=Light.GREEN)
    def go(self) -> None: ...

    @transition(source=Light.GREEN, target=Light.RED)
    def stop(self) -> None: ...

    @infinitely_often
    def green(self) -> bool:
        return self.state == Light.GREEN

    @leads_to
    def comes_back(self) -> tuple[bool, bool]:
        return self.state == Light.GREEN, self.state == Light.RED

    fairness = Fairness(Weak("stop"))
    expects = Expect(green=("violated", 0))


class Crew(Machine):
    """What its parts promise is asked of both, under its own fairness and not under theirs."""

    one: Worker = Worker()
    two: Worker = Worker()

    @transition()
    def go_one(self) -> None:
        self.one.go()

    @transition()
    def stop_one(self) -> None:
        self.one.stop()

    @transition()
    def go_two(self) -> None:
        self.two.go()

    @transition()
    def stop_two(self) -> None:
        self.two.stop()

    fairness = Fairness(Weak("go_one"), Weak("stop_one"), Weak("go_two"))
    expects = Expect(**{"two.comes_back": ("violated", 3)})


class Staff(Machine):
    """A family that is always whole: one of its members is never told to go."""

    workers: dict[Lock, Worker] = total(Worker())
    busy: Lock | None = None

    @transition()
    def go(self, p: Lock) -> None:
        require(self.busy is None, "somebody works")
        self.workers[p].go()
        self.busy = p

    @transition()
    def stop(self, p: Lock) -> None:
        self.workers[p].stop()
        self.busy = None

    scope = Scope(Lock=2)
    fairness = Fairness(Weak("go", each=()), Weak("stop"))
    expects = Expect(**{"workers.green": ("violated", 2)})


class Passers(Machine):
    """Members come and go: nobody knows of whom anything is asked for ever."""

    workers: dict[Lock, Worker] = {}

    @transition()
    def come(self, p: Lock) -> None:
        require(p not in self.workers, "is there")
        self.workers[p] = Worker()

    @transition()
    def leave(self, p: Lock) -> None:
        require(p in self.workers, "is not there")
        del self.workers[p]

    scope = Scope(Lock=1)
    expects = Expect(**{"workers.green": "unknown", "workers.comes_back": "unknown"})
