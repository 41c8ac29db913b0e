from enum import Enum

from lawful import (
    Machine,
    Nat,
    Record,
    Scope,
    Sort,
    State,
    invariant,
    needed,
    refuse,
    require,
    step_property,
    terminal,
    transition,
)


class Person(Sort): ...


class Role(Enum):
    AUTHOR = "author"
    REVIEWER = "reviewer"
    EDITOR = "editor"

    @classmethod
    def staff(cls) -> "set[Role]":
        return {cls.REVIEWER, cls.EDITOR}


class Stage(State):
    DRAFT = "draft"
    IN_REVIEW = "in_review"
    CHANGES = "changes_requested"
    APPROVED = "approved"
    PUBLISHED = "published"
    REJECTED = "rejected"


OPEN = {Stage.DRAFT, Stage.IN_REVIEW, Stage.CHANGES}
NEEDED_APPROVALS = 2
PERMISSIONS = {
    Role.AUTHOR: {"submit", "edit"},
    Role.REVIEWER: {"approve", "request"},
    Role.EDITOR: {"approve", "request", "publish", "reject"},
}


class Opinion(Record):
    by: Person
    ok: bool
    revision: Nat


class Document(Machine):
    """One document and what people said about it."""

    stage: Stage = Stage.DRAFT
    author: Person | None = None
    roles: dict[Person, Role] = {}
    revision: Nat = 0
    opinions: dict[Person, Opinion] = {}

    # ---- helpers -------------------------------------------------
    def _may(self, who: Person, what: str) -> bool:
        role = self.roles.get(who)
        return role is not None and what in PERMISSIONS[role]

    def approvals(self) -> set[Person]:
        return {p for p, o in self.opinions.items() if o.ok and o.revision == self.revision}

    @property
    def is_open(self) -> bool:
        return self.stage in OPEN

    # ---- events --------------------------------------------------
    @transition()
    def assign(self, who: Person, role: Role) -> None:
        require(self.is_open, "too late")
        require(who not in self.roles, f"{who} has a role")
        if role == Role.AUTHOR:
            require(self.author is None, "there is an author")
            self.author = who
        self.roles[who] = role

    @transition(source=[Stage.DRAFT, Stage.CHANGES], target=Stage.IN_REVIEW)
    def submit(self, who: Person) -> Nat:
        require(who == self.author, "only the author submits")
        self.revision += 1
        self.opinions = {p: o for p, o in self.opinions.items() if not o.ok}
        return self.revision

    @transition(source=Stage.IN_REVIEW, target=[Stage.IN_REVIEW, Stage.APPROVED])
    def approve(self, who: Person) -> bool:
        require(self._may(who, "approve"), "may not approve")
        self.opinions[who] = Opinion(who, True, self.revision)
        enough = len(self.approvals()) >= NEEDED_APPROVALS
        has_editor = any(self.roles[p] == Role.EDITOR for p in self.approvals())
        self.stage = Stage.APPROVED if enough and has_editor else Stage.IN_REVIEW
        return enough and has_editor

    @transition(source=Stage.IN_REVIEW, target=Stage.CHANGES)
    def request_changes(self, who: Person) -> None:
        require(self.roles.get(who) in Role.staff(), "may not")
        self.opinions[who] = Opinion(by=who, ok=False, revision=self.revision)

    @transition(source=Stage.APPROVED, target=Stage.PUBLISHED)
    def publish(self, who: Person) -> tuple[Person, Nat]:
        require(self.roles.get(who) is Role.EDITOR, "only an editor publishes")
        author = needed(self.author, "no author")
        return author, self.revision

    @transition(
        source=[s for s in Stage if s not in (Stage.PUBLISHED, Stage.REJECTED)],
        target=Stage.REJECTED,
    )
    def reject(self, who: Person, reason: str = "") -> None:
        if not self._may(who, "reject"):
            refuse("may not reject")

    @terminal
    def done(self) -> bool:
        return self.stage in (Stage.PUBLISHED, Stage.REJECTED)

    @invariant
    def approved_by_others(self) -> bool:
        return self.author not in self.approvals()

    @invariant
    def published_needs_two(self) -> bool:
        if self.stage not in (Stage.APPROVED, Stage.PUBLISHED):
            return True
        return len(self.approvals()) >= NEEDED_APPROVALS

    @step_property
    def revisions_count(self, after: "Document") -> bool:
        return after.revision - self.revision in (0, 1)

    scope = Scope(Person=3, Nat=range(0, 3))
