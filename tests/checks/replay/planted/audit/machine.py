"""Accounts under an audit: a statement touches several of them."""

from lawful import Machine, require, terminal, transition


class Account(Machine):
    balance: int = 0
    frozen: bool = False

    @transition()
    def change(self, cents: int) -> None:
        require(not self.frozen, "frozen")
        require(self.balance + cents >= 0, "overdrawn")
        self.balance += cents

    @transition()
    def freeze(self) -> None:
        self.frozen = True

    @terminal
    def clear(self) -> bool:
        return not self.frozen
