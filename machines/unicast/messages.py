"""Reliable unicast: the messages between the two ends of a connection, and to the application.

Source: `unicast3.txt`, cited as in `declaration.py`.
"""

from typing import Annotated

from lawful import Nat, Opaque, Record

Payload = Annotated[bytes, Opaque("Payload")]


class Data(Record):
    """A message. A receiver may begin its window with a message that is marked `first`."""

    seqno: Nat
    conn: Nat
    first: bool
    payload: Payload


class Ack(Record):
    """Cumulative: every message up to and including `seqno` was delivered (U9, U12)."""

    seqno: Nat
    conn: Nat


class SendFirst(Record):
    """SEND_FIRST_SEQNO: the receiver has no window for `conn` and asks where to begin (U28)."""

    conn: Nat


class XmitReq(Record):
    """The receiver asks for these messages again (U8, U16)."""

    conn: Nat
    missing: frozenset[Nat]


class Close(Record):
    """The sender has closed this connection and forgotten it (U30)."""

    conn: Nat


class Dropped(Record):
    """To the application: A gave up this connection. B delivered all messages up to `acked`.

    Those `in_doubt` were sent and not acknowledged. B delivered the first few of them, or none, or
    does so later, if copies are still under way: A cannot tell. None is known to be lost, because
    each message is sent at once when it is submitted.
    """

    conn: Nat
    acked: Nat
    in_doubt: frozenset[Data]


Message = Data | Ack | SendFirst | XmitReq | Close
