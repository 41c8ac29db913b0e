"""Message scheduler: one round of offers, while its lock is held.

Source as in `declaration.py`. When channels open or senders come, those that wait are offered what
is open, first come first served [seed:151-154]; M, how many channels one of them may close, is 1 as
long as several wait, and else all [seed:212-224] (R18, R24, R25). A sender that closed some and
wants more, or any other `onOffer`, schedules another sender [seed:197-199,226-232] (R22, R26).

`RoundAsSeed` offers to these in the same round, which then need not end (R-B5);
`RoundLastTakesAll` is `RoundFixed` with the size that an implementation gave the last in the queue
(R-B8). Abstractions, confessed: senders and channels are numbers of them, and of who has been
offered something and stays no more is known than whether there are any. `parity` has no meaning: it
makes every offer a change, as it is when each is made to another sender.
"""

from lawful import (
    Expect,
    Fairness,
    Ghost,
    Machine,
    Nat,
    Scope,
    Weak,
    eventually,
    initial,
    invariant,
    reachable,
    require,
    step_property,
    terminal,
    transition,
)


class Round(Machine, abstract=True):
    """Some senders, one after the other, and the channels that are left for them."""

    unseen: Nat = 0
    stays: bool = False
    newcomers: Nat = 0
    open: Nat = 0
    closed: Nat = 0
    over: bool = False
    parity: bool = False
    largest: Ghost[Nat] = 0
    waits: Ghost[bool] = False

    @initial
    def begin(self, senders: Nat, channels: Nat) -> None:
        require(senders > 0 and channels > 0, "an offer that is empty is never made")
        self.unseen = senders
        self.open = channels

    def several(self) -> bool:
        return self.unseen > 1 or self.stays

    def size(self) -> Nat:
        """M [seed:223-224] (R25)."""
        return 1 if self.several() else self.open

    @transition()
    def offer(self, closes: Nat, schedules: bool) -> None:
        """`onOffer` of the next one (R16, R18, R22)."""
        require(not self.over and self.unseen > 0, "nobody is left")
        require(self.open > 0, "an offer that is empty is never made (R35)")
        require(closes <= self.size(), "the offer is exhausted")
        self.parity = not self.parity
        self.unseen -= 1
        self.stays = self.stays or closes == 0
        self.waits = self.waits or closes == 0
        self.open -= closes
        self.closed += closes
        self.largest = max(self.largest, closes)
        if schedules:
            self.welcome()

    def welcome(self) -> None:
        """A sender scheduled by this callback."""
        self.newcomers += 1

    @transition()
    def end(self) -> None:
        """Nobody or nothing is left: the lock is released."""
        require(not self.over, "it is over")
        require(self.unseen == 0 or self.open == 0, "somebody has not seen what is open")
        require(not self.goes_on(), "somebody new has not seen what is open")
        self.over = True

    def goes_on(self) -> bool:
        """Whether those who came meanwhile are offered something in this round."""
        return False

    @terminal
    def ended(self) -> bool:
        return self.over

    @step_property
    def one_each_while_several_wait(self, after: "Round") -> bool:
        """Nobody hogs the channels, neither before others nor after some that took none (R24,
        R25)."""
        return not (self.unseen > 1 or self.waits) or self.open - after.open <= 1

    @step_property
    def nobody_is_lost(self, after: "Round") -> bool:
        """One after the other is offered something; nobody else is gone (R16)."""
        return after.unseen + after.newcomers >= self.unseen + self.newcomers - 1 and (
            after.parity != self.parity
            or after.unseen + after.newcomers == self.unseen + self.newcomers
        )

    @step_property
    def nobody_is_passed_over(self, after: "Round") -> bool:
        """While channels are left, all in the queue are offered them (R16, S13)."""
        return self.over or not after.over or self.unseen == 0 or self.open == 0

    @invariant
    def size_is_what_is_open(self) -> bool:
        """At most (R18)."""
        return self.size() <= self.open or self.open == 0

    @invariant
    def who_waits_is_known(self) -> bool:
        return self.stays == self.waits

    @eventually
    def ends(self) -> bool:
        """The lock is not held for ever (R38)."""
        return self.over

    @reachable
    def two_share(self) -> bool:
        return self.closed == 2 and self.largest == 1

    @reachable
    def one_takes_all(self) -> bool:
        return self.over and self.largest == 2

    @reachable
    def nobody_wants_any(self) -> bool:
        return self.over and self.open > 0

    fairness = Fairness(Weak("offer", "end", each=()))
    scope = Scope(Nat=range(0, 4))


class RoundFixed(Round):
    """Who came meanwhile has its turn in a further pass, if the last one closed a channel, of which
    there are not many; or else in another round, with the lock released in between."""

    @transition()
    def pass_on(self) -> None:
        """A further pass."""
        require(not self.over, "it is over")
        require(self.unseen == 0, "somebody has not seen what is open")
        require(self.goes_on(), "nobody new, or nothing to offer")
        self.unseen = self.newcomers
        self.newcomers = 0
        self.closed = 0

    def goes_on(self) -> bool:
        return self.newcomers > 0 and self.open > 0 and self.closed > 0

    @step_property
    def newcomers_have_their_turn(self, after: "Round") -> bool:
        """As long as somebody takes what is offered (R26)."""
        some = self.newcomers > 0 and self.open > 0 and self.closed > 0
        return self.over or not after.over or not some

    @reachable
    def continues(self) -> bool:
        """A sender that wants more gets what the others have left (R22, R26)."""
        return self.unseen == 0 and self.goes_on()

    fairness = Fairness(Weak("offer", "end", "pass_on", each=()))


class RoundAsSeed(Round):
    """Who came meanwhile is in the queue, and has not seen what is open (R-B5)."""

    def welcome(self) -> None:
        self.unseen += 1

    expects = Expect(ends=("violated", 3))


class RoundLastTakesAll(RoundFixed):
    """The last in the queue gets all that is left, although others wait (R-B8)."""

    def size(self) -> Nat:
        return 1 if self.unseen > 1 else self.open

    expects = Expect(one_each_while_several_wait=("violated", 2))
