"""A document that roles review and publish."""

from enum import Enum
from typing import Literal

from lawful import (
    Machine,
    Nat,
    Record,
    Scope,
    Sort,
    State,
    invariant,
    needed,
    reachable,
    require,
    transition,
)

Outcome = Literal["approve", "reject", "comment"]


class User(Sort):
    """Somebody with an account."""


class Role(Enum):
    AUTHOR = "author"
    REVIEWER = "reviewer"
    ADMIN = "admin"


class Stage(State):
    DRAFT = "draft"
    IN_REVIEW = "in review"
    APPROVED = "approved"
    PUBLISHED = "published"


class Review(Record):
    by: User
    outcome: Outcome
    revision: Nat


CAN_PUBLISH = frozenset({Role.ADMIN, Role.AUTHOR})
REQUIRED = 1


class Document(Machine):
    stage: Stage = Stage.DRAFT
    author: User | None = None
    roles: dict[User, set[Role]] = {}
    reviews: list[Review] = []
    revision: Nat = 0

    def has(self, user: User, role: Role) -> bool:
        return role in self.roles.get(user, set())

    def approvals(self) -> set[User]:
        return {
            r.by for r in self.reviews if r.outcome == "approve" and r.revision == self.revision
        }

    @transition
    def grant(self, user: User, role: Role) -> set[Role]:
        roles = self.roles.setdefault(user, set())
        roles.add(role)
        return set(roles)

    @transition(source=Stage.DRAFT)
    def write(self, user: User) -> Nat:
        require(self.has(user, Role.AUTHOR), "only authors write")
        if self.author is None:
            self.author = user
        require(self.author == user, "somebody else's document")
        self.revision += 1
        return self.revision

    @transition(source=Stage.DRAFT, target=Stage.IN_REVIEW)
    def submit(self) -> User:
        author = needed(self.author, "nobody wrote anything")
        require(self.revision > 0, "empty")
        return author

    @transition(source=Stage.IN_REVIEW)
    def review(self, user: User, outcome: Outcome) -> str:
        require(self.has(user, Role.REVIEWER) and user != self.author, "may not review")
        require(
            not any(r.by == user and r.revision == self.revision for r in self.reviews), "twice"
        )
        self.reviews.append(Review(user, outcome, self.revision))
        if outcome == "reject":
            self.stage = Stage.DRAFT
        elif len(self.approvals()) >= REQUIRED:
            self.stage = Stage.APPROVED
        return f"{user} said {outcome}".capitalize()

    @transition(source=Stage.APPROVED, target=Stage.PUBLISHED)
    def publish(self, user: User) -> list[Review]:
        require(self.roles.get(user, set()) & CAN_PUBLISH, "may not publish")
        return [r for r in self.reviews if r.revision == self.revision]

    @transition(source=[Stage.APPROVED, Stage.PUBLISHED], target=Stage.DRAFT)
    def reopen(self, user: User) -> None:
        require(self.has(user, Role.ADMIN), "only admins reopen")
        self.reviews = [r for r in self.reviews if r.outcome != "comment"]

    @invariant
    def published_is_approved(self) -> bool:
        return self.stage is not Stage.PUBLISHED or len(self.approvals()) >= REQUIRED

    @invariant
    def no_self_review(self) -> bool:
        return not [r for r in self.reviews if r.by == self.author]

    @reachable
    def is_published(self) -> bool:
        return self.stage.value.startswith("pub")

    deadlock_ok = True
    scope = Scope(User=2, Nat=range(0, 2), reviews=1)
