"""A token bucket and a sliding window."""

from enum import Enum

from lawful import Clock, Machine, Nat, Param, Scope, invariant, require, transition


class Decision(Enum):
    ALLOW = "allow"
    DENY = "deny"


class TokenBucket(Machine):
    capacity: Param[int] = 3
    refill: Param[int] = 1
    tokens: int = 3
    denied: int = 0

    @transition
    def tick(self) -> None:
        self.tokens = min(self.capacity, self.tokens + self.refill)

    @transition
    def request(self, cost: int = 1) -> Decision:
        require(cost > 0)
        if cost <= self.tokens:
            self.tokens -= cost
            return Decision.ALLOW
        else:
            self.denied = min(self.denied + 1, 5)
        return Decision.DENY

    @invariant
    def tokens_in_range(self) -> bool:
        return 0 <= self.tokens <= self.capacity

    scope = Scope(int=range(-1, 6))


class SlidingWindow(Machine):
    """At most `limit` requests in the last `window` ticks."""

    clock: Clock = Clock(tick=1.0)
    hits: list[int] = []
    limit: Param[Nat] = 2
    window: Param[Nat] = 3

    def _forget_old(self) -> None:
        now = self.clock.now
        self.hits = [t for t in self.hits if now - t < self.window]

    @transition
    def hit(self) -> bool:
        self._forget_old()
        if len(self.hits) < self.limit:
            self.hits.append(self.clock.now)
            return True
        return False

    @transition
    def peek(self) -> int:
        self._forget_old()
        remaining = self.limit - len(self.hits)
        return max(remaining, 0)

    @invariant
    def limited(self) -> bool:
        return len(self.hits) <= self.limit

    @invariant
    def in_order(self) -> bool:
        return all(a <= b for a, b in zip(self.hits, self.hits[1:], strict=False))

    scope = Scope(Nat=range(0, 6), clock=5, hits=2)
