"""Two base classes."""

from lawful import Machine, Nat


class Entry(Machine):
    sent: Nat = 0


class Logged:
    pass


class Peer(Entry, Logged):
    received: Nat = 0
