"""Older and newer versions that differ in clocks, names, beginnings and what can be judged."""

from __future__ import annotations

from lawful import Clock, Machine, Nat, Param, Timer, invariant, transition


class Old:
    class Watch(Machine):
        clock: Clock = Clock(tick=0.5)
        since: Nat = 0
        deadlock_ok = True

        @transition()
        def look(self) -> None:
            self.since = self.clock.now

        @invariant
        def past(self) -> bool:
            return self.since <= self.clock.now

    class Alarm(Machine):
        clock: Clock = Clock(tick=0.5)
        bell: Timer = Timer()
        deadlock_ok = True

    class Pair(Machine):
        a: Nat = 0
        b: Nat = 3
        deadlock_ok = True

        @transition()
        def count(self) -> None:
            self.a += 1

    class Fine(Machine):
        a: Nat = 0
        clock: Clock = Clock(tick=0.1)
        deadlock_ok = True

        @transition()
        def note(self) -> None:
            self.a = self.clock.now

    class Rest(Machine):
        a: Nat = 0
        clock: Clock = Clock(tick=1.0)
        deadlock_ok = True

        @transition()
        def note(self) -> None:
            self.a = self.clock.now

        @invariant
        def past(self) -> bool:
            return self.a <= self.clock.now


class New:
    class Watch(Machine):
        clock: Clock = Clock(tick=1.0)
        since: Nat = 0
        deadlock_ok = True

        @invariant
        def past(self) -> bool:
            return self.since <= self.clock.now

        @invariant
        def half(self) -> bool:
            return self.since <= 2 * self.clock.now + 1

    class Alarm(Machine):
        clock: Clock = Clock(tick=1.0)
        bell: Timer = Timer()
        deadlock_ok = True

    class Pair(Machine):
        a: Nat = 0
        b: Nat = 3
        deadlock_ok = True

        @invariant
        def few(self) -> bool:
            return self.b < 5

    class Rest(Machine):
        a: Nat = 0
        time: Clock = Clock(tick=1.0)
        deadlock_ok = True

        @invariant
        def past(self) -> bool:
            return self.a <= self.time.now


class Asking:
    class Pair(Machine):
        a: Nat = 0
        c: Nat = 0
        deadlock_ok = True

        @invariant
        def every(self, n: Nat) -> bool:
            return self.a + n >= 0

        @invariant
        def low(self) -> bool:
            return self.a >= 0


class Wanting:
    class Pair(Machine):
        a: Nat = 0
        most: Param[Nat]
        deadlock_ok = True
