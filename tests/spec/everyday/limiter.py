"""A token bucket for each client."""

from lawful import Expect, Machine, Nat, Scope, Sort, invariant, require, transition

CAPACITY = 3
PLANS = {"free": 1, "paid": 2}


class Client(Sort): ...


class Limiter(Machine):
    tokens: dict[Client, Nat] = {}

    @transition
    def register(self, client: Client, *, tokens: Nat = CAPACITY) -> None:
        require(client not in self.tokens, f"{client} is known")
        require(tokens <= CAPACITY, "too many tokens")
        self.tokens |= {client: tokens}

    @transition
    def request(self, client: Client, cost: Nat = 1) -> bool:
        require(client in self.tokens, f"unknown client {client}")
        require(cost > 0, "a request costs something")
        if self.tokens[client] < cost:
            return False
        self.tokens[client] -= cost
        return True

    @transition
    def refill(self) -> None:
        self.tokens = {c: min(CAPACITY, n + PLANS["paid"]) for c, n in self.tokens.items()}

    @transition
    def forget(self, client: Client) -> None:
        del self.tokens[client]

    @invariant
    def within_capacity(self) -> bool:
        return all(n <= CAPACITY for n in self.tokens.values())

    expects = Expect(undefined="undefined")
    scope = Scope(Client=2, Nat=range(0, 4))
