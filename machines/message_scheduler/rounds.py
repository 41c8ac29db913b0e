"""Message scheduler: one round of offers, while its lock is held.

Source as in `declaration.py`. When channels open or senders arrive, waiting senders are offered the
open channels, first come first served [seed:151-154]. M, the number of channels that one of them
may close, is 1 while several wait, and otherwise all [seed:212-224] (R18, R24, R25). A sender that
closed some and wants more, or any other `onOffer`, schedules another sender [seed:197-199,226-232]
(R22, R26).

`RoundAsSeed` makes offers to these in the same round, which then may never end (R-B5).
`RoundLastTakesAll` is `RoundFixed` with the size that an implementation gave the last sender in the
queue (R-B8).

Abstractions. Senders and channels are counted. Of the senders that were offered something and stay,
the model knows only whether there are any. `parity` has no meaning: it makes every offer a change
of state, as each goes to another sender.
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
        """`onOffer` of the next sender (R16, R18, R22)."""
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
        """This callback has scheduled a sender."""
        self.newcomers += 1

    @transition()
    def end(self) -> None:
        """No sender or no channel is left: the lock is released."""
        require(not self.over, "it is over")
        require(self.unseen == 0 or self.open == 0, "somebody has not seen what is open")
        require(not self.goes_on(), "somebody new has not seen what is open")
        self.over = True

    def goes_on(self) -> bool:
        """Whether new senders are offered something in this round."""
        return False

    @terminal
    def ended(self) -> bool:
        return self.over

    @step_property
    def one_each_while_several_wait(self, after: "Round") -> bool:
        """No sender takes all channels while another waits, before or behind it (R24, R25)."""
        return not (self.unseen > 1 or self.waits) or self.open - after.open <= 1

    @step_property
    def nobody_is_lost(self, after: "Round") -> bool:
        """Senders are offered something one after the other; none disappears (R16)."""
        return after.unseen + after.newcomers >= self.unseen + self.newcomers - 1 and (
            after.parity != self.parity
            or after.unseen + after.newcomers == self.unseen + self.newcomers
        )

    @step_property
    def nobody_is_passed_over(self, after: "Round") -> bool:
        """While channels are left, all senders in the queue are offered them (R16, S13)."""
        return self.over or not after.over or self.unseen == 0 or self.open == 0

    @invariant
    def size_is_what_is_open(self) -> bool:
        """At most the number of open channels (R18)."""
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
    """New senders get a further pass if the last pass closed a channel, and there are few channels;
    otherwise they get another round, with the lock released in between."""

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
        """While a sender takes an offered channel (R26)."""
        some = self.newcomers > 0 and self.open > 0 and self.closed > 0
        return self.over or not after.over or not some

    @reachable
    def continues(self) -> bool:
        """A sender that wants more gets channels that the others have left (R22, R26)."""
        return self.unseen == 0 and self.goes_on()

    fairness = Fairness(Weak("offer", "end", "pass_on", each=()))


class RoundAsSeed(Round):
    """New senders join the queue, and have not seen the open channels (R-B5)."""

    def welcome(self) -> None:
        self.unseen += 1

    expects = Expect(ends=("violated", 3))


class RoundLastTakesAll(RoundFixed):
    """The last in the queue gets all channels that are left, although others wait (R-B8)."""

    def size(self) -> Nat:
        return 1 if self.unseen > 1 else self.open

    expects = Expect(one_each_while_several_wait=("violated", 2))
