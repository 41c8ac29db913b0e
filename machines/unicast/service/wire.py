"""Datagrams: between bytes and the records that the unicast machines take and return.

One datagram carries a *message batch* of one endpoint for another [seed:50-51]: messages, from and
to named endpoints. All integers are big-endian, nothing is padded:

    datagram := "LU3" version:u8 seal source:name target:name most_parts:u16 count:u16
                message{count}
    seal     := version 7: crc32:u32
              | version 8: the first 16 bytes of HMAC-SHA-256 under the key of the endpoints
    name     := length:u8 UTF-8{length}
    message  := kind:u8 conn:u64 body
    body     := kind 1, Data:      seqno:u64 first:u8(0|1) length:u16 part{length} (`parts.py`)
              | kind 2, Ack:       seqno:u64
              | kind 3, SendFirst: nothing
              | kind 4, XmitReq:   count:u16 seqno:u64{count}, strictly increasing
              | kind 5, Close:     nothing

`most_parts` says how many parts a payload may have for the source to take it. It is in each
datagram, so that an ack and the limit under which its parts were taken come together. A datagram
without messages says nothing else, or asks the target to say it: then `most_parts` is 0. Other
versions are refused: 3 and 4 had no such limit, 5 and 6 could not ask for it.

The seal covers all that follows it, so that a damaged datagram is refused as a whole and not taken
for another one. With a key, nobody who does not know it can make a datagram that is taken; who
repeats one that was recorded does what the network may do anyway. Encoding is canonical: what
decodes, encodes to the same bytes.
"""

from __future__ import annotations

import hmac
import itertools
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from ..messages import Ack, Close, Data, Message, SendFirst, XmitReq
from .parts import is_part

MAGIC = b"LU3\x07"
MAGIC_KEYED = b"LU3\x08"
LONGEST_SEAL = 16  # Bytes.
LARGEST_DATAGRAM = 65_507  # Bytes: what UDP over IPv4 carries at most.
LONGEST_NAME = 255  # Bytes of UTF-8.
LONGEST_PAYLOAD = 60_000  # Bytes of a part: one message fits a datagram whatever the names.
MOST_MESSAGES = 2**16 - 1
MOST_PARTS = 2**16 - 1  # Of one payload.
ASKS = 0  # In the place of how many parts the source takes: it asks the target.
MOST_REQUESTED = 7_000  # Sequence numbers in one XmitReq, for the same reason.

_CRC = struct.Struct("!I")
_COUNT = struct.Struct("!H")
_NUMBER = struct.Struct("!Q")
_HEAD = struct.Struct("!BQ")
_DATA = struct.Struct("!QBH")

_KINDS: dict[type[Message], int] = {Data: 1, Ack: 2, SendFirst: 3, XmitReq: 4, Close: 5}


class WireError(ValueError):
    """These bytes are no datagram of ours; the message says what was expected, and where."""


class Forged(WireError):
    """The seal is not that of the key: forged, damaged, or sealed with another key."""


@dataclass(frozen=True)
class Batch:
    """The messages of one datagram, in their order, from the endpoint `source` to `target`. The
    source takes payloads of at most `most_parts` parts; without messages, ASKS asks the target."""

    source: str
    target: str
    messages: tuple[Message, ...]
    most_parts: int

    def in_order_of_handling(self) -> list[Message]:
        """The messages, data marked first before all others, else as they stand [seed:119]."""
        return sorted(self.messages, key=lambda m: not (isinstance(m, Data) and m.first))


def encode(batch: Batch, key: bytes = b"") -> bytes:
    """The datagram that carries the batch, sealed with the key if there is one.

    Errors: ValueError if anything in it is larger than the format has room for; the datagram as a
    whole may still exceed LARGEST_DATAGRAM, which `pack` never lets happen.
    """
    if len(batch.messages) > MOST_MESSAGES:
        raise ValueError(f"a datagram carries at most {MOST_MESSAGES} messages")
    raw = [encode_message(m) for m in batch.messages]
    return _sealed(batch, raw, key)


def pack(
    batch: Batch, largest: int = 1_400, most: int = MOST_MESSAGES, key: bytes = b""
) -> Iterator[bytes]:
    """The datagrams, in order, that carry the batch, none if it has no messages.

    Each has at most `most` messages and `largest` bytes, unless a single message is larger.
    Errors: ValueError as `encode`.
    """
    empty = len(_sealed(batch, [], key))
    waiting: list[bytes] = []
    size = empty
    for message in batch.messages:
        raw = encode_message(message)
        if waiting and (len(waiting) == most or size + len(raw) > largest):
            yield _sealed(batch, waiting, key)
            waiting, size = [], empty
        waiting.append(raw)
        size += len(raw)
    if waiting:
        yield _sealed(batch, waiting, key)


def _sealed(batch: Batch, messages: list[bytes], key: bytes) -> bytes:
    """These messages with the rest of what the batch says."""
    if not (len(messages) > 0) <= batch.most_parts <= MOST_PARTS:
        raise ValueError(f"a payload has at most 1 to {MOST_PARTS} parts, not {batch.most_parts}")
    names = encode_name(batch.source) + encode_name(batch.target)
    counts = _COUNT.pack(batch.most_parts) + _COUNT.pack(len(messages))
    content = names + counts + b"".join(messages)
    if key:
        return MAGIC_KEYED + _seal(key, content) + content
    return MAGIC + _CRC.pack(zlib.crc32(content)) + content


