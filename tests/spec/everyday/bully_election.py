from lawful import Machine, Nat, OrderedSort, Scope, State, invariant, require, transition


class Process(OrderedSort): ...


class Status(State):
    QUIET = "quiet"
    ELECTING = "electing"
    SETTLED = "settled"


class Bully(Machine):
    state: Status = Status.QUIET
    alive: set[Process] = set()
    leader: Process | None = None
    answers: dict[Process, set[Process]] = {}
    rounds: Nat = 0

    def higher(self, process: Process) -> set[Process]:
        return {p for p in self.alive if p > process}

    def ranking(self) -> list[Process]:
        return sorted(self.alive, reverse=True)

    @transition
    def boot(self, process: Process) -> None:
        require(process not in self.alive)
        self.alive.add(process)
        if self.state == Status.SETTLED and self.leader is not None and process > self.leader:
            self.state = Status.QUIET

    @transition
    def crash(self, process: Process) -> None:
        require(process in self.alive)
        self.alive.remove(process)
        self.answers.pop(process, None)
        for asked in self.answers.values():
            asked.discard(process)
        if process == self.leader:
            self.leader = None
            self.state = Status.QUIET

    @transition(source=Status.QUIET, target=Status.ELECTING)
    def elect(self, process: Process) -> list[Process]:
        require(process in self.alive, f"{process} is down")
        self.answers = {process: self.higher(process)}
        self.rounds = min(self.rounds + 1, 2)
        return sorted(self.answers[process])

    @transition(source=Status.ELECTING)
    def answer(self, process: Process) -> None:
        askers = [p for p, asked in self.answers.items() if process in asked]
        require(askers and process not in self.answers)
        for asker in askers:
            self.answers.pop(asker)
        self.answers[process] = self.higher(process)

    @transition(source=Status.ELECTING, target=Status.SETTLED)
    def declare(self, process: Process) -> None:
        require(process in self.answers and not self.answers[process], "somebody is higher")
        self.leader = process
        self.answers.clear()

    @transition(source=Status.ELECTING, target=Status.QUIET)
    def give_up(self) -> None:
        require(not self.answers)

    @invariant
    def leader_is_highest(self) -> bool:
        if self.state != Status.SETTLED or self.leader is None:
            return True
        first, *others = self.ranking()
        return first == self.leader and all(o < first for o in others)

    scope = Scope(Nat=range(0, 3), Process=3)
