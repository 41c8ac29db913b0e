"""A node joins: how it gets a queue that the others continue to use.

Source: `new-cluster-plan.org`, the improved update of new members [seed:402-423] (Q48, Q56), cited
as in `declaration.py`. A member, the updater, sends the messages of its queue from back to front,
and continues its work. The new node, the updatee, pushes these to the front of its own queue, and
messages enqueued meanwhile to the back. It may own the queue only once it is ready. Both handle one
total order, each at its own pace, so that either may be ahead of the other.

`JoiningFixed` is the repaired design: with each message the updater says whether it is acquired,
and the updatee remembers multicasts about messages that it does not have yet.

Abstractions. There is one queue, whose messages are its whole state. The stall for wiring is the
one step in which the updater reaches the place of the join. Other nodes send only multicasts that
make sense in the order. Who acquired a message is left out. No node crashes: if the updater left,
the updatee would have to leave too, and join again. A message that was given back is not acquired
again by another member.
"""

from lawful import (
    Fairness,
    Ghost,
    Machine,
    Param,
    Scope,
    Weak,
    can,
    invariant,
    leads_to,
    reachable,
    require,
    step_property,
    terminal,
    transition,
)

from .update import (
    Back,
    Done,
    Front,
    Gone,
    Joined,
    Message,
    Pushed,
    Said,
    Taken,
    Update,
    front,
    queue_after,
    since_the_join,
    taken_after,
    word,
)


