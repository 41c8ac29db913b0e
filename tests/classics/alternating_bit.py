"""The alternating bit protocol over two lossy FIFO channels.

Source: L. Lamport, "Specifying Systems" (2002), section 14.3, figures 14.1 and 14.3: modules
AlternatingBit and MCAlternatingBit; as in tlaplus/Examples, specifications/SpecifyingSystems/TLC,
whose manifest has the figures. The configuration was not read: they come out for two data values
and at most two messages in either channel.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Fairness,
    Machine,
    Record,
    Scope,
    Sort,
    Strong,
    Weak,
    implies,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    transition,
)

COUNTS = (240, 1392, 10)

Bit = Annotated[int, Interval(ge=0, le=1)]


class Data(Sort):
    """What is sent."""


class Message(Record):
    """A value with the bit of its transmission."""

    bit: Bit
    data: Data


class AlternatingBit(Machine):
    """The next value is sent once the last one's bit has come back."""

    messages: list[Message] = []
    acks: list[Bit] = []
    sender_bit: Bit
    acked_bit: Bit
    receiver_bit: Bit
    sent: Data
    received: Data

    @initial
    def start(self, bit: Bit, sent: Data, received: Data) -> None:
        """ABInit."""
        self.sender_bit = bit
        self.acked_bit = bit
        self.receiver_bit = bit
        self.sent = sent
        self.received = received

    @transition()
    def send_new(self, data: Data) -> None:
        """SndNewValue."""
        require(self.acked_bit == self.sender_bit, "the last value is not acknowledged")
        self.sent = data
        self.sender_bit = 1 - self.sender_bit
        self.messages.append(Message(self.sender_bit, data))

    @transition()
    def send_again(self) -> None:
        """ReSndMsg."""
        require(self.acked_bit != self.sender_bit, "nothing is outstanding")
        self.messages.append(Message(self.sender_bit, self.sent))

    @transition()
    def receive(self) -> None:
        """RcvMsg."""
        require(len(self.messages) > 0, "no message")
        message = self.messages.pop(0)
        self.receiver_bit = message.bit
        self.received = message.data

    @transition()
    def acknowledge(self) -> None:
        """SndAck."""
        self.acks.append(self.receiver_bit)

    @transition()
    def receive_ack(self) -> None:
        """RcvAck."""
        require(len(self.acks) > 0, "no acknowledgement")
        self.acked_bit = self.acks.pop(0)

    @transition()
    def lose_message(self, place: Bit) -> None:
        """LoseMsg: any one in the channel, whose two places are those of a bit."""
        require(place < len(self.messages), "no such message")
        self.messages.pop(place)

    @transition()
    def lose_ack(self, place: Bit) -> None:
        """LoseAck."""
        require(place < len(self.acks), "no such acknowledgement")
        self.acks.pop(place)

    @invariant
    def arrived_is_what_was_sent(self) -> bool:
        """Once the receiver has the bit of an outstanding value, it has the value."""
        outstanding = self.sender_bit != self.acked_bit
        arrived = outstanding and self.receiver_bit == self.sender_bit
        return implies(arrived, self.received == self.sent)

    @invariant
    def acknowledged_is_what_arrived(self) -> bool:
        """Nothing is acknowledged that the receiver has not."""
        return implies(self.acked_bit == self.sender_bit, self.receiver_bit == self.sender_bit)

    @reachable
    def full(self) -> bool:
        return len(self.messages) == 2 and len(self.acks) == 2

    @reachable
    def sends_each(self, data: Data) -> bool:
        return self.sent == data and self.sender_bit != self.acked_bit

    @leads_to
    def sent_leads_to_received(self, data: Data) -> tuple[bool, bool]:
        """SentLeadsToRcvd."""
        outstanding = self.sent == data and self.sender_bit != self.acked_bit
        return outstanding, self.received == data

    fairness = Fairness(
        Weak("send_again"), Weak("acknowledge"), Strong("receive"), Strong("receive_ack")
    )
    scope = Scope(Data=2, messages=2, acks=2)
