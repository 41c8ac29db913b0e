from typing import Annotated

from annotated_types import MaxLen

from lawful import Machine, Nat, Scope, Sort, State, invariant, require, transition


class Player(Sort): ...


class Lobby(State):
    OPEN = "open"
    COUNTDOWN = "countdown"
    PLAYING = "playing"
    SCORES = "scores"


MIN_PLAYERS, MAX_PLAYERS = 2, 3


class GameLobby(Machine):
    state: Lobby = Lobby.OPEN
    players: Annotated[list[Player], MaxLen(3)] = []
    ready: dict[Player, bool] = {}
    scores: dict[Player, Nat] = {}
    countdown: Nat = 0

    @property
    def host(self) -> Player | None:
        return self.players[0] if self.players else None

    @property
    def all_ready(self) -> bool:
        return len(self.players) >= MIN_PLAYERS and all(self.ready.values())

    def leaderboard(self) -> list[tuple[Player, Nat]]:
        return sorted(self.scores.items(), key=lambda kv: kv[1], reverse=True)

    def winners(self) -> set[Player]:
        if not self.scores:
            return set()
        best = max(self.scores.values())
        return {p for p, s in self.scores.items() if s == best}

    @transition(source=Lobby.OPEN)
    def join(self, player: Player) -> None:
        require(player not in self.players, "joined already")
        require(len(self.players) < MAX_PLAYERS, "full")
        self.players.append(player)
        self.ready[player] = False

    @transition(source=[Lobby.OPEN, Lobby.COUNTDOWN], target=Lobby.OPEN)
    def leave(self, player: Player) -> None:
        require(player in self.players)
        self.players.remove(player)
        del self.ready[player]
        self.countdown = 0

    @transition(source=Lobby.OPEN)
    def toggle(self, player: Player) -> bool:
        require(player in self.ready)
        self.ready[player] = not self.ready[player]
        if self.all_ready:
            self.state = Lobby.COUNTDOWN
            self.countdown = 2
        return self.ready[player]

    @transition(source=Lobby.COUNTDOWN)
    def tick(self) -> None:
        self.countdown -= 1
        if self.countdown == 0:
            self.state = Lobby.PLAYING
            self.scores = dict.fromkeys(self.players, 0)

    @transition(source=Lobby.PLAYING)
    def score(self, player: Player, points: Nat) -> None:
        require(player in self.players and points in (1, 2))
        self.scores[player] = min(2, self.scores.get(player, 0) + points)

    @transition(source=Lobby.PLAYING, target=Lobby.SCORES)
    def finish(self) -> dict[Player, Nat]:
        require(max(self.scores.values()) == 2, "nobody has won")
        return self.scores

    @transition(source=Lobby.SCORES, target=Lobby.OPEN)
    def again(self) -> None:
        winner, *_ = (p for p, _ in self.leaderboard())
        self.players.sort(key=lambda p: p != winner)
        self.scores = {}
        for player in self.players:
            self.ready[player] = False

    @invariant
    def ready_are_players(self) -> bool:
        return set(self.ready) == set(self.players)

    @invariant
    def winners_score_best(self) -> bool:
        return all(self.scores[w] >= s for w in self.winners() for s in self.scores.values())

    scope = Scope(Nat=range(0, 3), Player=2)