class Joining(Machine, abstract=True):
    """The updater, the updatee, and the order that both handle."""

    state: Update = Update.OUTSIDE

    # The updater: its queue, and what it has still to send of it.
    queue: list[Message] = []
    taken: set[Message] = set()
    inbox: list[Said | Joined] = []
    to_send: list[Message] = []
    link: list[Front | Done] = []

    # The updatee: its queue, and what it knows of messages that it does not have.
    new_queue: list[Message] = []
    new_taken: set[Message] = set()
    new_inbox: list[Said] = []
    heard_taken: set[Message] = set()
    heard_free: set[Message] = set()
    heard_gone: set[Message] = set()
    owns: bool = False

    # What is so in the order: who has handled all of it knows this.
    pushed: set[Message] = set()
    in_order: list[Message] = []
    out: set[Message] = set()
    returned: set[Message] = set()
    out_of_turn: Ghost[bool] = False
    # What was on the queue at the join, and has not been sent.
    unsent: Ghost[list[Message]] = []

    lag: Param[int] = 2

    # What others do with the queue.

    @transition()
    def push(self, m: Message) -> None:
        require(m not in self.pushed, "once")
        self.pushed.add(m)
        self.in_order.append(m)
        self.put(Pushed(m))

    @transition()
    def acquire(self, m: Message) -> None:
        require(not self.owns, "the new node owns the queue")
        require(m in self.in_order and m not in self.out, "is not there, or acquired")
        require(m not in self.returned, "was given back once")
        self.out.add(m)
        self.put(Taken(m))

    @transition()
    def give_back(self, m: Message) -> None:
        require(m in self.out and m not in self.returned, "is not acquired, or came back once")
        self.out.discard(m)
        self.returned.add(m)
        self.put(Back(m))

    @transition()
    def dequeue(self, m: Message) -> None:
        require(m in self.out, "is not acquired")
        self.out.discard(m)
        self.in_order.remove(m)
        self.put(Gone(m))

    def put(self, m: Said) -> None:
        """The multicast gets the next place, unless a node is too far behind."""
        require(len(self.inbox) < self.lag, "the updater is far behind")
        self.inbox.append(m)
        if self.state != Update.OUTSIDE:
            require(len(self.new_inbox) < self.lag, "the updatee is far behind")
            self.new_inbox.append(m)

    # The updater.

    @transition(source=Update.OUTSIDE, target=Update.UPDATING)
    def join(self) -> None:
        """From here on, both handle the same multicasts [seed:407-411]."""
        require(len(self.inbox) < self.lag, "the updater is far behind")
        self.inbox.append(Joined())
        self.unsent = self.in_order.copy()

    @transition()
    def handle(self) -> None:
        require(len(self.inbox) > 0, "everything is handled")
        m = self.inbox.pop(0)
        match m:
            case Pushed(message=message):
                self.queue.append(message)
            case Taken(message=message):
                self.taken.add(message)
            case Back(message=message):
                self.taken.discard(message)
            case Gone(message=message):
                self.taken.discard(message)
                self.queue.remove(message)
            case Joined():
                self.to_send = self.queue.copy()
                if len(self.to_send) == 0:
                    self.link.append(Done())

    @transition()
    def send(self) -> None:
        """The iterator advances towards the front [seed:413-416] (Q56)."""
        require(len(self.to_send) > 0, "the iterator is at the front")
        m = self.to_send.pop()
        self.unsent.pop()
        if m in self.queue:
            self.link.append(Front(m, m in self.taken))
        if len(self.to_send) == 0:
            self.link.append(Done())

    # The updatee.

    @transition(source=Update.UPDATING, target=(Update.UPDATING, Update.READY))
    def receive(self) -> None:
        """Push it to the front [seed:418-421] (Q56)."""
        require(len(self.link) > 0, "nothing has come")
        m = self.link.pop(0)
        match m:
            case Front():
                self.push_front(m)
            case Done():
                self.state = Update.READY
                self.heard_taken.clear()
                self.heard_free.clear()
                self.heard_gone.clear()

    def push_front(self, m: Front) -> None:
        """A later multicast about the message outweighs what the updater knew when it sent it."""
        if m.message not in self.heard_gone:
            self.new_queue.insert(0, m.message)
            heard = m.message in self.heard_taken or m.message in self.heard_free
            if (m.message in self.heard_taken) if heard else m.taken:
                self.new_taken.add(m.message)

    @transition()
    def handle_here(self) -> None:
        """Multicasts about messages that are not there yet are remembered."""
        require(len(self.new_inbox) > 0, "everything is handled")
        said = self.new_inbox.pop(0)
        m = said.message
        if isinstance(said, Pushed):
            self.new_queue.append(m)
        elif m in self.new_queue:
            self.apply(said)
        elif self.state == Update.UPDATING:
            self.keep_in_mind(said)

    def apply(self, said: Said) -> None:
        if isinstance(said, Taken):
            self.new_taken.add(said.message)
        else:
            self.new_taken.discard(said.message)
        if isinstance(said, Gone):
            self.new_queue.remove(said.message)

    def keep_in_mind(self, said: Said) -> None:
        self.heard_taken.discard(said.message)
        self.heard_free.discard(said.message)
        match said:
            case Taken(message=m):
                self.heard_taken.add(m)
            case Back(message=m):
                self.heard_free.add(m)
            case Gone(message=m):
                self.heard_gone.add(m)
            case Pushed():
                pass

    @transition()
    def own(self) -> None:
        """It is granted the queue, after all earlier multicasts [seed:423] (Q56)."""
        require(not self.owns, "owns it")
        require(self.may_own(), "the queue is updated")
        require(self.state != Update.OUTSIDE and len(self.new_inbox) == 0, "is behind")
        self.owns = True

    def may_own(self) -> bool:
        return self.state == Update.READY

    @transition(source=(Update.UPDATING, Update.READY))
    def acquire_here(self) -> None:
        """Its consumers take the first message that is free here [seed:123-126] (Q20)."""
        require(self.owns, "does not own the queue")
        free = [m for m in self.new_queue if m not in self.new_taken]
        require(len(free) > 0, "there is none")
        # What is given back may still be on its way to here.
        waits = [m for m in self.in_order if m not in self.out]
        first = [m for m in waits if m == free[0] or m not in self.returned]
        self.out_of_turn = len(first) == 0 or first[0] != free[0]
        self.new_taken.add(free[0])
        self.out.add(free[0])
        self.returned.add(free[0])
        self.put(Taken(free[0]))

    @terminal
    def nothing_is_left_to_do(self) -> bool:
        return self.state == Update.READY and len(self.inbox) == 0 and len(self.new_inbox) == 0

    @invariant
    def the_new_node_has_the_same(self) -> bool:
        """Once it is ready, and both have handled everything (Q48, Q56)."""
        both = len(self.inbox) == 0 and len(self.new_inbox) == 0
        return (
            not both
            or self.state != Update.READY
            or (self.queue == self.new_queue and self.taken == self.new_taken)
        )

    @invariant
    def the_updater_goes_on(self) -> bool:
        """Its queue and its inbox together amount to the queue in the order."""
        return (
            queue_after(self.queue, self.inbox) == self.in_order
            and taken_after(self.taken, self.inbox) == self.out
        )

    @invariant
    def who_is_updated_owns_nothing(self) -> bool:
        """[seed:423] (Q56)."""
        return not self.owns or self.state == Update.READY

    @invariant
    def messages_are_taken_in_turn(self) -> bool:
        """A consumer of the new node gets a message that no other has; a message that was never
        given back comes in its order (Q20, Q56)."""
        return not self.out_of_turn

    @invariant
    def nothing_is_kept_in_mind_once_ready(self) -> bool:
        """Multicasts about messages still to come are remembered only during the update (Q56)."""
        heard = len(self.heard_taken) + len(self.heard_free) + len(self.heard_gone)
        return self.state == Update.UPDATING or heard == 0

    @step_property
    def the_owner_alone_acquires(self, after: "Joining") -> bool:
        """While the new node owns the queue, messages are acquired only there (Q20, Q32)."""
        return not self.owns or all(m in self.out or m in after.new_taken for m in after.out)

    @leads_to
    def the_update_ends(self) -> tuple[bool, bool]:
        """However many messages are enqueued meanwhile (Q5, Q56)."""
        return self.state == Update.UPDATING, self.state == Update.READY

    @reachable
    def a_message_goes_before_it_is_received(self) -> bool:
        return any(m.message in self.heard_gone for m in self.link if isinstance(m, Front))

    @reachable
    def new_messages_overtake_old_ones(self) -> bool:
        return (
            self.state == Update.UPDATING
            and any(m in self.new_queue for m in Message)
            and (len(self.to_send) > 0)
        )

    @reachable
    def the_new_node_consumes(self) -> bool:
        """And gets the last message, too."""
        return can(self.acquire_here) and len(self.new_queue) == 1

    fairness = Fairness(Weak("handle"), Weak("handle_here"), Weak("send"), Weak("receive"))

    scope = Scope(
        Message=2,
        queue=2,
        inbox=2,
        to_send=2,
        unsent=2,
        link=3,
        new_queue=3,
        new_inbox=2,
        in_order=2,
        lag=(1,),
    )
    large = Scope(lag=(2,))


