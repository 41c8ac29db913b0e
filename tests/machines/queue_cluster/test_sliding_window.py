"""What a broker has under way: so many lines, and so many bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lawful.machines.queue_cluster.service.sliding_window import SlidingWindow


class Told:
    """A window, what it has sent, and whether it is full."""

    def __init__(self, lines: int, size: int) -> None:
        self.sent: list[bytes] = []
        self.full: list[bool] = []
        self.window = SlidingWindow(lines, size, self.sent.append, self.full.append)


def test_lines_and_bytes_are_limited() -> None:
    told = Told(3, 10)
    for line in (b"a", b"b", b"c", b"d", b"e", b"f"):
        told.window.add(line)
    assert (told.sent, told.full) == ([b"a", b"b", b"c"], [True])
    told.window.came_back()
    assert (told.sent, told.full) == ([b"a", b"b", b"c", b"d"], [True, False])
    told.window.add(b"1234567890")
    assert told.full == [True, False, True]
    for _ in range(4):
        told.window.came_back()
    assert told.sent == [b"a", b"b", b"c", b"d", b"e", b"f"]
    told.window.came_back()  # A line that is as long as all may be goes alone.
    assert (told.sent[-1], told.full) == (b"1234567890", [True, False, True, False])


@given(
    lines=st.integers(1, 4),
    size=st.integers(0, 12),
    moves=st.lists(st.none() | st.integers(0, 9), max_size=60),
)
def test_the_order_is_kept_and_the_limits_hold(
    lines: int, size: int, moves: list[int | None]
) -> None:
    """`moves`: a line of so many bytes is added, or for None the first one comes back."""
    told, added, back = Told(lines, size), list[bytes](), 0
    for move in moves:
        if move is not None:
            added.append(b"x" * move)
            told.window.add(added[-1])
        elif back < len(told.sent):
            told.window.came_back()
            back += 1
        under_way, waiting = told.sent[back:], added[len(told.sent) :]
        assert told.sent == added[: len(told.sent)]
        assert len(under_way) <= lines
        assert len(under_way) <= 1 or sum(map(len, under_way)) <= size
        if waiting:  # The next one has no room.
            assert under_way
            assert len(under_way) == lines or sum(map(len, (*under_way, waiting[0]))) > size
        full = len(waiting) >= lines or sum(map(len, waiting)) >= size
        assert (told.full[-1] if told.full else False) == full
    assert all(a != b for a, b in zip(told.full, told.full[1:], strict=False))
