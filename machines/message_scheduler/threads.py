"""Message scheduler: the one lock, and the threads that call a `Scheduler`.

Source as in `declaration.py`, whose docstring has the rule that threads follow here (R17, R37,
R38): a thread holds the lock during each event. Before it goes, it asks for a callback; if there is
one, it calls it without the lock, and asks again. A callback may call anything, even `stop` (R40,
R-B3, R-B9). Who stops the scheduler, other than in a callback, waits until all is over.

Abstractions. There is one event of each kind of caller; the others hold the lock in the same way.
"""

from lawful import (
    Fairness,
    Machine,
    Scope,
    Sort,
    State,
    Strong,
    Weak,
    can,
    invariant,
    leads_to,
    reachable,
    require,
    terminal,
    total,
    transition,
)

from .declaration import ChannelId, Life, Peer, Scheduler, Token


class Thread(Sort):
    """A thread that calls the scheduler, receives, or waits for time to pass."""


class At(State):
    """How far a thread is."""

    OUTSIDE = "holds nothing"
    LOCKED = "holds the lock"
    ASKING = "holds the lock, and asks for a callback"
    CALLING = "calls somebody, without the lock"
    INSIDE = "what it calls holds the lock"
    AWAITING = "has stopped the scheduler, and waits until all is over"


