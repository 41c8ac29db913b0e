"""Message scheduler: one round of the document's offers, while their lock is held (R-B5).

Source as in `declaration.py`. When channels open or senders arrive, waiting senders are offered the
open channels, one after the other [seed:151-154,212-224]. An `onOffer` that closes no channel may
schedule another sender, which joins the queue [seed:197-199], and is offered the same channels in
the same round: it never ends, and its lock is never released. `Scheduler` has no rounds: each offer
is a call of its own, without the lock.

Abstractions. Senders and channels are counted. `parity` has no meaning: it makes every offer a
change of state, as each goes to another sender.
"""

from lawful import (
    Expect,
    Fairness,
    Machine,
    Nat,
    Scope,
    Weak,
    eventually,
    initial,
    require,
    terminal,
    transition,
)


class RoundAsSeed(Machine):
    """Some senders, one after the other, and the channels that are left for them."""

    unseen: Nat = 0
    open: Nat = 0
    over: bool = False
    parity: bool = False

    @initial
    def begin(self, senders: Nat, channels: Nat) -> None:
        require(senders > 0 and channels > 0, "an offer that is empty is never made")
        self.unseen = senders
        self.open = channels

    @transition()
    def offer(self, closes: bool, schedules: bool) -> None:
        """`onOffer` of the next sender closes a channel or none, and may schedule another
        sender."""
        require(not self.over and self.unseen > 0, "nobody is left")
        require(self.open > 0, "an offer that is empty is never made")
        self.parity = not self.parity
        self.unseen -= 1
        if closes:
            self.open -= 1
        if schedules:
            self.unseen += 1

    @transition()
    def end(self) -> None:
        """No sender or no channel is left: the lock is released."""
        require(not self.over, "it is over")
        require(self.unseen == 0 or self.open == 0, "somebody has not seen what is open")
        self.over = True

    @terminal
    def ended(self) -> bool:
        return self.over

    @eventually
    def ends(self) -> bool:
        """The lock is not held for ever (R38)."""
        return self.over

    fairness = Fairness(Weak("offer", "end", each=()))
    scope = Scope(Nat=range(0, 3))
    expects = Expect(ends=("violated", 2))
