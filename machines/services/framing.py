"""Contents in a stream of bytes, each after its length, and their fields.

    frame := length:u32 content{length}

Integers are big-endian, and nothing is padded. What a content means says the `wire.py` of a
system.
"""

from __future__ import annotations

import struct
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


class Frames:
    """Cuts a stream into contents. It holds at most one frame that is not complete."""

    def __init__(self, longest: int) -> None:
        """`longest`: bytes of a content at most."""
        self._longest = longest
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
