"""A connection pool."""

from typing import NewType

from lawful import Machine, Param, Scope, Sort, invariant, reachable, require, transition


class Client(Sort):
    pass


ConnId = NewType("ConnId", int)


class Pool(Machine):
    size: Param[int] = 2
    created: int = 0
    idle: list[int] = []
    busy: dict[int, Client] = {}
    waiting: list[Client] = []

    @transition
    def acquire(self, client: Client) -> int | None:
        require(client not in self.busy.values(), "already has a connection")
        require(client not in self.waiting, "already waits")
        conn: int | None = None
        if self.idle:
            conn = self.idle.pop(0)
        elif self.created < self.size:
            conn = self.created
            self.created += 1
        if conn is None:
            self.waiting.append(client)
        else:
            self.busy[conn] = client
        return conn

    @transition
    def release(self, conn: int) -> Client | None:
        """Hand the connection to the next in line, if any."""
        require(conn in self.busy, "not in use")
        self.busy.pop(conn)
        if self.waiting:
            nxt = self.waiting.pop(0)
            self.busy[conn] = nxt
            return nxt
        self.idle.append(conn)
        return None

    @transition
    def broken(self, conn: int) -> None:
        owner = self.busy.get(conn)
        if owner is not None:
            del self.busy[conn]
        elif conn in self.idle:
            self.idle.remove(conn)
        else:
            require(False, "no such connection")
        self.created -= 1

    @invariant
    def not_both(self) -> bool:
        return not any(c in self.idle for c in self.busy)

    @invariant
    def no_more_than_size(self) -> bool:
        return len(self.busy) + len(self.idle) <= self.size

    @invariant
    def one_connection_each(self) -> bool:
        return len(set(self.busy.values())) == len(self.busy)

    @invariant
    def nobody_waits_for_idle(self) -> bool:
        return not (self.idle and self.waiting)

    @reachable
    def somebody_waits(self) -> bool:
        return bool(self.waiting)

    scope = Scope(int=range(-1, 4), Client=3, waiting=3, idle=3)
