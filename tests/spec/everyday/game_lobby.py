from lawful import (
    Machine,
    Nat,
    OrderedSort,
    Record,
    Scope,
    State,
    invariant,
    reachable,
    refuse,
    require,
    total,
    transition,
)


class Player(OrderedSort):
    """someone"""


class Phase(State):
    LOBBY = "lobby"
    COUNTDOWN = "countdown"
    PLAYING = "playing"
    OVER = "over"


class Team(State):
    RED = "red"
    BLUE = "blue"


class Result(Record):
    winner: Team | None
    scores: tuple[Nat, Nat]


class Lobby(Machine):
    MIN_PLAYERS = 2
    MAX_PLAYERS = 3
    GOAL = 2

    phase: Phase = Phase.LOBBY
    host: Player | None = None
    players: list[Player] = []
    ready: set[Player] = set()
    teams: dict[Player, Team] = {}
    score: dict[Team, Nat] = total(0)
    ticks: Nat = 0

    @staticmethod
    def _other(team: Team) -> Team:
        return Team.BLUE if team == Team.RED else Team.RED

    @property
    def everybody_ready(self) -> bool:
        return len(self.players) >= self.MIN_PLAYERS and set(self.players) <= self.ready

    def sizes(self) -> tuple[int, int]:
        red = len([p for p in self.players if self.teams.get(p) == Team.RED])
        return red, len(self.players) - red

    @transition(source=Phase.LOBBY)
    def join(self, p: Player) -> Team:
        if p in self.players:
            refuse("already here")
        require(len(self.players) < self.MAX_PLAYERS, "lobby is full")
        red, blue = self.sizes()
        team = Team.RED if red <= blue else Team.BLUE
        self.players.append(p)
        self.teams[p] = team
        if self.host is None:
            self.host = p
        return team

    @transition(source={Phase.LOBBY, Phase.COUNTDOWN}, target=Phase.LOBBY)
    def leave(self, p: Player) -> None:
        require(p in self.players, "is not here")
        self.players.remove(p)
        self.ready.discard(p)
        del self.teams[p]
        if self.host == p:
            self.host = self.players[0] if self.players else None
        self.ticks = 0

    @transition(source=Phase.LOBBY, target=(Phase.LOBBY, Phase.COUNTDOWN))
    def toggle_ready(self, p: Player) -> bool:
        require(p in self.players, "is not here")
        self.ready ^= {p}
        if self.everybody_ready:
            self.phase = Phase.COUNTDOWN
            self.ticks = 2
        else:
            self.phase = Phase.LOBBY
        return p in self.ready

    @transition(source=Phase.COUNTDOWN, target=(Phase.COUNTDOWN, Phase.PLAYING))
    def tick(self) -> str:
        self.ticks -= 1
        go = self.ticks <= 0
        self.phase = Phase.PLAYING if go else Phase.COUNTDOWN
        return "go!" if go else f"{self.ticks}..."

    @transition(source=Phase.PLAYING, target=(Phase.PLAYING, Phase.OVER))
    def goal(self, by: Player, own: bool = False) -> Result | None:
        team = self.teams[by]
        scored = self._other(team) if own else team
        self.score[scored] += 1
        if self.score[scored] >= self.GOAL:
            self.phase = Phase.OVER
            return self.result()
        self.phase = Phase.PLAYING
        return None

    def result(self) -> Result:
        best = max(self.score.values())
        winners = [t for t, s in self.score.items() if s == best]
        winner = None
        if len(winners) == 1:
            winner = next(iter(winners))
        return Result(winner=winner, scores=(self.score[Team.RED], self.score[Team.BLUE]))

    @transition(source=Phase.OVER, target=Phase.LOBBY)
    def rematch(self) -> None:
        self.ready = set()
        self.score = {t: 0 for t in Team}
        self.teams = {p: Team.RED if i % 2 == 0 else Team.BLUE for i, p in enumerate(self.players)}

    @invariant
    def host_is_here(self) -> bool:
        return (self.host is None and not self.players) or self.host in self.players

    @invariant
    def balanced(self) -> bool:
        red, blue = self.sizes()
        return abs(red - blue) <= self.MAX_PLAYERS

    @invariant
    def names(self) -> bool:
        return self.teams.keys() == set(self.players)

    @reachable
    def blue_wins(self) -> bool:
        return self.phase == Phase.OVER and self.score[Team.BLUE] > self.score[Team.RED]

    scope = Scope(Player=2, Nat=range(0, 3), players=2)
