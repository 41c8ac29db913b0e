"""Frames: between bytes of a TCP stream and what scheduler and peers say to each other.

All integers are big-endian, nothing is padded:

    frame   := length:u32 content{length}
    content := kind 1, Hello:        version:u8 channels:u16 name
             | kind 2, Request:      number:u32 type body
             | kind 3, Response:     number:u32 type body
             | kind 4, Notification: type body
             | kind 5, Alive:        nothing
    name, type := length:u8 UTF-8{length}, not empty
    body    := the bytes that are left

Each content begins with its kind, a u8. A peer says Hello first, then Responses, and Alive while it
has nothing else to say; the scheduler says Requests and Notifications. Encoding is canonical: what
decodes, encodes to the same bytes.

Source: `message-scheduler.md`, demands R3, R13, R15 and R36. The document has no wire format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

VERSION = 1
LARGEST_NUMBER = 2**32 - 1
LONGEST_TEXT = 255  # Bytes of UTF-8 of a name or a type.
LONGEST_BODY = 16_000_000  # Bytes.
LARGEST_HEAD = 1 + 4 + 1 + LONGEST_TEXT  # Bytes of a content before its body.

_LENGTH = struct.Struct("!I")
_HELLO = struct.Struct("!BBH")
_NUMBERED = struct.Struct("!BI")


class WireError(ValueError):
    """This content is none of ours; the message says what was expected, and where."""


class Oversized(WireError):
    """A frame says that it is longer than any may be: nothing after it can be read."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The name of a peer, and how many messages it takes at a time."""

    name: str
    channels: int


@dataclass(frozen=True, slots=True)
class Request:
    number: int
    type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Response:
    number: int
    type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Notification:
    type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Alive:
    """The heartbeat of a peer."""


Frame = Hello | Request | Response | Notification | Alive


def encode(frame: Frame) -> bytes:
    """The frame with its length. Errors: ValueError for what the format has no room for."""
    content = _content(frame)
    return _LENGTH.pack(len(content)) + content


def _content(frame: Frame) -> bytes:
    try:
        match frame:
            case Hello(name=name, channels=channels):
                return _HELLO.pack(1, VERSION, channels) + encode_text(name)
            case Request(number=number, type=type, body=body):
                return _NUMBERED.pack(2, number) + encode_text(type) + _bounded(body)
            case Response(number=number, type=type, body=body):
                return _NUMBERED.pack(3, number) + encode_text(type) + _bounded(body)
            case Notification(type=type, body=body):
                return b"\x04" + encode_text(type) + _bounded(body)
            case Alive():
                return b"\x05"
    except struct.error as error:
        raise ValueError(f"{frame!r} does not fit the format: {error}") from error


def encode_text(text: str) -> bytes:
    """A name or a type with its length. Errors: ValueError if it is empty or too long."""
    raw = text.encode()
    if not 0 < len(raw) <= LONGEST_TEXT:
        raise ValueError(f"a name or type has 1 to {LONGEST_TEXT} bytes of UTF-8, not {len(raw)}")
    return bytes((len(raw),)) + raw


def _bounded(body: bytes) -> bytes:
    if len(body) > LONGEST_BODY:
        raise ValueError(f"a body has at most {LONGEST_BODY} bytes, not {len(body)}")
    return body


def decode(content: bytes) -> Frame:
    """The frame of this content, without its length. Errors: WireError and no other."""
    reader = _Reader(content)
    kind = reader.number(1, "a kind")
    match kind:
        case 1:
            frame: Frame = _hello(reader)
        case 2:
            frame = Request(reader.number(4, "a number"), reader.text("a type"), reader.rest())
        case 3:
            frame = Response(reader.number(4, "a number"), reader.text("a type"), reader.rest())
        case 4:
            frame = Notification(reader.text("a type"), reader.rest())
        case 5:
            frame = Alive()
        case _:
            raise WireError(f"byte 0: no frame is of kind {kind}")
    if reader.at != len(content):
        raise WireError(f"byte {reader.at}: {len(content) - reader.at} bytes after the end")
    return frame


def _hello(reader: _Reader) -> Hello:
    version = reader.number(1, "a version")
    if version != VERSION:
        raise WireError(f"byte 1: expected version {VERSION}, found {version}")
    channels = reader.number(2, "a number of channels")
    return Hello(reader.text("a name"), channels)


class _Reader:
    """A place in a content that moves forward; whatever is missing is a WireError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, length: int, what: str) -> bytes:
        end = self.at + length
        if end > len(self._data):
            raise WireError(f"byte {self.at}: expected {what} of {length} bytes, the frame ends")
        taken, self.at = self._data[self.at : end], end
        return taken

    def number(self, size: int, what: str) -> int:
        return int.from_bytes(self.take(size, what), "big")

    def text(self, what: str) -> str:
        raw = self.take(self.number(1, f"the length of {what}"), what)
        if not raw:
            raise WireError(f"byte {self.at}: {what} is empty")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise WireError(f"byte {self.at}: expected {what} in UTF-8") from error

    def rest(self) -> bytes:
        return self.take(len(self._data) - self.at, "a body")


class Decoder:
    """Cuts a stream into contents. It holds at most one frame that is not complete."""

    def __init__(self, longest_body: int = LONGEST_BODY) -> None:
        self._longest = LARGEST_HEAD + longest_body
        self._buffer = bytearray()

    @property
    def held(self) -> int:
        """Bytes of the frame that is not complete."""
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The contents that are complete with these bytes, in order.

        Go through all of them before the next call. Errors: Oversized, after which the stream is of
        no use.
        """
        self._buffer += data
        at = 0
        try:
            while len(self._buffer) - at >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(self._buffer, at)
                if length > self._longest:
                    raise Oversized(f"a frame has at most {self._longest} bytes, not {length}")
                end = at + _LENGTH.size + length
                if len(self._buffer) < end:
                    break
                content = bytes(self._buffer[at + _LENGTH.size : end])
                at = end
                yield content
        finally:
            del self._buffer[:at]
