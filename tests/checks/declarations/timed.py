"""Machines with clocks and timers, small enough to count their states by hand."""

from lawful import (
    Clock,
    Expect,
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    State,
    Timer,
    implies,
    invariant,
    reachable,
    require,
    step_property,
    total,
    transition,
)


class Way(State):
    """Of a letter."""

    IDLE = "idle"
    FLYING = "flying"
    DONE = "done"


class Patient(Machine):
    """A letter is sent at any time, and delivered two seconds later or after that."""

    clock: Clock = Clock(tick=1)
    flight: Timer = Timer()
    state: Way = Way.IDLE
    at: Nat = 0
    seconds: Param[float] = 2.0

    @transition(source=Way.IDLE, target=Way.FLYING)
    def send(self) -> None:
        self.flight.start(self.seconds)
        self.at = self.clock.now

    @transition(source=Way.FLYING, target=Way.DONE, timer="flight")
    def deliver(self) -> Nat:
        return self.clock.now - self.at

    @invariant
    def in_time(self) -> bool:
        return implies(self.state == Way.FLYING, self.clock.now <= self.at + 2)

    @invariant
    def not_early(self) -> bool:
        return implies(self.state == Way.DONE, self.clock.now >= self.at + 2)

    @invariant
    def sent_before(self) -> bool:
        return self.at <= self.clock.now

    @step_property
    def time_goes_on(self, after: "Patient") -> bool:
        return after.clock.now in (self.clock.now, self.clock.now + 1)

    scope = Scope(clock=range(0, 5), at=range(0, 5))
    expects = Expect(in_time=("violated", 4))


class Prompt(Patient):
    """The same, where no time passes while the letter is due."""

    flight: Timer = Timer(urgent=True)

    scope = Scope(clock=4, at=range(0, 5))
    expects = Expect(in_time="holds-within-scope")


class Stuck(Machine):
    """An urgent timer that nothing handles: time stands still for ever."""

    clock: Clock = Clock()
    bell: Timer = Timer(urgent=True)
    silent: bool = False

    @transition()
    def wind(self) -> None:
        require(not self.bell.armed)
        self.bell.start(0.5)

    @transition(timer="bell")
    def ring(self) -> None:
        require(self.silent)

    scope = Scope(clock=range(0, 3))
    expects = Expect(deadlock=("violated", 3))


class Proc(Sort):
    """A process."""


class Label(State):
    """Where a process of Fischer's algorithm is."""

    IDLE = "idle"
    REQUEST = "request"
    WAIT = "wait"
    CRITICAL = "critical"


class Fischer(Machine):
    """Fischer's mutual exclusion by time alone.

    Who finds the lock free writes its own name into it within `write` seconds, then waits `wait`
    seconds, and enters if its name still stands there. It is right where `wait` > `write`: whoever
    found the lock free as well has written by then. Source: L. Lamport, A fast mutual exclusion
    algorithm, ACM TOCS 5(1), 1987, section 2, which gives it as M. Fischer's.
    """

    clock: Clock = Clock(tick=1)
    pc: dict[Proc, Label] = total(Label.IDLE)
    lock: Proc | None = None
    writing: dict[Proc, Timer] = total(Timer(urgent=True))
    waiting: dict[Proc, Timer] = total(Timer())
    write: Param[float] = 1.0
    wait: Param[float] = 2.0

    @transition(source=Label.IDLE, target=Label.REQUEST, of="pc[p]")
    def find_free(self, p: Proc) -> None:
        require(self.lock is None)
        self.writing[p].start(self.write)

    @transition(source=Label.REQUEST, target=Label.WAIT, of="pc[p]")
    def put_name(self, p: Proc) -> None:
        self.lock = p
        self.writing[p].stop()
        self.waiting[p].start(self.wait)

    @transition(source=Label.WAIT, target=Label.CRITICAL, of="pc[p]", timer="waiting[p]")
    def enter(self, p: Proc) -> None:
        require(self.lock == p)

    @transition(source=Label.WAIT, target=Label.IDLE, of="pc[p]", timer="waiting[p]")
    def give_up(self, p: Proc) -> None:
        require(self.lock != p)

    @transition(source=Label.CRITICAL, target=Label.IDLE, of="pc[p]")
    def leave(self, p: Proc) -> None:
        self.lock = None

    @invariant
    def mutual_exclusion(self) -> bool:
        return all(
            p == q or self.pc[p] != Label.CRITICAL or self.pc[q] != Label.CRITICAL
            for p in Proc
            for q in Proc
        )

    @reachable
    def one_is_in(self, p: Proc) -> bool:
        return self.pc[p] == Label.CRITICAL

    scope = Scope(clock=range(0, 7), Proc=2)
    hasty = Scope(wait=(1.0,), expects=Expect(mutual_exclusion=("violated", 8)))


class Light(Machine):
    """Goes out by itself; it knows the time of its room."""

    clock: Clock = Clock(tick=0.5)
    out: Timer = Timer(urgent=True)
    since: Nat = 0

    @transition()
    def on(self) -> None:
        require(not self.out.armed, "it is on")
        self.out.start(1)
        self.since = self.clock.now

    @transition(timer="out")
    def off(self) -> Nat:
        return self.clock.now - self.since

    @invariant
    def not_long(self) -> bool:
        return implies(self.out.armed, self.clock.now <= self.since + 2)


class Rooms(Machine):
    """Two lights, one of which a person uses who stays for at least a second."""

    clock: Clock = Clock(tick=0.5)
    left: Light = Light()
    stay: Timer = Timer()
    entered: Nat = 0
    last: Nat = 0

    @transition()
    def enter(self) -> None:
        require(not self.stay.armed)
        self.left.on()
        self.stay.start(1.25)
        self.entered = self.clock.now

    @transition(timer="left.out")
    def dark(self) -> Nat:
        return self.clock.now

    @transition()
    def look(self) -> Nat:
        require(self.clock.now > self.last, "has just looked")
        self.last = self.clock.now
        return self.last

    @transition(timer="stay")
    def leave(self) -> Nat:
        return self.clock.now - self.entered

    @invariant
    def same_time(self) -> bool:
        return self.left.clock.now == self.clock.now

    scope = Scope(clock=range(0, 8), Nat=range(0, 9))


class Floor(Sort):
    """Of a house."""


class House(Machine):
    """A light for each floor, made when somebody comes and gone when it is dark."""

    clock: Clock = Clock(tick=0.5)
    lights: dict[Floor, Light] = {}

    @transition()
    def build(self, f: Floor) -> None:
        require(f not in self.lights)
        self.lights[f] = Light()
        self.lights[f].on()
        assert self.lights[f].since == self.clock.now

    @transition(timer="lights[f].out")
    def dark(self, f: Floor) -> None:
        del self.lights[f]

    @invariant
    def same_time(self) -> bool:
        return all(self.lights[f].clock.now == self.clock.now for f in self.lights)

    scope = Scope(clock=range(0, 5), Floor=2, Nat=range(0, 6))
