"""A node joins as the document describes it, and as it would if it owned the queue at once.

Source: `new-cluster-plan.org`, as in `joining.py`. In `JoiningAsSeed` the updater sends only the
message, and the updatee forgets multicasts that it cannot apply. In `JoiningEager` the updatee owns
the queue while it is updated.
"""

from lawful import Expect, drop

from .joining import Joining
from .update import Front, Said


class JoiningAsSeed(Joining):
    """`update_front(q, m)` only pushes a message [seed:415-421] (Q56)."""

    nothing_is_heard = drop("a_message_goes_before_it_is_received")

    def push_front(self, m: Front) -> None:
        self.new_queue.insert(0, m.message)

    def keep_in_mind(self, said: Said) -> None:
        """The message is not there: the multicast has no effect, and is forgotten."""
        self.heard_gone.discard(said.message)

    expects = Expect(
        undefined=("undefined", 15),
        the_new_node_has_the_same=("violated", 9),
        messages_are_taken_in_turn=("violated", 11),
    )


class JoiningEager(Joining):
    """Owns the queue before it has all of it: the front of the queue comes last."""

    def may_own(self) -> bool:
        return True

    expects = Expect(
        who_is_updated_owns_nothing=("violated", 2),
        messages_are_taken_in_turn=("violated", 9),
    )
