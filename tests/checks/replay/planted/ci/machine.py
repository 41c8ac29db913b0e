"""A pipeline of CI; a row of its table has the start and the end of a job."""

from typing import Literal

from lawful import Machine, Nat, require, terminal, transition

Job = Literal["build", "test", "deploy", "lint"]


class Pipeline(Machine):
    """A pipeline: at most two of its jobs run at once; deploy comes after build and test."""

    running: Nat = 0
    done: set[Job] = set()
    failed: bool = False

    @transition()
    def start(self, job: Job) -> None:
        require(self.running < 2, "two runners")
        require(
            job != "deploy" or ("build" in self.done and "test" in self.done), "deploys too early"
        )
        require(not self.failed, "starts after a failure")
        self.running += 1

    @transition()
    def end(self, job: Job, ok: bool) -> None:
        require(self.running > 0, "nothing runs")
        self.running -= 1
        if ok:
            self.done.add(job)
        else:
            self.failed = True

    @terminal
    def idle(self) -> bool:
        return self.running == 0
