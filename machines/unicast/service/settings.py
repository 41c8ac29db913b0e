"""The configuration of an endpoint, and the statistics that it reports."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from lawful.runtime.instance import Machine

from ...services.limits import check_ranges, check_seconds
from ..declaration import Conn
from ..messages import Dropped
from .wire import LARGEST_DATAGRAM, LONGEST_PAYLOAD

LARGEST_WINDOW = 4_096  # Messages; more unacknowledged ones no endpoint may have.
LARGEST_EPOCH = 2**63  # As many connection ids again are left for one life.


@dataclass(frozen=True)
class Config:
    """How an endpoint behaves; times in seconds.

    `xmit_interval`: between two rounds of the one periodic task, which fires timers, resends and
    requests (500 ms in the seed), see `pause`. `ack_interval`: least time between two
    acknowledgements to one peer. `conn_expiry_timeout`: after so long without activity a
    connection begins to close, 0: never. `conn_close_timeout`: and after so long again it is
    gone. `window`: messages to one peer that may be unacknowledged, and `window_bytes` their bytes
    (one message always may); then `send` waits. What is more than the sockets' buffers hold is
    lost on a network that loses nothing. `inbox`:
    payloads delivered that the application has not taken; then delivery waits, acknowledgements
    with it, and so in the end the sender. `largest_datagram` (bytes) and `most_messages` bound
    what one datagram carries, unless it is a single message. `largest_payload`: bytes that `send`
    takes; more than `largest_part` of them go in several messages. A payload of more parts than
    `most_parts` at the endpoint that it is for is not delivered, and its sender is told.
    Errors: ValueError for a value out of its range.
    """

    xmit_interval: float = 0.5
    ack_interval: float = 0.5
    conn_expiry_timeout: float = 120.0
    conn_close_timeout: float = 60.0
    window: int = 64
    window_bytes: int = 131_072
    inbox: int = 1_024
    largest_datagram: int = 1_400
    most_messages: int = 64
    largest_part: int = LONGEST_PAYLOAD - 1
    largest_payload: int = 2**24

    def __post_init__(self) -> None:
        check_seconds(self, ("xmit_interval", "ack_interval", "conn_close_timeout"))
        if not 0.0 <= self.conn_expiry_timeout < float("inf"):
            raise ValueError(f"conn_expiry_timeout is >= 0, not {self.conn_expiry_timeout}")
        limits = {
            "window": LARGEST_WINDOW,
            "window_bytes": 2**31,
            "inbox": 2**31,
            "largest_datagram": LARGEST_DATAGRAM,
            "most_messages": 2**16 - 1,
            "largest_part": LONGEST_PAYLOAD - 1,
            "largest_payload": 2**31,
        }
        check_ranges(self, {name: (1, most) for name, most in limits.items()})
        if self.window + self.most_parts > LARGEST_WINDOW:
            have = f"{self.window} and {self.most_parts}"
            raise ValueError(
                f"window and the parts of largest_payload are at most {LARGEST_WINDOW} together,"
                f" not {have}"
            )

    @property
    def most_parts(self) -> int:
        """How many parts the largest payload has."""
        return -(-self.largest_payload // self.largest_part)

    def pause(self, busy: float) -> float:
        """Seconds until the next round, after `busy` seconds of work since the last one began.

        Requests must not outrun their answers: an endpoint that is slow would ask again for what
        already waits in its socket, and be slower still. So it takes a quarter of the time for
        its work, though a round never comes later than twenty intervals after the last (U17).
        """
        return min(max(self.xmit_interval, 4 * busy), 20 * self.xmit_interval)


class Clock(Protocol):
    """What entries take the time from: seconds. While it goes back, no time passes."""

    def now(self) -> float: ...


class Recorder(Protocol):
    """Hears of each event of a machine: a `Journal`."""

    def attach(self, entry: Machine, instance: str) -> Callable[[], None]: ...


class LoopClock:
    """The running event loop's clock."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def now(self) -> float:
        return self._loop.time()


