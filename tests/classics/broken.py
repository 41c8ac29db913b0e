"""Classics with one thing left out, each with the counterexample that shows why it is there."""

from lawful import Expect, drop, require, transition
from tests.classics.alternating_bit import AlternatingBit
from tests.classics.peterson import Label, Peterson, Process


class PetersonWithoutTurn(Peterson):
    """Nobody lets the other go first: both wait for ever."""

    @transition(source=Label.A2, target=Label.A3, of="pc[p]")
    def give_way(self, p: Process) -> None: ...

    @transition(source=Label.A3, target=Label.CS, of="pc[p]")
    def enter(self, p: Process) -> None:
        require(not self.wants[3 - p], "the other wants to")

    by_turn = drop("inside_by_turn_or_alone")
    expects = Expect(deadlock=("violated", 6))


class PetersonWithoutFlags(Peterson):
    """Who has let the other go first does not look whether it wants to."""

    @transition(source=Label.A3, target=Label.CS, of="pc[p]")
    def enter(self, p: Process) -> None:
        require(self.turn != p or not self.wants[3 - p], "it is one's own turn")

    expects = Expect(mutual_exclusion=("violated", 8), inside_by_turn_or_alone=("violated", 7))


class AlternatingBitWithoutBit(AlternatingBit):
    """Any acknowledgement is taken for that of the last value."""

    @transition()
    def receive_ack(self) -> None:
        require(len(self.acks) > 0, "no acknowledgement")
        self.acks.pop(0)
        self.acked_bit = self.sender_bit

    expects = Expect(
        acknowledged_is_what_arrived=("violated", 3),
        arrived_is_what_was_sent=("violated", 4),
        sent_leads_to_received=("violated", 6),
    )
