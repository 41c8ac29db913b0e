from lawful import Machine, Nat, Scope, Sort, invariant, require, transition


class Client(Sort): ...


class LeaseManager(Machine):
    """Leases with fencing tokens, simulated by a logical clock."""

    now: Nat = 0
    holder: Client | None = None
    until: Nat = 0
    token: Nat = 0
    waiting: list[Client] = []
    history: dict[Client, list[Nat]] = {}

    @property
    def expired(self) -> bool:
        return self.holder is None or self.now >= self.until

    def remaining(self) -> int:
        return 0 if self.expired else self.until - self.now

    def _grant(self, client: Client) -> Nat:
        self.holder = client
        self.until = self.now + 1
        self.token += 1
        tokens = self.history.setdefault(client, [])
        tokens.append(self.token)
        return self.token

    @transition
    def acquire(self, client: Client) -> Nat | None:
        require(self.token < 2, "enough for now")
        if not self.expired:
            if client != self.holder and client not in self.waiting:
                self.waiting.append(client)
            return None
        return self._grant(client)

    @transition
    def renew(self, client: Client) -> None:
        require(client == self.holder and not self.expired, f"{client} does not hold the lease")
        self.until = max(self.until, self.now + 1)

    @transition
    def release(self, client: Client) -> None:
        require(self.holder == client)
        self.holder = None
        if self.waiting and self.token < 2:
            nxt, *self.waiting = self.waiting
            self._grant(nxt)

    @transition
    def pass_time(self) -> None:
        require(self.now < 2)
        self.now += 1

    @transition
    def write(self, token: Nat) -> bool:
        newest = max((t for tokens in self.history.values() for t in tokens), default=0)
        return token == newest != 0

    @invariant
    def tokens_grow(self) -> bool:
        return all(tokens == sorted(tokens) for tokens in self.history.values())

    @invariant
    def nobody_waits_for_himself(self) -> bool:
        return self.holder not in self.waiting or self.expired

    scope = Scope(Nat=range(0, 4), Client=2, waiting=2, history=2)
