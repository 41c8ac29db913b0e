"""Clients share resources: the simple allocator, and the one that keeps a schedule.

Source: S. Merz, "The specification language TLA+" (in "Logics of specification languages", 2008),
figures 5 and 8; as in tlaplus/Examples, specifications/allocator/SimpleAllocator.tla and
SchedulingAllocator.tla, whose manifest has the figures. The configurations were not read: with
three clients and two resources the figures come out. Its fairness obliges a client to give back all
that it holds; here, to give back some of it.
"""

from lawful import (
    Fairness,
    Machine,
    Scope,
    Sort,
    Strong,
    Weak,
    infinitely_often,
    invariant,
    leads_to,
    reachable,
    require,
    total,
    transition,
)

SIMPLE_COUNTS = (400, 1633, 6)
SCHEDULING_COUNTS = (1690, 5854, 7)


class Client(Sort):
    """Who asks."""


class Resource(Sort):
    """What is given to one client at a time."""


class SimpleAllocator(Machine):
    """What is free is given in any order, in parts."""

    wanted: dict[Client, set[Resource]] = total(set())
    held: dict[Client, set[Resource]] = total(set())

    def taken(self, resource: Resource) -> bool:
        return any(resource in self.held[c] for c in Client)

    @transition()
    def request(self, client: Client, some: frozenset[Resource]) -> None:
        """Request: a client that holds and waits for nothing asks for some."""
        require(len(self.wanted[client]) == 0, "its last request is not served")
        require(len(self.held[client]) == 0, "it still holds some")
        require(len(some) > 0, "nothing is asked for")
        self.wanted[client] = set(some)

    @transition()
    def allocate(self, client: Client, some: frozenset[Resource]) -> None:
        """Allocate: free resources, all or some of those it asked for."""
        require(len(some) > 0, "nothing is given")
        require(some <= self.wanted[client], "not asked for")
        require(all(not self.taken(r) for r in some), "not free")
        self.held[client] |= some
        self.wanted[client] -= some

    @transition()
    def give_back(self, client: Client, some: frozenset[Resource]) -> None:
        """Return."""
        require(len(some) > 0, "nothing is given back")
        require(some <= self.held[client], "not held")
        self.held[client] -= some

    @invariant
    def exclusive(self, a: Client, b: Client) -> bool:
        """ResourceMutex."""
        return a == b or self.held[a].isdisjoint(self.held[b])

    @invariant
    def nothing_wanted_twice(self, client: Client) -> bool:
        return self.wanted[client].isdisjoint(self.held[client])

    @reachable
    def all_wait_for_one(self) -> bool:
        return any(all(r in self.wanted[c] or r in self.held[c] for c in Client) for r in Resource)

    @leads_to
    def what_is_wanted_comes(self, client: Client, resource: Resource) -> tuple[bool, bool]:
        """ClientsWillObtain."""
        return resource in self.wanted[client], resource in self.held[client]

    @leads_to
    def what_is_held_returns(self, client: Client) -> tuple[bool, bool]:
        """ClientsWillReturn."""
        return len(self.wanted[client]) == 0, len(self.held[client]) == 0

    @infinitely_often
    def satisfied(self, client: Client) -> bool:
        """InfOftenSatisfied."""
        return len(self.wanted[client]) == 0

    fairness = Fairness(Weak("give_back", each=("client",)), Strong("allocate", each=("client",)))
    scope = Scope(Client=3, Resource=2)


class SchedulingAllocator(SimpleAllocator):
    """Nobody gets what a client earlier in the schedule waits for."""

    schedule: list[Client] = []

    @transition()
    def plan(self, order: tuple[Client, ...]) -> None:
        """Schedule: those who wait without a place get one, in any order."""
        new = {c for c in Client if len(self.wanted[c]) > 0 and c not in self.schedule}
        require(len(new) > 0, "nobody to schedule")
        require(len(order) == len(new) and set(order) == new, "not these")
        self.schedule.extend(order)

    @transition()
    def allocate(self, client: Client, some: frozenset[Resource]) -> None:
        """Allocate: as before, within the schedule."""
        require(client in self.schedule, "not scheduled")
        place = self.schedule.index(client)
        earlier = self.schedule[:place]
        require(all(self.wanted[c].isdisjoint(some) for c in earlier), "somebody was earlier")
        super().allocate(client, some)
        if len(self.wanted[client]) == 0:
            self.schedule.pop(place)

    @invariant
    def scheduled_want_something(self) -> bool:
        """AllocatorInvariant, its first conjunct."""
        return all(len(self.wanted[c]) > 0 for c in self.schedule)

    @invariant
    def nobody_holds_what_an_earlier_one_wants(self) -> bool:
        """AllocatorInvariant, its third conjunct."""
        places = range(len(self.schedule))
        return all(
            self.held[self.schedule[i]].isdisjoint(self.wanted[self.schedule[j]])
            for i in places
            for j in range(i)
        )

    @reachable
    def everybody_is_scheduled(self) -> bool:
        return len(self.schedule) == 3

    fairness = Fairness(
        Weak("give_back", each=("client",)), Weak("allocate", each=("client",)), Weak("plan")
    )
    scope = Scope(Client=3, Resource=2, schedule=3, order=3)
