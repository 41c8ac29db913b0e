"""The bytes of a sender's window, which are counted as messages come and go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lawful.machines.unicast.declaration import Conn, SenderEntryFixed
from lawful.machines.unicast.messages import Ack
from lawful.machines.unicast.service.peer import WindowBytes
from lawful.runtime.timers import SimulatedClock

# A number: a payload of so many bytes is sent. "ack": the first half is acknowledged.
STEPS = st.lists(st.one_of(st.integers(0, 5), st.sampled_from(["ack", "end", "look"])), max_size=30)


@given(STEPS)
def test_they_are_those_of_the_messages_in_the_window(steps: list[int | str]) -> None:
    clock = SimulatedClock()
    sender = SenderEntryFixed(clock=clock)
    under_way = WindowBytes(sender)
    for step in steps:
        match step:
            case int():
                sender.send(bytes(step))
            case "ack":
                half = (sender.highest_acked + sender.highest_sent + 1) // 2
                sender.ack(Ack(half, sender.conn))
            case "end":
                sender.close()
                sender.lawful.fire_due(clock.advance(500.0))
                assert sender.state == Conn.CLOSED
            case _:
                assert under_way.now() == sum(map(len, sender.window.values()))
    assert under_way.now() == sum(map(len, sender.window.values()))
