"""Contents in a stream of bytes, and the fields of frames.

    frame := length:u32 content{length}
    line  := content LF

Integers are big-endian, and nothing is padded. What a content means says the `wire.py` of a
system.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator

LONGEST_TEXT = 255  # Bytes of UTF-8.

_LENGTH = struct.Struct("!I")


class WireError(ValueError):
    """These bytes are none of ours; the message says where, and what was expected."""


class Oversized(WireError):
    """A frame says that it is longer than any may be: nothing after it can be read."""


def framed(content: bytes) -> bytes:
    """The content after its length. Errors: struct.error for one of 2**32 bytes or more."""
    return _LENGTH.pack(len(content)) + content


def short_text(text: str, what: str) -> bytes:
    """Text after the number of its bytes, a u8. `what` names it in the error.

    Errors: ValueError if it is empty, or longer than LONGEST_TEXT.
    """
    raw = text.encode()
    if not 0 < len(raw) <= LONGEST_TEXT:
        raise ValueError(f"{what} has 1 to {LONGEST_TEXT} bytes of UTF-8, not {len(raw)}")
    return bytes((len(raw),)) + raw


class Reader:
    """A place in a content that moves forward. What is missing is a WireError."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.at = 0

    def take(self, length: int, what: str) -> bytes:
        """So many bytes, which `what` names in the error."""
        end = self.at + length
        if end > len(self._content):
            raise WireError(f"byte {self.at}: expected {what} of {length} bytes, the frame ends")
        taken, self.at = self._content[self.at : end], end
        return taken

    def number(self, size: int, what: str) -> int:
        """A number of `size` bytes."""
        return int.from_bytes(self.take(size, what), "big")

    def version(self, expected: int) -> None:
        """A version, a u8, which is the expected one."""
        found = self.number(1, "a version")
        if found != expected:
            raise WireError(f"byte {self.at - 1}: expected version {expected}, found {found}")

    def text(self, what: str) -> str:
        """What `short_text` made."""
        raw = self.take(self.number(1, f"the length of {what}"), what)
        if not raw:
            raise WireError(f"byte {self.at}: {what} is empty")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise WireError(f"byte {self.at}: expected {what} in UTF-8") from error

    def rest(self) -> bytes:
        """All bytes that are left."""
        return self.take(len(self._content) - self.at, "a body")

    def end(self) -> None:
        """The content ends here."""
        left = len(self._content) - self.at
        if left:
            raise WireError(f"byte {self.at}: {left} bytes after the end")


class Cutter(ABC):
    """Cuts a stream into contents. It holds at most one that is not complete."""

    def __init__(self, longest: int) -> None:
        """`longest`: bytes of a content at most."""
        self._longest = longest
        self._buffer = bytearray()

    @property
    def held(self) -> int:
        """Bytes of the content that is not complete."""
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The contents that are complete with these bytes, in order.

        Go through all of them before the next call. Errors: Oversized, after which the stream is of
        no use.
        """
        self._buffer += data
        at = 0
        try:
            while (found := self._found(self._buffer, at)) is not None:
                content, at = found
                yield content
        except Oversized:
            at = len(self._buffer)
            raise
        finally:
            del self._buffer[:at]

    @abstractmethod
    def _found(self, buffer: bytearray, at: int) -> tuple[bytes, int] | None:
        """The content that begins there, and where the next one does; None if it is not complete.
        Errors: Oversized."""


class Frames(Cutter):
    """Each content comes after its length."""

    def _found(self, buffer: bytearray, at: int) -> tuple[bytes, int] | None:
        begin = at + _LENGTH.size
        if len(buffer) < begin:
            return None
        (length,) = _LENGTH.unpack_from(buffer, at)
        if length > self._longest:
            raise Oversized(f"a frame has at most {self._longest} bytes, not {length}")
        end = begin + length
        return (bytes(buffer[begin:end]), end) if len(buffer) >= end else None


class Lines(Cutter):
    """Each content ends with a line feed."""

    def _found(self, buffer: bytearray, at: int) -> tuple[bytes, int] | None:
        end = buffer.find(b"\n", at)
        if (len(buffer) if end < 0 else end) - at > self._longest:
            raise Oversized(f"a line has at most {self._longest} bytes")
        return (bytes(buffer[at:end]), end + 1) if end >= 0 else None
