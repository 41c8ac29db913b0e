"""What is said of a queue while a node joins, and what it amounts to.

Source: `new-cluster-plan.org`, as in `joining.py`, whose machines say it.
"""

from lawful import Record, Sort, State


class Message(Sort):
    """A message, known by its ID all over the cluster [seed:352-353] (Q48)."""


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
    """What is on the queue once this is handled, too."""
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
    """What is acquired once this is handled, too."""
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
    """Of the queue at the new node."""

    OUTSIDE = "has not joined"
    UPDATING = "receives what is on the queue"
    READY = "has it all"


def word(said: list[Said], m: Message) -> Said | None:
    """What is said last of a message."""
    return next((each for each in reversed(said) if each.message == m), None)


def since_the_join(inbox: list[Said | Joined]) -> list[Said | Joined]:
    """What has its place behind the join, which may have been handled."""
    return inbox[inbox.index(Joined()) :] if Joined() in inbox else inbox.copy()


def front(link: list[Front | Done], m: Message) -> Front | None:
    """What was sent of a message."""
    return next((each for each in link if isinstance(each, Front) and each.message == m), None)
