"""Datagrams: what is encoded decodes to the same, and nothing else decodes."""

from __future__ import annotations

import operator
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.machines.unicast.messages import Ack, Close, Data, Message, SendFirst, XmitReq
from lawful.machines.unicast.service.wire import (
    ASKS,
    LARGEST_DATAGRAM,
    LONGEST_NAME,
    LONGEST_PAYLOAD,
    MAGIC,
    MOST_PARTS,
    MOST_REQUESTED,
    Batch,
    WireError,
    decode,
    encode,
    pack,
)

NUMBERS = st.integers(0, 2**64 - 1)
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
HEADS = st.sampled_from([bytes((head,)) for head in range(8)])
PARTS: st.SearchStrategy[bytes] = st.builds(operator.add, HEADS, st.binary(max_size=80))
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(Data, seqno=NUMBERS, conn=NUMBERS, first=st.booleans(), payload=PARTS),
    st.builds(Ack, seqno=NUMBERS, conn=NUMBERS),
    st.builds(SendFirst, conn=NUMBERS),
    st.builds(XmitReq, conn=NUMBERS, missing=st.frozensets(NUMBERS, max_size=8)),
    st.builds(Close, conn=NUMBERS),
)
BATCHES = st.builds(
    Batch,
    source=NAMES,
    target=NAMES,
    messages=st.lists(MESSAGES, min_size=1, max_size=5).map(tuple),
    most_parts=st.integers(1, MOST_PARTS),
)
FIRST = Data(seqno=1, conn=7, first=True, payload=b"\x03hello")
HELLO = Batch("A", "B", (FIRST, Ack(seqno=3, conn=2)), 280)


HEADER = b"\x01A\x01B\x01\x18"  # From A, which takes 280 parts, to B.


def sealed(content: bytes) -> bytes:
    """The content under a checksum that is right."""
    return MAGIC + zlib.crc32(content).to_bytes(4, "big") + content


def message(content: str) -> bytes:
    """A datagram from A to B with one message, given in hexadecimal."""
    return sealed(HEADER + b"\x00\x01" + bytes.fromhex(content))


def decodes_or_is_refused(datagram: bytes) -> bool:
    """Whether it decodes, then to what encodes to it; whatever is raised is a WireError."""
    try:
        batch = decode(datagram)
    except WireError:
        return False
    assert encode(batch) == datagram
    return True


def test_the_format_is_this() -> None:
    content = (
        "01 41  01 42  0118  0002"
        "01 0000000000000007 0000000000000001 01 0006 0368656c6c6f"
        "02 0000000000000002 0000000000000003"
    )
    assert encode(HELLO) == sealed(bytes.fromhex(content))
    assert encode(HELLO)[:4] == b"LU3\x07"


def test_a_datagram_without_messages_says_what_its_source_takes_or_asks_it() -> None:
    for most_parts in (ASKS, 1, MOST_PARTS):
        batch = Batch("A", "B", (), most_parts)
        assert decode(encode(batch)) == batch
        assert encode(batch)[8:] == b"\x01A\x01B" + most_parts.to_bytes(2, "big") + b"\x00\x00"


@given(BATCHES)
def test_what_is_encoded_decodes_to_the_same(batch: Batch) -> None:
    assert decode(encode(batch)) == batch


@given(BATCHES, st.data())
def test_a_datagram_cut_short_is_refused(batch: Batch, data: st.DataObject) -> None:
    datagram = encode(batch)
    length = data.draw(st.integers(0, len(datagram) - 1))
    assert not decodes_or_is_refused(datagram[:length])


