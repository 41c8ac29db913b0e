"""Containers that two names would hold."""

from lawful import Machine, Nat, transition


class Peer(Machine):
    sent: set[Nat] = set()
    acked: set[Nat] = set()
    windows: dict[Nat, set[Nat]] = {}
    queue: list[Nat] = []

    @transition()
    def same(self) -> None:
        self.acked = self.sent
        self.windows[1] = self.sent
        either = self.sent if len(self.acked) > 0 else self.acked
        either.add(1)
        window = self.windows.get(1)
        self.windows[1] = {1}
        if window is not None:
            window.add(2)

    @transition()
    def gone(self) -> None:
        old = self.queue
        self.queue = []
        old.append(1)

    @transition()
    def older(self) -> int:
        n = 0
        for k, window in self.windows.items():
            self.windows[k].add(5)
            n += len(window)
        return n
