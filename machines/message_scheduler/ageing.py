"""Message scheduler, composed: senders with priorities, who age.

Source: `message-scheduler.md`, as in `declaration.py`. The promises are those of `system.py`: the
urgent go first, of equals the one that came first, and nobody is overtaken too often. How often a
sender may be overtaken is a parameter of the scheduler: each machine gives it another value.
"""

from lawful import Scope, reachable

from .declaration import Offer, Scheduler
from .system import MessagingFair


class MessagingAgeing(MessagingFair):
    """Senders have priorities. Urgent ones keep coming, and nobody waits for ever."""

    scheduler: Scheduler = Scheduler(least=1, greatest=2, patience=2)

    @reachable
    def an_urgent_one_goes_first(self) -> bool:
        return any(self.overtaken[t] > 0 for t in self.waiting)

    @reachable
    def who_was_overtaken_goes_before_an_urgent_one(self) -> bool:
        """(R24)"""
        match self.callback:
            case Offer(token=token, channels=channels):
                return token in self.waiting and any(
                    self.urgency[t] > self.urgency[token] and not channels <= self.shown[t]
                    for t in self.waiting
                )
            case _:
                return False

    scope = Scope({"schedule.priority": range(0, 2), "overtaken": range(0, 4)})
    # A peer with two channels, of which the senders have seen different ones.
    channels = Scope({"ChannelId.number": range(0, 2), "connect.channels": range(1, 3)})
    # Three senders: some overtake one, and some two.
    senders = Scope(Token=3, waiting=3, queue=3)


class MessagingAgeingAtOnce(MessagingAgeing):
    """A sender that was overtaken once is not overtaken again."""

    scheduler: Scheduler = Scheduler(least=1, greatest=2, patience=1)
