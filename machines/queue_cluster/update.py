"""The multicasts about a queue while a node joins, and their effect.

Source: `new-cluster-plan.org`; the machines of `joining.py` use them.
"""

from lawful import Record, Sort, State


class Message(Sort):
    """A message, identified by its ID in the whole cluster [seed:352-353] (Q48)."""


class Pushed(Record):
    message: Message


class Taken(Record):
    message: Message


class Back(Record):
    message: Message


class Gone(Record):
    message: Message


class Joined(Record):
    """The place of the join in the order."""


class Front(Record):
    """`update_front(q, m)` [seed:415] (Q56)."""

    message: Message
    taken: bool


class Done(Record):
    """`update_done(q)` [seed:416] (Q56)."""


Said = Pushed | Taken | Back | Gone


def queue_after(queue: list[Message], inbox: list[Said | Joined]) -> list[Message]:
    """The queue after this multicast is handled."""
    later = queue.copy()
    for m in inbox:
        match m:
            case Pushed(message=message):
                later.append(message)
            case Gone(message=message):
                later.remove(message)
            case Taken() | Back() | Joined():
                pass
    return later


def taken_after(taken: set[Message], inbox: list[Said | Joined]) -> set[Message]:
    """The acquired messages after this multicast is handled."""
    later = set(taken)
    for m in inbox:
        match m:
            case Taken(message=message):
                later.add(message)
            case Back(message=message) | Gone(message=message):
                later.discard(message)
            case Pushed() | Joined():
                pass
    return later


class Update(State):
    """The update of the queue at the new node."""

    OUTSIDE = "has not joined"
    UPDATING = "receives what is on the queue"
    READY = "has it all"


def word(said: list[Said], m: Message) -> Said | None:
    """The last multicast about a message."""
    return next((each for each in reversed(said) if each.message == m), None)


def since_the_join(inbox: list[Said | Joined]) -> list[Said | Joined]:
    """The multicasts with a place behind the join, handled or not."""
    return inbox[inbox.index(Joined()) :] if Joined() in inbox else inbox.copy()


def front(link: list[Front | Done], m: Message) -> Front | None:
    """What the updater sent about a message."""
    return next((each for each in link if isinstance(each, Front) and each.message == m), None)
