"""Parts of payloads: what one message of the protocol carries.

    part := head:u8 content
    head := 1 if it begins a payload + 2 if it ends one + 4 if the payload may overtake others

A payload that fits one message is one part. A larger one is cut, and its parts are messages one
after another. The receiver delivers them together, once all have come: so acks cover whole payloads
alone, and who begins in the middle of a connection begins with a payload.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..declaration import ReceiverEntryFixed

BEGINS, ENDS, UNORDERED = 1, 2, 4
WHOLE = BEGINS | ENDS


def check_payload(payload: object, most: int) -> None:
    """TypeError for anything but `bytes`, ValueError for more than so many of them."""
    if not isinstance(payload, bytes):
        raise TypeError(f"a payload is bytes, not {type(payload).__name__}")
    if len(payload) > most:
        raise ValueError(f"a payload has at most {most} bytes, not {len(payload)}")


def cut(payload: bytes, size: int, ordered: bool) -> list[bytes]:
    """The parts of a payload, each with at most `size` bytes of it."""
    pieces = [payload[at : at + size] for at in range(0, len(payload), size)] or [b""]
    heads = [0 if ordered else UNORDERED] * len(pieces)
    heads[0] |= BEGINS
    heads[-1] |= ENDS
    return [bytes((head,)) + piece for head, piece in zip(heads, pieces, strict=True)]


def is_part(raw: bytes) -> bool:
    """Whether these bytes are a part."""
    return len(raw) > 0 and raw[0] <= WHOLE | UNORDERED


def joined(parts: Sequence[bytes]) -> bytes | None:
    """The payload of which these are all parts, in order; None where they are of no payload."""
    last = len(parts) - 1
    if last < 0:
        return None
    for at, part in enumerate(parts):
        if part[0] & WHOLE != (at == 0) * BEGINS | (at == last) * ENDS:
            return None
    return b"".join(part[1:] for part in parts)


def overtakes(part: bytes) -> bool:
    """Whether this part is a payload that is delivered as soon as it comes."""
    return part[0] == WHOLE | UNORDERED


class Arrivals:
    """What a receiver entry holds back, as payloads. `most` parts a payload may have.

    `early` has the numbers of those that overtook others: they are not delivered again.
    """

    def __init__(self, receiver: ReceiverEntryFixed, most: int) -> None:
        self.receiver = receiver
        self.most = most
        self.early: set[int] = set()
        self._conn = 0  # The connection that `early` is of.

    def _follow(self) -> None:
        """Forget what is of another connection."""
        if self._conn != self.receiver.conn:
            self._conn = self.receiver.conn
            self.early.clear()

    def is_new(self, conn: int, number: int) -> bool:
        """Whether a message of this number has not come before on the connection."""
        self._follow()
        known = self.receiver
        came = number < known.next or number in known.buffer
        return conn != known.conn or not (came or number in self.early)

    def overtake(self, number: int) -> None:
        """The payload with this number is delivered now, before its turn."""
        self._follow()
        self.early.add(number)

    def ready(self) -> int:
        """How many of the messages that come next are one payload; 0 where not all of it has come.

        Parts that no endpoint sends, more than a payload may have or one that ends nothing that
        was begun, are also counted: `joined` says that they are none.
        """
        if not self.receiver.lawful.may("deliver"):
            return 0  # Whether the next message is there, the machine alone says.
        buffer, first, count = self.receiver.buffer, self.receiver.next, 1
        part = buffer.get(first, b"\x03")
        while part[0] & ENDS == 0 and count < self.most:
            following = buffer.get(first + count)
            if following is None:
                return 0
            if following[0] & BEGINS:
                return count
            part, count = following, count + 1
        return count

    def take(self, count: int) -> list[bytes]:
        """Deliver so many messages, which are ready, one by one: their parts. None of them where
        the payload was delivered before its turn."""
        self._follow()
        number = self.receiver.next
        parts = [self.receiver.deliver() for _ in range(count)]
        if number in self.early:
            self.early.discard(number)
            return []
        return parts
