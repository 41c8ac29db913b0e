"""The frames of the service: canonical, bounded, and no bytes do harm."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.machines.message_scheduler.service.wire import (
    LARGEST_HEAD,
    LARGEST_NUMBER,
    LONGEST_BODY,
    Alive,
    Frame,
    Hello,
    Notification,
    Request,
    Response,
    decode,
    encode,
)
from lawful.machines.services.framing import Frames, Oversized, WireError

TEXTS = st.text(min_size=1, max_size=8)
NUMBERS = st.integers(0, LARGEST_NUMBER)
BODIES = st.binary(max_size=20)
FRAMES: st.SearchStrategy[Frame] = st.one_of(
    st.builds(Hello, TEXTS, st.integers(0, 2**16 - 1)),
    st.builds(Request, NUMBERS, TEXTS, BODIES),
    st.builds(Response, NUMBERS, TEXTS, BODIES),
    st.builds(Notification, TEXTS, BODIES),
    st.just(Alive()),
)


@given(st.lists(FRAMES, max_size=4), st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_frames_come_back_however_the_stream_is_cut(frames: list[Frame], cuts: list[int]) -> None:
    stream, back = b"".join(map(encode, frames)), list[Frame]()
    cutter = Frames(LARGEST_HEAD + 20)
    turn = 0
    while stream:
        size = cuts[turn % len(cuts)]
        back += map(decode, cutter.feed(stream[:size]))
        stream, turn = stream[size:], turn + 1
    assert back == frames
    assert cutter.held == 0


@given(st.binary(max_size=60))
def test_bytes_are_a_frame_that_encodes_to_them_or_an_error(content: bytes) -> None:
    try:
        frame = decode(content)
    except WireError:
        return
    assert encode(frame) == len(content).to_bytes(4, "big") + content


@given(st.data(), FRAMES)
def test_a_damaged_frame_is_another_one_or_an_error(data: st.DataObject, frame: Frame) -> None:
    content = bytearray(encode(frame)[4:])
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(WireError):
        assert encode(decode(bytes(content)))[4:] == content


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_the_frames_of_a_stream_hold_one_frame_at_most(chunks: list[bytes]) -> None:
    cutter = Frames(LARGEST_HEAD + 100)
    try:
        for chunk in chunks:
            for content in cutter.feed(chunk):
                assert len(content) <= LARGEST_HEAD + 100
            assert cutter.held < 4 + LARGEST_HEAD + 100
    except Oversized:
        assert cutter.held <= 4 + LARGEST_HEAD + 100 + 300


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "byte 0: expected a kind of 1 bytes, the frame ends"),
        (b"\x09", "byte 0: no frame is of kind 9"),
        (b"\x01\x02\x00\x01\x01A", "byte 1: expected version 1, found 2"),
        (b"\x01\x01\x00\x01\x00", "byte 5: a name is empty"),
        (b"\x03\x00\x00", "byte 1: expected a number of 4 bytes, the frame ends"),
        (b"\x04\x01\xff", "byte 3: expected a type in UTF-8"),
        (b"\x05\x00", "byte 1: 1 bytes after the end"),
    ],
)
def test_an_error_says_where_and_what_was_expected(content: bytes, message: str) -> None:
    with pytest.raises(WireError) as error:
        decode(content)
    assert str(error.value) == message


def test_what_the_format_has_no_room_for_is_not_encoded() -> None:
    for frame in (
        Request(2**32, "t", b""),
        Hello("", 1),
        Notification("t" * 256, b""),
        Response(1, "t", bytes(LONGEST_BODY + 1)),
    ):
        with pytest.raises(ValueError, match=r"fit the format|bytes"):
            encode(frame)


def test_a_length_beyond_the_limit_is_an_error_before_anything_is_kept() -> None:
    cutter = Frames(LARGEST_HEAD + 10)
    with pytest.raises(Oversized, match="at most 271 bytes, not 272"):
        list(cutter.feed((272).to_bytes(4, "big")))
