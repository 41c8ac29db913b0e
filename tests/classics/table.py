"""The machines of this folder with their figures: pinned ones, and what was published."""

from __future__ import annotations

from dataclasses import dataclass

from lawful import Machine
from tests.classics import (
    allocator,
    alternating_bit,
    async_termination,
    chang_roberts,
    channel,
    coffee_can,
    commit,
    echo,
    ewd840,
    fifo,
    jugs,
    lamport_mutex,
    majority,
    memory,
    paxos,
    peterson,
    philosophers,
    ping_pong,
    prisoners,
    readers_writers,
    simple,
    smokers,
    tcp,
    token_ring,
    two_phase,
)

Counts = tuple[int, int, int]


@dataclass(frozen=True)
class Classic:
    """`published` are distinct, generated and depth where somebody published them.

    docs/classics.md says which of them were read at the source, and which were not.
    """

    machine: type[Machine]
    counts: Counts
    published: tuple[int, int | None, int | None]


def _same(machine: type[Machine], counts: Counts) -> Classic:
    return Classic(machine, counts, counts)


CLASSICS = (
    _same(jugs.Jugs, jugs.COUNTS),
    _same(peterson.Peterson, peterson.COUNTS),
    _same(commit.TCommit, commit.COUNTS),
    _same(two_phase.TwoPhase, two_phase.COUNTS),
    Classic(paxos.Paxos, paxos.COUNTS, (3921, 23563, 17)),
    _same(alternating_bit.AlternatingBit, alternating_bit.COUNTS),
    _same(channel.Channel, channel.COUNTS),
    _same(fifo.Fifo, fifo.COUNTS),
    _same(tcp.Tcp, tcp.COUNTS),
    Classic(ping_pong.LossyPingPong, ping_pong.LOSSY_COUNTS, (4094, None, None)),
    Classic(ping_pong.PerfectPingPong, ping_pong.PERFECT_COUNTS, (11, None, None)),
    _same(memory.Memory, memory.MEMORY_COUNTS),
    _same(memory.WriteThroughCache, memory.CACHE_COUNTS),
    Classic(ewd840.TerminationDetection, ewd840.COUNTS, (1566, 15986, 12)),
    _same(chang_roberts.ChangRoberts, chang_roberts.COUNTS),
    _same(echo.Echo, echo.COUNTS),
    _same(allocator.SimpleAllocator, allocator.SIMPLE_COUNTS),
    _same(allocator.SchedulingAllocator, allocator.SCHEDULING_COUNTS),
    _same(philosophers.Philosophers, philosophers.COUNTS),
    _same(prisoners.Prisoners, prisoners.COUNTS),
    _same(coffee_can.CoffeeCan, coffee_can.COUNTS),
    _same(majority.Majority, majority.COUNTS),
    _same(simple.Simple, simple.COUNTS),
    _same(smokers.CigaretteSmokers, smokers.COUNTS),
)

# Explored by `make nightly`.
LARGE = (
    _same(async_termination.AsyncTerminationDetection, async_termination.COUNTS),
    _same(readers_writers.ReadersWriters, readers_writers.COUNTS),
    _same(token_ring.TokenRing, token_ring.COUNTS),
    _same(lamport_mutex.LamportMutex, lamport_mutex.COUNTS),
)
