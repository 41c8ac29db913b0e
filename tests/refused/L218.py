"""Collections that are changed while a loop goes through them."""

from lawful import Machine, Nat, transition


class Peer(Machine):
    window: dict[Nat, Nat] = {}
    queue: list[Nat] = []
    seen: set[Nat] = set()

    @transition()
    def purge(self, upto: Nat) -> None:
        for seqno in self.window:
            if seqno <= upto:
                del self.window[seqno]

    @transition()
    def double(self) -> None:
        for item in self.queue:
            self.queue.append(item)

    @transition()
    def close(self) -> None:
        for item in self.seen:
            self.seen |= {item}