def _seal(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")[:LONGEST_SEAL]


def encode_name(name: str) -> bytes:
    """An endpoint's name as it stands in a datagram. Errors: ValueError if empty or too long."""
    raw = name.encode()
    if not 0 < len(raw) <= LONGEST_NAME:
        raise ValueError(f"an endpoint's name has 1 to {LONGEST_NAME} bytes, not {len(raw)}")
    return bytes((len(raw),)) + raw


def encode_message(message: Message) -> bytes:
    """One message as it stands in a datagram. Errors: ValueError for what is too large."""
    try:
        return _HEAD.pack(_KINDS[type(message)], message.conn) + _body(message)
    except struct.error as error:
        raise ValueError(f"{message!r} does not fit the format: {error}") from error


def _body(message: Message) -> bytes:
    match message:
        case Data(seqno=seqno, first=first, payload=payload):
            if len(payload) > LONGEST_PAYLOAD:
                raise ValueError(f"a payload has at most {LONGEST_PAYLOAD} bytes")
            return _DATA.pack(seqno, first, len(payload)) + payload
        case Ack(seqno=seqno):
            return _NUMBER.pack(seqno)
        case XmitReq(missing=missing):
            if len(missing) > MOST_REQUESTED:
                raise ValueError(f"at most {MOST_REQUESTED} numbers are requested at once")
            return _COUNT.pack(len(missing)) + b"".join(map(_NUMBER.pack, sorted(missing)))
        case SendFirst() | Close():
            return b""


def decode(datagram: bytes, key: bytes = b"") -> Batch:
    """The batch that a datagram carries; with a key only what was sealed with it is taken, without
    one only what has none. Errors: WireError and no other, whatever the bytes; Forged of these."""
    magic = MAGIC_KEYED if key else MAGIC
    if datagram[: len(magic)] != magic:
        if key and datagram[: len(MAGIC)] == MAGIC:
            raise Forged("the datagram is not sealed with a key")
        found = datagram[: len(magic)]
        raise WireError(f"expected a datagram that begins with {magic!r}, not with {found!r}")
    reader = _Reader(datagram, len(magic))
    if key:
        seal = reader.take(LONGEST_SEAL, "the seal")
        if not hmac.compare_digest(seal, _seal(key, datagram[reader.at :])):
            raise Forged("the seal is not that of the key")
    elif reader.number(4, "the checksum") != zlib.crc32(datagram[reader.at :]):
        raise WireError("the checksum is another: damaged or cut short")
    source, target = reader.name("the source"), reader.name("the target")
    most_parts = reader.number(2, "the number of parts that the source takes")
    count = reader.number(2, "the number of messages")
    if count > 0 and most_parts == ASKS:
        raise WireError(f"byte {reader.at - 2}: expected that the source takes 1 part or more")
    messages = tuple(_message(reader) for _ in range(count))
    if reader.at != len(datagram):
        raise WireError(f"{len(datagram) - reader.at} bytes after the last message")
    return Batch(source, target, messages, most_parts)


def _message(reader: _Reader) -> Message:
    kind = reader.number(1, "the kind of a message")
    conn = reader.number(8, "a connection")
    match kind:
        case 1:
            return _data(reader, conn)
        case 2:
            return Ack(seqno=reader.number(8, "an acknowledged number"), conn=conn)
        case 3:
            return SendFirst(conn=conn)
        case 4:
            return XmitReq(conn=conn, missing=_requested(reader))
        case 5:
            return Close(conn=conn)
        case _:
            raise WireError(f"byte {reader.at}: no message is of kind {kind}")


def _data(reader: _Reader, conn: int) -> Data:
    seqno = reader.number(8, "a number")
    first = reader.number(1, "the mark of first data")
    if first > 1:
        raise WireError(f"byte {reader.at}: the mark of first data is 0 or 1, not {first}")
    payload = reader.take(reader.number(2, "a payload's length"), "a payload")
    if not is_part(payload):
        raise WireError(f"byte {reader.at}: expected the part of a payload, not {payload[:1]!r}")
    return Data(seqno=seqno, conn=conn, first=first == 1, payload=payload)


def _requested(reader: _Reader) -> frozenset[int]:
    count = reader.number(2, "how many are requested")
    seqnos = [reader.number(8, "a requested number") for _ in range(count)]
    if any(a >= b for a, b in itertools.pairwise(seqnos)):
        raise WireError(f"byte {reader.at}: requested numbers increase")
    return frozenset(seqnos)


class _Reader:
    """A place in a datagram that moves forward; whatever is missing is a WireError."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self.at = at

    def take(self, length: int, what: str) -> bytes:
        end = self.at + length
        if end > len(self._data):
            raise WireError(f"byte {self.at}: expected {what} of {length} bytes, the datagram ends")
        taken, self.at = self._data[self.at : end], end
        return taken

    def number(self, size: int, what: str) -> int:
        return int.from_bytes(self.take(size, what), "big")

    def name(self, what: str) -> str:
        raw = self.take(self.number(1, f"{what}'s length"), what)
        try:
            name = raw.decode()
        except UnicodeDecodeError as error:
            raise WireError(f"byte {self.at}: expected {what} in UTF-8") from error
        if not name:
            raise WireError(f"byte {self.at}: {what} has no name")
        return name
