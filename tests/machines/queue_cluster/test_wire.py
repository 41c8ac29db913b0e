"""The lines of the service: canonical, bounded, and no bytes do harm."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.machines.queue_cluster.joining import Count, Declared, Route
from lawful.machines.queue_cluster.ledger import Joined, Of
from lawful.machines.queue_cluster.messages import (
    Acquire,
    Bind,
    Cancel,
    Consume,
    Create,
    Declare,
    Dequeue,
    Destroy,
    Done,
    Enqueue,
    Exchange,
    Front,
    Gone,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Release,
    Requeue,
    Routed,
)
from lawful.machines.queue_cluster.service import frames
from lawful.machines.queue_cluster.service.wire import (
    LARGEST_NUMBER,
    Raw,
    decode,
    encode,
)
from lawful.machines.queue_cluster.system import Left
from lawful.machines.services.framing import Lines, Oversized, WireError

NAMES = st.text(
    st.characters(codec="utf-8"),
    min_size=1,
    max_size=8,
)
NODES, QUEUES, EXCHANGES = NAMES.map(Node), NAMES.map(QueueName), NAMES.map(Exchange)
NUMBERS, BODIES = st.integers(0, LARGEST_NUMBER), st.binary(max_size=20)
IDS = st.builds(MessageId, NODES, NUMBERS)
KEYS = st.builds(Key, IDS, QUEUES)
OWNING = st.one_of(st.just(Consume()), st.builds(Release, st.booleans()), st.just(Cancel()))
SAID: st.SearchStrategy[object] = st.one_of(
    st.builds(Of, QUEUES, NUMBERS, OWNING),
    st.builds(Create, NUMBERS, BODIES),
    st.builds(Routed, NUMBERS),
    *(st.builds(kind, KEYS) for kind in (Enqueue, Acquire, Requeue, Dequeue)),
    st.builds(Reject, KEYS, NUMBERS, st.none() | QUEUES, BODIES),
    st.builds(Declare, QUEUES),
    st.builds(Bind, EXCHANGES, QUEUES),
    st.builds(Destroy, QUEUES),
    st.builds(Joined, NODES),
    st.just(Left()),
)


def tuples(each: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(each, max_size=3).map(tuple)


TOLD: st.SearchStrategy[object] = st.one_of(
    st.builds(
        frames.Stall,
        tuples(st.builds(Declared, QUEUES, NUMBERS)),
        NUMBERS,
        tuples(st.builds(Bind, EXCHANGES, QUEUES)),
        tuples(st.builds(Count, NODES, NUMBERS)),
        tuples(st.builds(Route, IDS, st.frozensets(QUEUES, max_size=3), BODIES)),
        tuples(
            st.builds(frames.Interest, QUEUES, st.none() | NODES, st.frozensets(NODES, max_size=3))
        ),
    ),
    st.builds(Front, KEYS, BODIES, st.none() | NODES, st.booleans()),
    st.builds(Gone, KEYS),
    st.builds(Done, QUEUES),
)
COMMANDS: st.SearchStrategy[object] = st.one_of(
    st.builds(frames.DeclareQueue, NUMBERS, QUEUES),
    st.builds(frames.BindQueue, NUMBERS, EXCHANGES, QUEUES),
    st.builds(frames.DestroyQueue, NUMBERS, QUEUES),
    st.builds(frames.Publish, NUMBERS, EXCHANGES, BODIES),
    st.builds(frames.Send, NUMBERS, QUEUES, BODIES),
    st.builds(frames.Subscribe, NUMBERS, QUEUES, NUMBERS),
    st.builds(frames.Unsubscribe, NUMBERS, QUEUES),
    *(
        st.builds(kind, NUMBERS, QUEUES, NAMES)
        for kind in (frames.Accept, frames.Release, frames.Reject)
    ),
)
ANSWERS: st.SearchStrategy[object] = st.one_of(
    st.builds(frames.Welcome, NUMBERS, NAMES, NUMBERS),
    st.builds(frames.Completed, NUMBERS),
    st.builds(frames.Failed, NUMBERS, NAMES),
    st.builds(frames.Delivered, QUEUES, NAMES, BODIES, st.booleans()),
    st.builds(frames.Ended, QUEUES),
)
RAW = st.one_of(st.none(), st.integers(0, 9), NAMES, st.lists(NAMES, max_size=2)).map(Raw)
TO_BUS: st.SearchStrategy[object] = st.one_of(
    st.builds(frames.Join, NUMBERS, NAMES),
    st.builds(frames.Say, RAW),
    st.builds(frames.Tell, NODES, RAW),
    st.just(frames.Ready()),
    st.just(frames.Alive()),
)
FROM_BUS: st.SearchStrategy[object] = st.one_of(
    st.builds(frames.Member, NODES, NUMBERS, st.booleans()),
    st.builds(frames.Place, NUMBERS, NODES, RAW),
    st.builds(frames.Hand, NODES, RAW),
    st.just(frames.Ready()),
    st.just(frames.Alive()),
)
FORMATS = {
    frames.Command: COMMANDS,
    frames.Answer: ANSWERS,
    frames.FromMember: TO_BUS,
    frames.FromBus: FROM_BUS,
    frames.Said: SAID,
    frames.Told: TOLD,
}
FRAMES = st.one_of(*(st.tuples(st.just(k), s) for k, s in FORMATS.items()))


@given(FRAMES)
def test_a_frame_comes_back(made: tuple[object, object]) -> None:
    kinds, frame = made
    line = encode(frame, kinds)
    assert line.count(b"\n") == 1
    assert decode(line[:-1], kinds) == frame


@given(st.data(), FRAMES)
def test_a_damaged_line_is_another_frame_or_an_error(
    data: st.DataObject, made: tuple[object, object]
) -> None:
    kinds, frame = made
    line = bytearray(encode(frame, kinds)[:-1])
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(WireError):
        again = decode(bytes(line), kinds)
        assert decode(encode(again, kinds)[:-1], kinds) == again


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(st.data(), FRAMES, JSON)
def test_a_field_of_another_type_is_an_error_or_that_type(
    data: st.DataObject, made: tuple[object, object], value: object
) -> None:
    kinds, frame = made
    members = json.loads(encode(frame, kinds))
    members[data.draw(st.sampled_from(sorted(members)))] = value
    with contextlib.suppress(WireError):
        again = decode(json.dumps(members).encode(), kinds)
        assert decode(encode(again, kinds)[:-1], kinds) == again


@given(st.binary(max_size=60), st.sampled_from(list(FORMATS)))
def test_any_bytes_are_a_frame_or_an_error(line: bytes, kinds: object) -> None:
    with contextlib.suppress(WireError):
        decode(line, kinds)


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_lines_hold_one_line_at_most(chunks: list[bytes]) -> None:
    lines, given_, back = Lines(100), b"".join(chunks), list[bytes]()
    try:
        for chunk in chunks:
            back += lines.feed(chunk)
            assert lines.held <= 100
    except Oversized:
        assert lines.held == 0
        assert max(map(len, given_.split(b"\n"))) > 100
    else:
        assert back == given_.split(b"\n")[:-1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"", "expected a line of JSON, found b''"),
        (b"[" * 100_000, f"expected a line of JSON, found {b'[' * 40!r}"),
        (b"[]", "line: expected a kind of Alive, Join, Ready, Say, Tell, found None"),
        (b'{"kind":"Go"}', "line: expected a kind of Alive, Join, Ready, Say, Tell, found 'Go'"),
        (
            b'{"kind":"Join","name":"A"}',
            "line: expected an object with version, name, found ['name']",
        ),
        (
            b'{"kind":"Join","version":true,"name":"A"}',
            f"line.version: expected a whole number from 0 to {LARGEST_NUMBER}, found True",
        ),
        (
            b'{"kind":"Join","version":1,"name":""}',
            "line.name: expected a string of 1 to 200 characters, found ''",
        ),
    ],
)
def test_an_error_says_where_and_what_was_expected(line: bytes, message: str) -> None:
    with pytest.raises(WireError) as error:
        decode(line, frames.FromMember)
    assert str(error.value) == message


def test_bodies_are_canonical_base64() -> None:
    for body in ("A", "QQ", "QR==", "Q Q==", 3, None):
        line = json.dumps({"kind": "Create", "seq": 1, "body": body}).encode()
        with pytest.raises(WireError, match=r"line.body: expected Base64, found"):
            decode(line, frames.Said)
