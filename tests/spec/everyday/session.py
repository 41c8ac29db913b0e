"""A user's session."""

from enum import StrEnum, auto

from lawful import Machine, Nat, Record, Scope, Sort, State, invariant, needed, require, transition


class User(Sort): ...


class Role(StrEnum):
    GUEST = auto()
    ADMIN = auto()


class S(State):
    ANONYMOUS = auto()
    ACTIVE = auto()
    LOCKED = auto()


class Audit(Record):
    who: User
    message: str


MAX_ATTEMPTS = 3


class Session(Machine):
    state: S = S.ANONYMOUS
    user: User | None = None
    role: Role = Role.GUEST
    attempts: Nat = 0

    @transition(source=S.ANONYMOUS, target={S.ANONYMOUS, S.ACTIVE, S.LOCKED})
    def log_in(self, user: User, password_ok: bool, role: Role = Role.GUEST) -> bool:
        if not password_ok:
            self.attempts += 1
            self.state = S.LOCKED if self.attempts >= MAX_ATTEMPTS else S.ANONYMOUS
            return False
        self.user, self.role, self.attempts = user, role, 0
        self.state = S.ACTIVE
        return True

    @transition(source=S.ACTIVE)
    def promote(self) -> Audit:
        require(self.role is not Role.ADMIN, "is admin already")
        self.role = Role.ADMIN
        return Audit(needed(self.user, "nobody"), f"{self.user} is {self.role} now")

    @transition(source=S.ACTIVE, target=S.ANONYMOUS)
    def log_out(self) -> User:
        user = needed(self.user, "nobody is logged in")
        self._reset()
        return user

    @transition(source=S.LOCKED, target=S.ANONYMOUS)
    def unlock(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.user = None
        self.role = Role.GUEST
        self.attempts = 0

    @invariant
    def active_has_user(self) -> bool:
        return (self.state is S.ACTIVE) is (self.user is not None)

    scope = Scope(User=2, attempts=range(0, 4))
