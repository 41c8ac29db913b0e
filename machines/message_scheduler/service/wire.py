"""Frames: between bytes of a TCP stream and what scheduler and peers say to each other.

A frame is a content after its length (`machines/services/framing.py`). All integers are big-endian,
nothing is padded:

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
from dataclasses import dataclass

from ...services.framing import LONGEST_TEXT, Reader, WireError, framed, short_text

VERSION = 1
LARGEST_NUMBER = 2**32 - 1
LONGEST_BODY = 16_000_000  # Bytes.
LARGEST_HEAD = 1 + 4 + 1 + LONGEST_TEXT  # Bytes of a content before its body.

_HELLO = struct.Struct("!BBH")
_NUMBERED = struct.Struct("!BI")


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
    return framed(_content(frame))


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
    return short_text(text, "a name or type")


def _bounded(body: bytes) -> bytes:
    if len(body) > LONGEST_BODY:
        raise ValueError(f"a body has at most {LONGEST_BODY} bytes, not {len(body)}")
    return body


def decode(content: bytes) -> Frame:
    """The frame of this content, without its length. Errors: WireError and no other."""
    reader = Reader(content)
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
    reader.end()
    return frame


def _hello(reader: Reader) -> Hello:
    reader.version(VERSION)
    channels = reader.number(2, "a number of channels")
    return Hello(reader.text("a name"), channels)