class Threads(Machine):
    """One lock; callbacks outside it, one at a time, in their order."""

    scheduler: Scheduler = Scheduler(least=1, greatest=1)
    at: dict[Thread, At] = total(At.OUTSIDE)
    stopping: set[Thread] = set()
    ended: bool = False  # A `stop` has returned.

    def is_free(self) -> bool:
        return all(a not in (At.LOCKED, At.ASKING, At.INSIDE) for a in self.at.values())

    @transition(source=At.OUTSIDE, target=At.LOCKED, of="at[t]")
    def lock(self, t: Thread) -> None:
        require(not self.scheduler.over(), "there is nothing to do")
        require(self.is_free(), "it is locked")

    @transition(source=At.LOCKED, target=At.ASKING, of="at[t]")
    def connect(self, t: Thread, peer: Peer) -> None:
        self.scheduler.connect(peer, 1)

    @transition(source=At.LOCKED, target=At.ASKING, of="at[t]")
    def disconnect(self, t: Thread, peer: Peer) -> None:
        self.scheduler.disconnect(peer)

    @transition(source=At.LOCKED, target=At.ASKING, of="at[t]")
    def schedule(self, t: Thread, token: Token) -> None:
        self.scheduler.schedule(token, 0)

    @transition(source=At.LOCKED, target=At.ASKING, of="at[t]")
    def expire(self, t: Thread, channel: ChannelId) -> None:
        self.scheduler.expire(channel)

    @transition(source=At.LOCKED, target=At.ASKING, of="at[t]")
    def stop(self, t: Thread) -> None:
        self.scheduler.stop()
        self.stopping.add(t)

    # Callbacks.

    @transition(source=At.ASKING, target=At.CALLING, of="at[t]")
    def call(self, t: Thread) -> None:
        callback = self.scheduler.call()
        require(callback is not None, "nobody is to be called")

    @transition(source=At.CALLING, target=At.INSIDE, of="at[t]")
    def lock_inside(self, t: Thread) -> None:
        require(self.is_free(), "it is locked")

    @transition(source=At.INSIDE, target=At.CALLING, of="at[t]")
    def send_inside(self, t: Thread, channel: ChannelId) -> None:
        self.scheduler.send_notification(channel, 1)

    @transition(source=At.INSIDE, target=At.CALLING, of="at[t]")
    def withdraw_inside(self, t: Thread, token: Token) -> None:
        self.scheduler.withdraw_sender(token)

    @transition(source=At.INSIDE, target=At.CALLING, of="at[t]")
    def stop_inside(self, t: Thread) -> None:
        self.scheduler.stop()

    @transition(source=At.CALLING, target=At.ASKING, of="at[t]")
    def returned(self, t: Thread) -> None:
        require(self.is_free(), "it is locked")
        self.scheduler.returned()

    # The end.

    def nobody_to_call(self) -> None:
        """Another thread calls, or nobody is to be called."""
        if can(self.scheduler.call):
            callback = self.scheduler.call()
            require(callback is None, "somebody is to be called")

    @transition(source=At.ASKING, target=At.OUTSIDE, of="at[t]")
    def unlock(self, t: Thread) -> None:
        self.nobody_to_call()
        require(t not in self.stopping, "waits until all is over")

    @transition(source=At.ASKING, target=At.AWAITING, of="at[t]")
    def unlock_to_wait(self, t: Thread) -> None:
        self.nobody_to_call()
        require(t in self.stopping, "has not stopped the scheduler")

    @transition(source=At.AWAITING, target=At.OUTSIDE, of="at[t]")
    def stop_returns(self, t: Thread) -> None:
        require(self.is_free() and self.scheduler.over(), "somebody is still to be called")
        self.stopping.remove(t)
        self.ended = True

    @terminal
    def over(self) -> bool:
        return all(a == At.OUTSIDE for a in self.at.values()) and self.scheduler.over()

    @invariant
    def lock_excludes(self) -> bool:
        """(R37)"""
        locks = (At.LOCKED, At.ASKING, At.INSIDE)
        return all(
            t == u or not (self.at[t] in locks and self.at[u] in locks)
            for t in Thread
            for u in Thread
        )

    @invariant
    def callbacks_never_overlap(self) -> bool:
        """(R38)"""
        calls = (At.CALLING, At.INSIDE)
        return all(
            t == u or not (self.at[t] in calls and self.at[u] in calls)
            for t in Thread
            for u in Thread
        )

    @invariant
    def somebody_calls(self) -> bool:
        """Exactly while the scheduler says that a callback runs."""
        calls = any(a in (At.CALLING, At.INSIDE) for a in self.at.values())
        return self.scheduler.calling == calls

    @invariant
    def nothing_is_called_after_stop_returned(self) -> bool:
        """Nor is anybody still being called, or about to be (R31, R32)."""
        calls = any(a in (At.CALLING, At.INSIDE) for a in self.at.values())
        waits = len(self.scheduler.results) + len(self.scheduler.queue) > 0
        return not (self.ended and (calls or waits))

    @invariant
    def nobody_is_forgotten(self) -> bool:
        """Somebody who is to be called has a thread that calls, or is about to ask (R10, R17)."""
        idle = all(a in (At.OUTSIDE, At.AWAITING) for a in self.at.values())
        seen = all(self.scheduler.open() <= self.scheduler.seen[t] for t in self.scheduler.queue)
        running = self.scheduler.state == Life.RUNNING
        return not idle or (len(self.scheduler.results) == 0 and (seen or not running))

    @reachable
    def called_while_another_locks(self) -> bool:
        return any(a == At.CALLING for a in self.at.values()) and not self.is_free()

    @leads_to
    def locks_are_released(self, t: Thread) -> tuple[bool, bool]:
        """No thread waits for a lock for ever, nor for itself."""
        holds = self.at[t] in (At.LOCKED, At.ASKING, At.INSIDE)
        return holds, not holds

    @leads_to
    def callers_ask_again(self, t: Thread) -> tuple[bool, bool]:
        return self.at[t] == At.CALLING, self.at[t] == At.ASKING

    @leads_to
    def who_stops_need_not_wait_for_ever(self, t: Thread) -> tuple[bool, bool]:
        return self.at[t] == At.AWAITING, self.at[t] == At.OUTSIDE

    fairness = Fairness(
        Weak("connect", "disconnect", "schedule", "expire", "stop", each=("t",)),
        Weak("send_inside", "withdraw_inside", "stop_inside", each=("t",)),
        Weak("call", "unlock", "unlock_to_wait", each=("t",)),
        Strong("returned", each=("t",)),
        Strong("stop_returns", each=("t",)),
    )
    scope = Scope(
        {"ChannelId.number": range(0, 1), "following": range(0, 2)},
        Nat=range(0, 2),
        Thread=2,
        Peer=1,
        Type=1,
        Token=1,
        Body=1,
        queue=1,
        results=1,
    )
