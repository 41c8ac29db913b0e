from dataclasses import dataclass, replace

from lawful import Machine, Nat, Scope, Sort, State, invariant, require, transition


class Token(Sort): ...


class Session(State):
    ANONYMOUS = "anonymous"
    AUTHORIZING = "authorizing"
    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Grant:
    token: Token
    scopes: frozenset[str] = frozenset()
    uses: Nat = 0

    def allows(self, scope: str) -> bool:
        return scope in self.scopes


class OAuthSession(Machine):
    state: Session = Session.ANONYMOUS
    grant: Grant | None = None
    refresh: Token | None = None
    used: set[Token] = set()

    @transition(source=[Session.ANONYMOUS, Session.EXPIRED], target=Session.AUTHORIZING)
    def authorize(self) -> None:
        self.grant = None

    @transition(source=Session.AUTHORIZING, target=Session.ACTIVE)
    def callback(self, access: Token, refresh: Token) -> None:
        require(access != refresh, "the same token twice")
        require(not {access, refresh} & self.used, "a token was used before")
        self.grant = Grant(token=access)
        self.refresh = refresh

    @transition(source=Session.ACTIVE)
    def call_api(self) -> Nat:
        if self.grant is None:
            raise ValueError("no grant")
        require(self.grant.uses < 2, "rate limited")
        self.grant = replace(self.grant, uses=self.grant.uses + 1)
        return self.grant.uses

    @transition(source=Session.ACTIVE, target=Session.EXPIRED)
    def expire(self) -> None:
        assert self.grant is not None
        self.used.add(self.grant.token)
        self.grant = None

    @transition(source=Session.EXPIRED, target=Session.ACTIVE)
    def renew(self, access: Token) -> None:
        require(self.refresh is not None and self.refresh not in self.used, "nothing to renew with")
        require(access not in self.used and access != self.refresh)
        self.grant = Grant(access)

    @transition(
        source=[Session.ACTIVE, Session.EXPIRED, Session.AUTHORIZING], target=Session.REVOKED
    )
    def revoke(self) -> None:
        tokens = {t for t in (self.grant.token if self.grant else None, self.refresh) if t}
        self.used.update(tokens)
        self.grant = self.refresh = None

    @transition(source=Session.REVOKED, target=Session.ANONYMOUS)
    def forget(self) -> None: ...

    @invariant
    def active_has_grant(self) -> bool:
        return (self.grant is not None) == (self.state == Session.ACTIVE)

    scope = Scope(Nat=range(0, 3), Token=3)
