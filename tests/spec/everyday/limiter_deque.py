"""At most so many calls in a window, per client."""

from collections import Counter

from lawful import (
    Clock,
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    invariant,
    reachable,
    require,
    transition,
)

WINDOW = 2


class Client(Sort):
    """Who calls."""


class RateLimiter(Machine):
    calls: dict[Client, list[Nat]] = {}
    blocked: set[Client] = set()
    refusals: Counter[Client] = Counter()
    clock: Clock = Clock(tick=1)
    limit: Param[Nat] = 2

    def _evict(self, client: Client) -> None:
        window = self.calls.setdefault(client, [])
        while window and window[0] + WINDOW <= self.clock.now:
            window.pop(0)

    def _recent(self, client: Client) -> list[Nat]:
        return [at for at in self.calls.get(client, []) if at + WINDOW > self.clock.now]

    @transition
    def call(self, client: Client) -> bool:
        require(client not in self.blocked, f"{client} is blocked")
        recent = self._recent(client)
        if len(recent) >= self.limit:
            self.refusals[client] += 1
            if self.refusals[client] > 1:
                self.blocked.add(client)
            return False
        self.calls[client] = [*recent, self.clock.now]
        return True

    @transition
    def unblock(self, client: Client) -> Nat:
        self.blocked.remove(client)
        count = self.refusals[client]
        del self.refusals[client]
        return count

    @transition
    def oldest(self, client: Client) -> Nat | None:
        return next(iter(self._recent(client)), None)

    @transition
    def busiest(self) -> set[Client]:
        most = max((len(c) for c in self.calls.values()), default=0)
        return {client for client, calls in self.calls.items() if len(calls) == most}

    @transition
    def forget(self) -> Nat:
        idle = [c for c in self.calls if not self._recent(c)]
        for client in idle:
            del self.calls[client]
        return len(idle)

    @invariant
    def within_limit(self) -> bool:
        return all(len(calls) <= self.limit for calls in self.calls.values())

    @invariant
    def blocked_were_refused(self) -> bool:
        return not any([self.refusals[c] < 2 for c in self.blocked])

    @reachable
    def someone_is_blocked(self) -> bool:
        return bool(self.blocked)

    deadlock_ok = True
    scope = Scope(Client=1, Nat=range(0, 4), calls=2, clock=3, refusals=2, limit=(1, 2))
