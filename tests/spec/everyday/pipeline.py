"""A deployment through stages."""

from enum import Enum

from lawful import Machine, Nat, Scope, State, invariant, refuse, require, transition


class Env(Enum):
    DEV = "dev"
    STAGING = "staging"
    PROD = "prod"


class Stage(State):
    READY = "ready"
    DEPLOYING = "deploying"
    FAILED = "failed"


ORDER = [Env.DEV, Env.STAGING, Env.PROD]


class Pipeline(Machine):
    state: Stage = Stage.READY
    version: Nat = 0
    at: Nat = 0
    approvals: set[Env] = set()
    history: list[str] = []

    @transition(source=Stage.READY)
    def approve(self, env: Env) -> None:
        if env in self.approvals:
            refuse(f"{env.name} is approved")
        self.approvals.add(env)

    @transition(source=Stage.READY, target=Stage.DEPLOYING)
    def deploy(self) -> Env:
        require(self.at < len(ORDER), "all done")
        require(ORDER[self.at] in self.approvals, f"{ORDER[self.at].value} is not approved")
        return ORDER[self.at]

    @transition(source=Stage.DEPLOYING, target=Stage.READY)
    def deployed(self) -> str:
        done = ORDER[self.at]
        self.at += 1
        return f"version {self.version} is in {done.value}"

    @transition(source=Stage.DEPLOYING, target=Stage.FAILED)
    def failed(self, reason: str = "") -> str:
        return f"failed in {ORDER[self.at].value}: {reason}"

    @transition(source=Stage.FAILED, target=Stage.READY)
    def roll_back(self) -> None:
        self.at = 0
        self.approvals.clear()

    @invariant
    def only_approved(self) -> bool:
        return all(ORDER[i] in self.approvals for i in range(self.at))

    deadlock_ok = True
    scope = Scope(Nat=range(0, 4))
