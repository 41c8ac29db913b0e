"""Frames: between bytes of a TCP stream and what a node and its outbound peers say.

A frame is a content after its length (`machines/services/framing.py`). All integers are big-endian,
nothing is padded:

    content := kind 1, Hello:          version:u8 length:u8 name:UTF-8{length}, not empty
             | kind 2, RequestIds:     blocking:u8 (0 or 1) ack:u16 count:u16
             | kind 3, RequestObjects: number:u16 id{number}
             | kind 4, ReplyIds:       number:u16 id{number}
             | kind 5, Objects:        number:u16 (id length:u32 body{length}){number}
    id      := 16 bytes, the BLAKE2b digest of the object's body

Each content begins with its kind, a u8. The IDs of RequestObjects and Objects ascend, those of
ReplyIds are in the order of the announcement. Encoding is canonical: what decodes, encodes to the
same bytes. The outbound peer says Hello first, then replies in the order of the requests.

Source: `object-diffusion.md`, demands O12 to O15. The document has no wire format.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from itertools import pairwise

from ...services.framing import LONGEST_TEXT, Reader, WireError, framed, short_text
from ..connection import ReplyIds
from ..messages import ObjectId, RequestIds, RequestObjects

VERSION = 1
ID = 16  # Bytes.
MOST_IDS = 1_000  # In one frame.
LONGEST_BODY = 1_000_000  # Bytes.

_IDS = struct.Struct("!BHH")


@dataclass(frozen=True, slots=True)
class Hello:
    """The name of an outbound peer."""

    name: str


@dataclass(frozen=True, slots=True)
class Objects:
    """The reply to a request for objects: bodies by ID, which need not belong together."""

    bodies: tuple[tuple[ObjectId, bytes], ...]

    @property
    def ids(self) -> frozenset[ObjectId]:
        """The IDs that the reply is for."""
        return frozenset(x for x, _ in self.bodies)

    @property
    def longest(self) -> int:
        """Bytes of the longest body."""
        return max((len(body) for _, body in self.bodies), default=0)


Frame = Hello | RequestIds | RequestObjects | ReplyIds | Objects


def name_of(body: bytes) -> ObjectId:
    """The ID of the object with this body."""
    return ObjectId(hashlib.blake2b(body, digest_size=ID).hexdigest())


def encode(frame: Frame) -> bytes:
    """The frame with its length. Errors: ValueError for what the format has no room for."""
    try:
        return framed(_content(frame))
    except struct.error as error:
        raise ValueError(f"{frame!r} does not fit the format: {error}") from error


def _content(frame: Frame) -> bytes:
    match frame:
        case Hello(name=name):
            return bytes((1, VERSION)) + short_text(name, "a name")
        case RequestIds(blocking=blocking, ack=ack, count=count):
            return b"\x02" + _IDS.pack(blocking, ack, count)
        case RequestObjects(ids=ids):
            return b"\x03" + _listed(tuple(sorted(ids)))
        case ReplyIds(ids=ids):
            return b"\x04" + _listed(ids)
        case Objects(bodies=bodies):
            parts = [b"\x05", _number(len(bodies))]
            for x, body in sorted(bodies):
                parts += (_raw(x), framed(body))
            return b"".join(parts)


def _listed(ids: tuple[ObjectId, ...]) -> bytes:
    return _number(len(ids)) + b"".join(map(_raw, ids))


def _number(n: int) -> bytes:
    if n > MOST_IDS:
        raise ValueError(f"a frame has at most {MOST_IDS} IDs, not {n}")
    return n.to_bytes(2, "big")


def _raw(x: ObjectId) -> bytes:
    raw = bytes.fromhex(str(x))
    if len(raw) != ID:
        raise ValueError(f"an ID has {ID} bytes, not {len(raw)}")
    return raw


def decode(content: bytes) -> Frame:
    """The frame of this content, without its length. Errors: WireError and no other."""
    reader = _Reader(content)
    kind = reader.number(1, "a kind")
    match kind:
        case 1:
            frame: Frame = _hello(reader)
        case 2:
            blocking = reader.number(1, "whether it blocks")
            if blocking > 1:
                raise WireError(f"byte 1: expected 0 or 1, found {blocking}")
            ack = reader.number(2, "a number of acks")
            frame = RequestIds(bool(blocking), ack, reader.number(2, "a number of IDs"))
        case 3:
            frame = RequestObjects(frozenset(_ascending(reader.ids())))
        case 4:
            frame = ReplyIds(tuple(reader.ids()))
        case 5:
            bodies = tuple(reader.body() for _ in range(reader.count()))
            _ascending([x for x, _ in bodies])
            frame = Objects(bodies)
        case _:
            raise WireError(f"byte 0: no frame is of kind {kind}")
    reader.end()
    return frame


def _ascending(ids: list[ObjectId]) -> list[ObjectId]:
    for n, (x, y) in enumerate(pairwise(ids), 1):
        if not x < y:
            raise WireError(f"ID {n}: expected more than {x}, found {y}")
    return ids


def _hello(reader: _Reader) -> Hello:
    reader.version(VERSION)
    return Hello(reader.text("a name"))


class _Reader(Reader):
    """It also reads IDs and objects."""

    def count(self) -> int:
        n = self.number(2, "a number of IDs")
        if n > MOST_IDS:
            raise WireError(f"byte {self.at - 2}: expected at most {MOST_IDS} IDs, found {n}")
        return n

    def id(self) -> ObjectId:
        return ObjectId(self.take(ID, "an ID").hex())

    def ids(self) -> list[ObjectId]:
        return [self.id() for _ in range(self.count())]

    def body(self) -> tuple[ObjectId, bytes]:
        return self.id(), self.take(self.number(4, "the length of a body"), "a body")


def longest_reply(ids: int, objects: int, body: int) -> int:
    """Bytes of the longest reply: so many IDs, or so many objects with bodies of so many bytes."""
    return max(2 + LONGEST_TEXT + 1, 3 + ids * ID, 3 + objects * (ID + 4 + body))
