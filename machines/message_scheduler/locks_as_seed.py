"""Message scheduler: the two locks of the document, and the threads that take them.

Source as in `declaration.py`; `threads.py` has the repair. The document has two locks
[seed:323-341] (R37, R39). The offers are locked while senders are offered channels; a sender that
sends then locks the requests. A receiver is called while the requests are locked. If a thread takes
both, it takes the offers first. Scheduling inside a callback takes no lock [seed:343-350] (R40).

Callbacks are "never concurrent" [seed:328-335] (R38), because each runs under a lock; but a
sender's and a receiver's run under different ones. In `TwoLocksBothWays` a receiver's callback
calls a function that takes the offers, such as `disconnect` or `stop`, which is not forbidden
(R-B9). In `TwoLocksUnnoticed` a callback of `stop`, which holds both locks, schedules a sender, and
the thread-local does not know of the locks (R-B3).

Abstractions. The work under a lock is left out, and so is who calls whom: any thread may do what
some thread's code does.
"""

from lawful import (
    Expect,
    Fairness,
    Machine,
    Scope,
    Sort,
    State,
    Weak,
    invariant,
    leads_to,
    require,
    total,
    transition,
)


class Thread(Sort):
    """A thread that calls the scheduler, receives, or waits for time to pass."""


class At(State):
    """How far a thread is, with two locks."""

    OUTSIDE = "holds nothing"
    OFFERS = "holds the offers, and calls senders"
    SENDING = "holds the offers, and waits for the requests"
    BOTH = "holds both"
    REQUESTS = "holds the requests, and calls receivers"
    CALLING = "holds the requests, and waits for the offers"
    AGAIN = "holds both, and waits for the offers once more"


WITH_OFFERS = (At.OFFERS, At.SENDING, At.BOTH, At.AGAIN)
WITH_REQUESTS = (At.REQUESTS, At.CALLING, At.BOTH, At.AGAIN)


class TwoLocks(Machine):
    """Every thread takes the offers before the requests."""

    at: dict[Thread, At] = total(At.OUTSIDE)

    def offers_are_free(self) -> bool:
        return all(a not in WITH_OFFERS for a in self.at.values())

    def requests_are_free(self) -> bool:
        return all(a not in WITH_REQUESTS for a in self.at.values())

    @transition(source=At.OUTSIDE, target=At.OFFERS, of="at[t]")
    def lock_offers(self, t: Thread) -> None:
        """To schedule, connect, disconnect, stop, or after a callback (R37)."""
        require(self.offers_are_free(), "the offers are locked")

    @transition(source=At.OUTSIDE, target=At.REQUESTS, of="at[t]")
    def lock_requests(self, t: Thread) -> None:
        """A response has arrived (R37)."""
        require(self.requests_are_free(), "the requests are locked")

    @transition(source=At.OFFERS, target=At.SENDING, of="at[t]")
    def send(self, t: Thread) -> None:
        """`onOffer` sends, or `stop` fails all receivers [seed:337-341] (R39)."""

    @transition(source=At.SENDING, target=At.BOTH, of="at[t]")
    def lock_both(self, t: Thread) -> None:
        require(self.requests_are_free(), "the requests are locked")

    @transition(source=At.BOTH, target=At.OFFERS, of="at[t]")
    def unlock_requests(self, t: Thread) -> None: ...

    @transition(source=(At.OFFERS, At.REQUESTS), target=At.OUTSIDE, of="at[t]")
    def unlock(self, t: Thread) -> None: ...

    @invariant
    def locks_exclude(self) -> bool:
        """At most one thread holds each lock (R37)."""
        return all(
            t == u
            or (
                not (self.at[t] in WITH_OFFERS and self.at[u] in WITH_OFFERS)
                and not (self.at[t] in WITH_REQUESTS and self.at[u] in WITH_REQUESTS)
            )
            for t in Thread
            for u in Thread
        )

    @invariant
    def callbacks_never_overlap(self) -> bool:
        """No two threads run a callback at the same time [seed:328-330] (R38)."""
        calls = (At.OFFERS, At.REQUESTS, At.BOTH)
        return all(
            t == u or not (self.at[t] in calls and self.at[u] in calls)
            for t in Thread
            for u in Thread
        )

    @leads_to
    def all_come_out(self, t: Thread) -> tuple[bool, bool]:
        return self.at[t] != At.OUTSIDE, self.at[t] == At.OUTSIDE

    fairness = Fairness(Weak("lock_both"), Weak("unlock_requests"), Weak("unlock"))
    scope = Scope(Thread=2)
    expects = Expect(callbacks_never_overlap=("violated", 2), all_come_out=("violated", 4))


class TwoLocksBothWays(TwoLocks):
    """A receiver's callback calls a function that takes the offers (R-B9)."""

    @transition(source=At.REQUESTS, target=At.CALLING, of="at[t]")
    def call_back(self, t: Thread) -> None: ...

    @transition(source=At.CALLING, target=At.BOTH, of="at[t]")
    def lock_the_other(self, t: Thread) -> None:
        require(self.offers_are_free(), "the offers are locked")

    expects = Expect(deadlock=("violated", 4), all_come_out=("violated", 2))


class TwoLocksUnnoticed(TwoLocks):
    """Inside a callback of `stop` the thread-local does not know of the locks (R-B3)."""

    @transition(source=At.BOTH, target=At.AGAIN, of="at[t]")
    def schedule(self, t: Thread) -> None:
        """Try again after a failure, as the document suggests [seed:205]: the thread waits for
        itself."""

    expects = Expect(deadlock=("violated", 4))