class JoiningFixed(Joining):
    """The repaired update."""

    @invariant
    def the_owner_knows_what_is_acquired(self) -> bool:
        """It is granted the queue after all earlier multicasts, and has handled these (Q56)."""
        return not self.owns or all(m in self.new_taken for m in self.out)

    # What the others follow from.

    @invariant
    def what_is_acquired_is_on_the_queue(self) -> bool:
        """In the order, and at the new node (Q48)."""
        return self.out <= set(self.in_order) and self.new_taken <= set(self.new_queue)

    @invariant
    def the_update_has_two_ends(self) -> bool:
        """The updater sends nothing before it reaches the join, and nothing after `update_done(q)`
        [seed:407-416] (Q56)."""
        joins, here = self.inbox.count(Joined()), len(self.new_queue) + len(self.new_inbox)
        nothing = len(self.to_send) == 0 and len(self.link) == 0
        goes_on = Done() not in self.link or len(self.to_send) == 0
        match self.state:
            case Update.OUTSIDE:
                return nothing and joins == 0 and here == 0
            case Update.UPDATING if joins == 0:
                return goes_on and Done() not in self.link[:-1]
            case Update.UPDATING:
                return nothing and joins == 1
            case Update.READY:
                return nothing and joins == 0

    @invariant
    def what_was_there_at_the_join_is_sent(self) -> bool:
        """At the join, the updater's queue is the queue in the order [seed:413] (Q56)."""
        if self.state != Update.UPDATING:
            return len(self.unsent) == 0
        if Joined() not in self.inbox:
            return self.unsent == self.to_send
        before = self.inbox[: self.inbox.index(Joined())]
        return self.unsent == queue_after(self.queue, before)

    @invariant
    def what_is_said_of_the_unsent_is_heard(self) -> bool:
        """The updatee, too, gets each multicast about a message that is not sent yet (Q56)."""
        return all(
            not isinstance(m, Pushed) and self.is_told(m.message)
            for m in since_the_join(self.inbox)
            if not isinstance(m, Joined) and m.message in self.unsent
        )

    def is_told(self, m: Message) -> bool:
        heard = m in self.heard_taken or m in self.heard_free or m in self.heard_gone
        return heard or word(self.new_inbox, m) is not None

    @invariant
    def messages_arrive_once(self) -> bool:
        """Every message in the order arrives; of those that have gone, some do (Q48)."""
        return all(
            self.in_order.count(m) <= self.times(m) <= (1 if m in self.pushed else 0)
            for m in Message
        )

    def times(self, m: Message) -> int:
        """How often the new node has the message, or will get it."""
        if self.state == Update.OUTSIDE:
            return self.in_order.count(m)
        sent = sum(1 for each in self.link if isinstance(each, Front) and each.message == m)
        pushed = self.new_inbox.count(Pushed(m))
        return self.unsent.count(m) + sent + self.new_queue.count(m) + pushed

    @invariant
    def messages_arrive_in_order(self) -> bool:
        """Old ones at the front, new ones at the back [seed:413-421] (Q56)."""
        places = [self.place(m) for m in self.in_order]
        return places == sorted(places)

    def place(self, m: Message) -> int:
        """The message's position in the new queue, now or when it arrives, from the front."""
        if m in self.new_queue:
            return self.new_queue.index(m)
        if m in self.unsent:
            return self.unsent.index(m) - len(self.link) - len(self.unsent)
        if Pushed(m) in self.new_inbox:
            return len(self.new_queue) + self.new_inbox.index(Pushed(m))
        sent = front(self.link, m)
        return 0 if sent is None else -1 - self.link.index(sent)

    @invariant
    def what_is_gone_never_comes_back(self) -> bool:
        """Not from messages on their way to the updatee, and not from what it remembers (Q28)."""
        return all(
            m in self.pushed and m not in self.in_order
            for m in Message
            if m in self.heard_gone or Gone(m) in self.new_inbox
        )

    @invariant
    def the_last_word_counts(self) -> bool:
        """The last multicast about a message that the updatee knows or will get is true in the
        order (Q56)."""
        return self.state == Update.OUTSIDE or all(self.knows(m) for m in Message)

    def knows(self, m: Message) -> bool:
        there, out = m in self.in_order, m in self.out
        said = word(self.new_inbox, m)
        if said is not None:
            return there != isinstance(said, Gone) and out == isinstance(said, Taken)
        if m in self.new_queue:
            return there and (m in self.new_taken) == out
        if m in self.heard_gone or self.times(m) == 0:
            return not there
        if m in self.heard_taken or m in self.heard_free:
            return there and (m in self.heard_taken) == out
        sent = front(self.link, m)
        return there and (sent is None or sent.taken == out)

    @invariant
    def the_owner_waits_for_what_comes_back(self) -> bool:
        """It treats a message as acquired until it handles the multicast that gives it back, which
        comes once (Q20)."""
        return not self.owns or all(
            m in self.new_taken
            and m not in self.out
            and (m in self.returned or Gone(m) in self.new_inbox)
            and self.new_inbox.count(Back(m)) + self.new_inbox.count(Gone(m)) == 1
            for m in Message
            if Back(m) in self.new_inbox or Gone(m) in self.new_inbox
        )
