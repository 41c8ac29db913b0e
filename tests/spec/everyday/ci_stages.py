from enum import Enum, auto

from lawful import Machine, Nat, Scope, State, invariant, require, transition


class Stage(Enum):
    BUILD = auto()
    TEST = auto()
    DEPLOY = auto()


class Result(Enum):
    WAITING = auto()
    RUNNING = auto()
    PASSED = auto()
    FAILED = auto()
    SKIPPED = auto()


NEEDS = {Stage.BUILD: [], Stage.TEST: [Stage.BUILD], Stage.DEPLOY: [Stage.BUILD, Stage.TEST]}


class Run(State):
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Pipeline(Machine):
    state: Run = Run.PENDING
    results: dict[Stage, Result] = {stage: Result.WAITING for stage in Stage}
    retries: dict[Stage, Nat] = {}

    def is_ready(self, stage: Stage) -> bool:
        return self.results[stage] is Result.WAITING and all(
            self.results[needed] is Result.PASSED for needed in NEEDS[stage]
        )

    def running(self) -> list[Stage]:
        return [s for s, r in self.results.items() if r == Result.RUNNING]

    def first_failed(self) -> Stage | None:
        return next((s for s in Stage if self.results[s] is Result.FAILED), None)

    @transition(source=Run.PENDING, target=Run.RUNNING)
    def trigger(self) -> None: ...

    @transition(source=Run.RUNNING)
    def start(self, stage: Stage) -> None:
        require(self.is_ready(stage), f"{stage.name.lower()} has to wait")
        require(not self.running(), "busy")
        self.results[stage] = Result.RUNNING

    @transition(source=Run.RUNNING)
    def report(self, stage: Stage, passed: bool) -> None:
        require(self.results[stage] == Result.RUNNING)
        if passed:
            self.results[stage] = Result.PASSED
        elif self.retries.get(stage, 0) < 1:
            self.retries[stage] = self.retries.get(stage, 0) + 1
            self.results[stage] = Result.WAITING
        else:
            self.results[stage] = Result.FAILED
            for later in Stage:
                if stage in NEEDS[later] and self.results[later] == Result.WAITING:
                    self.results[later] = Result.SKIPPED
        outcomes = set(self.results.values())
        if outcomes <= {Result.PASSED}:
            self.state = Run.SUCCEEDED
        elif Result.FAILED in outcomes and not outcomes & {Result.WAITING, Result.RUNNING}:
            self.state = Run.FAILED

    @transition(source=[Run.FAILED, Run.SUCCEEDED], target=Run.RUNNING)
    def restart(self) -> Stage:
        failed = self.first_failed()
        for stage, result in self.results.items():
            if result in (Result.FAILED, Result.SKIPPED):
                self.results[stage] = Result.WAITING
        self.retries.clear()
        if failed is None:
            self.results = dict.fromkeys(Stage, Result.WAITING)
        return failed or Stage.BUILD

    @invariant
    def deploy_needs_tests(self) -> bool:
        deployed = self.results[Stage.DEPLOY] in (Result.RUNNING, Result.PASSED)
        return not deployed or self.results[Stage.TEST] == Result.PASSED

    scope = Scope(Nat=range(0, 2))