@dataclass(frozen=True)
class Options:
    """What an endpoint works with besides its configuration.

    `clock`: by default the event loop's. `journal`: receives a row for each event of each entry,
    under the instances "A>B/sender" and "A>B/receiver"; one journal serves one life of an
    endpoint. `key`: a secret that all endpoints share; with it datagrams of others are dropped, and
    counted as `forged`. `epoch`: the connection ids of this life are greater than it; it must grow
    from one life of a name to the next, by default it is the wall clock's microseconds (U-B5).
    `on_dropped`: is told the peer that did not answer, up to which message it has delivered all,
    and which are in doubt: it may have delivered the first few of them, or may do so later. It is
    also told of payloads that the peer acknowledged and did not take, since they have more parts
    than it takes: these are lost, unless another life of it has got them. What it raises is told to
    the event loop's exception handler, counted as `raised`, and does no harm.
    Errors: ValueError for an epoch that leaves no room in datagrams for connection ids.
    """

    clock: Clock | None = None
    journal: Recorder | None = None
    epoch: int | None = None
    on_dropped: Callable[[str, Dropped], None] | None = None
    key: bytes = b""

    def __post_init__(self) -> None:
        if self.epoch is not None and not 0 <= self.epoch <= LARGEST_EPOCH:
            raise ValueError(f"an epoch is from 0 to {LARGEST_EPOCH}, not {self.epoch}")


@dataclass(frozen=True)
class ConnectionStats:
    """Both directions with one peer, read from the machines: states and sequence numbers."""

    sending: Conn
    sent: int
    acked: int
    unacked: int
    receiving: Conn
    expected: int
    buffered: int


@dataclass(frozen=True)
class EndpointStats:
    """What an endpoint did since it was opened.

    Datagrams that came in and were dropped: `malformed` (no datagram of ours), `misdirected`
    (meant for another endpoint), `unknown` (from a peer that was not connected), `forged` (not
    sealed with the key). Messages:
    `refused` by the machine, about a `former` life of this endpoint, `beyond` any window a peer
    may have. Payloads that are `broken`: their parts do not fit together, or are more than
    `largest_payload` has here. `messages_sent` and
    `messages_received` by kind ("Data", "Ack", ...). Payloads: `accepted` from the application,
    `delivered` to it, `in_doubt` when it was told of them, and of these `too_large` for the peer;
    `raised`: exceptions of `on_dropped`.
    """

    datagrams_sent: int
    datagrams_received: int
    malformed: int
    misdirected: int
    unknown: int
    forged: int
    refused: int
    former: int
    beyond: int
    broken: int
    accepted: int
    delivered: int
    in_doubt: int
    too_large: int
    raised: int
    send_errors: int
    messages_sent: Mapping[str, int]
    messages_received: Mapping[str, int]
    connections: Mapping[str, ConnectionStats]

    @classmethod
    def of(
        cls,
        counts: Counter[str],
        sent: Mapping[str, int],
        received: Mapping[str, int],
        connections: Mapping[str, ConnectionStats],
    ) -> EndpointStats:
        """Statistics of what was counted by these names."""
        return cls(
            datagrams_sent=counts["datagrams_sent"],
            datagrams_received=counts["datagrams_received"],
            malformed=counts["malformed"],
            misdirected=counts["misdirected"],
            unknown=counts["unknown"],
            forged=counts["forged"],
            refused=counts["refused"],
            former=counts["former"],
            beyond=counts["beyond"],
            broken=counts["broken"],
            accepted=counts["accepted"],
            delivered=counts["delivered"],
            in_doubt=counts["in_doubt"],
            too_large=counts["too_large"],
            raised=counts["raised"],
            send_errors=counts["send_errors"],
            messages_sent=sent,
            messages_received=received,
            connections=connections,
        )