@given(BATCHES, st.data())
def test_a_flipped_bit_is_refused(batch: Batch, data: st.DataObject) -> None:
    datagram = bytearray(encode(batch))
    bit = data.draw(st.integers(0, 8 * len(datagram) - 1))
    datagram[bit // 8] ^= 1 << bit % 8
    assert not decodes_or_is_refused(bytes(datagram))


def test_every_cut_and_every_flip_of_one_datagram_is_refused() -> None:
    datagram = encode(HELLO)
    for length in range(len(datagram)):
        assert not decodes_or_is_refused(datagram[:length])
    for bit in range(8 * len(datagram)):
        flipped = int.from_bytes(datagram, "big") ^ (1 << bit)
        assert not decodes_or_is_refused(flipped.to_bytes(len(datagram), "big"))


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_are_refused(content: bytes) -> None:
    decodes_or_is_refused(content)


@given(st.binary(max_size=60))
def test_any_content_under_a_right_checksum_decodes_or_is_refused(content: bytes) -> None:
    decodes_or_is_refused(sealed(content))
    decodes_or_is_refused(sealed(HEADER + b"\x00\x01" + content))


@given(BATCHES, st.data())
def test_a_damaged_structure_under_a_right_checksum_decodes_or_is_refused(
    batch: Batch, data: st.DataObject
) -> None:
    content = bytearray(encode(batch)[8:])
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    decodes_or_is_refused(sealed(bytes(content)))


ZERO = "0000000000000000"
WRONG = {
    "expected a datagram that begins with": b"LU3\x05" + encode(HELLO)[4:],
    "expected the checksum of 4 bytes, the datagram ends": MAGIC + b"\x00\x00",
    "the checksum is another": encode(HELLO)[:-1] + b"\x00",
    "expected that the source takes 1 part or more": sealed(
        b"\x01A\x01B\x00\x00\x00\x01" + bytes(9)
    ),
    "expected the number of parts that the source takes of 2 bytes": sealed(b"\x01A\x01B\x00"),
    "expected the kind of a message of 1 bytes": sealed(HEADER + b"\x00\x01"),
    "the source has no name": sealed(b"\x00\x01B\x00\x01\x00\x01" + bytes(9)),
    "expected the target in UTF-8": sealed(b"\x01A\x01\xff\x00\x01\x00\x01" + bytes(9)),
    "no message is of kind 0": message(f"00 {ZERO}"),
    "no message is of kind 6": message(f"06 {ZERO}"),
    "the mark of first data is 0 or 1, not 2": message(f"01 {ZERO} {ZERO} 02 0000"),
    "expected a payload of 3 bytes, the datagram ends": message(f"01 {ZERO} {ZERO} 01 0003 6868"),
    "expected the part of a payload, not b''": message(f"01 {ZERO} {ZERO} 01 0000"),
    "expected the part of a payload, not b'.x08'": message(f"01 {ZERO} {ZERO} 01 0001 08"),
    "requested numbers increase": message(f"04 {ZERO} 0002 {ZERO} {ZERO}"),
    "1 bytes after the last message": message(f"05 {ZERO} 00"),
}


@pytest.mark.parametrize("why", WRONG)
def test_what_is_wrong_is_said(why: str) -> None:
    with pytest.raises(WireError, match=why):
        decode(WRONG[why])


@given(st.lists(MESSAGES, max_size=12), st.integers(40, 300), st.integers(1, 6))
def test_packed_datagrams_carry_all_in_order_and_keep_the_limits(
    messages: list[Message], largest: int, most: int
) -> None:
    datagrams = list(pack(Batch("A", "B", tuple(messages), 7), largest, most))
    batches = [decode(datagram) for datagram in datagrams]
    assert {batch.most_parts for batch in batches} <= {7}
    assert [m for batch in batches for m in batch.messages] == messages
    for datagram, batch in zip(datagrams, batches, strict=True):
        assert len(batch.messages) <= most
        assert len(datagram) <= largest or len(batch.messages) == 1


def test_packing_leaves_no_room_unused() -> None:
    acks = tuple(Ack(seqno=n, conn=1) for n in range(10))
    assert [len(decode(d).messages) for d in pack(Batch("A", "B", acks, 7), most=4)] == [4, 4, 2]
    exactly_four = 16 + 4 * 17
    assert [len(d) for d in pack(Batch("A", "B", acks, 7), exactly_four)] == [84, 84, 50]
    assert len(list(pack(Batch("A", "B", acks, 7), exactly_four - 1))) == 4


def test_the_largest_message_fits_a_datagram_whatever_the_names() -> None:
    name = "n" * LONGEST_NAME
    data = Data(seqno=1, conn=1, first=True, payload=bytes(LONGEST_PAYLOAD))
    request = XmitReq(conn=1, missing=frozenset(range(MOST_REQUESTED)))
    for largest in (data, request):
        assert len(encode(Batch(name, name, (largest,), MOST_PARTS))) <= LARGEST_DATAGRAM


TOO_LARGE: dict[str, Message] = {
    "payload": Data(seqno=1, conn=1, first=True, payload=bytes(LONGEST_PAYLOAD + 1)),
    "numbers": XmitReq(conn=1, missing=frozenset(range(MOST_REQUESTED + 1))),
    "does not fit the format": Ack(seqno=2**64, conn=1),
}


@pytest.mark.parametrize("why", TOO_LARGE)
def test_what_is_too_large_is_not_encoded(why: str) -> None:
    with pytest.raises(ValueError, match=why):
        encode(Batch("A", "B", (TOO_LARGE[why],), 1))


@pytest.mark.parametrize(
    "batch",
    [
        Batch("", "B", HELLO.messages, 1),
        Batch("A", "B", HELLO.messages, 0),
        Batch("A", "B", HELLO.messages, MOST_PARTS + 1),
    ],
)
def test_a_datagram_has_names_and_a_limit(batch: Batch) -> None:
    with pytest.raises(ValueError, match="1 to"):
        encode(batch)


def test_data_marked_first_is_handled_first() -> None:
    first = Data(seqno=4, conn=1, first=True, payload=b"\x03")
    others = (
        Ack(seqno=1, conn=1),
        Data(seqno=5, conn=1, first=False, payload=b"\x03"),
        Close(conn=1),
    )
    assert Batch("A", "B", (*others, first), 1).in_order_of_handling() == [first, *others]
