from collections import defaultdict
from typing import Annotated

from annotated_types import Interval

from lawful import Machine, Scope, Sort, invariant, require, transition

Tokens = Annotated[int, Interval(ge=0, le=3)]


class User(Sort): ...


class RateLimiter(Machine):
    """A token bucket for each user."""

    CAPACITY = 3
    REFILL = 2

    buckets: dict[User, Tokens] = {}
    banned: set[User] = set()
    strikes: defaultdict[User, Tokens] = defaultdict(int)

    def level(self, user: User) -> Tokens:
        return self.buckets.get(user, self.CAPACITY)

    @transition
    def request(self, user: User, cost: Tokens) -> bool:
        require(user not in self.banned, f"{user!r} is banned")
        require(cost)
        level = self.level(user)
        if (rest := level - cost) < 0:
            self.strikes[user] = min(self.strikes[user] + 1, self.CAPACITY)
            if self.strikes[user] >= 3:
                self.banned |= {user}
                self.buckets.pop(user, None)
                self.strikes.pop(user)
            return False
        self.buckets[user] = rest
        return True

    @transition
    def refill(self) -> None:
        self.buckets = {u: min(n + self.REFILL, self.CAPACITY) for u, n in self.buckets.items()}
        for user in list(self.buckets):
            if self.buckets[user] == self.CAPACITY:
                del self.buckets[user]

    @transition
    def pardon(self, user: User) -> None:
        if user not in self.banned:
            raise KeyError(user)
        self.banned.remove(user)

    @transition
    def transfer(self, giver: User, taker: User) -> None:
        require(giver != taker and giver not in self.banned and taker not in self.banned)
        a, b = self.level(giver), self.level(taker)
        require(a > 0 and b < self.CAPACITY)
        self.buckets.update({giver: a - 1, taker: b + 1})

    def poorest(self) -> User | None:
        if not self.buckets:
            return None
        return sorted(self.buckets.items(), key=lambda item: item[1])[0][0]

    @invariant
    def within_capacity(self) -> bool:
        return all(0 <= n <= self.CAPACITY for n in self.buckets.values())

    @invariant
    def banned_have_nothing(self) -> bool:
        return self.banned.isdisjoint(self.buckets.keys())

    scope = Scope(User=2)
