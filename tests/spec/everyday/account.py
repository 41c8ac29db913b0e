"""A bank account with money in Decimal."""

from decimal import Decimal

from lawful import Machine, Scope, invariant, require, transition

LIMIT = Decimal("3")


class Account(Machine):
    balance: Decimal = Decimal(0)

    @transition
    def deposit(self, amount: Decimal) -> Decimal:
        require(amount > 0, "nothing to deposit")
        self.balance += amount
        return self.balance

    @transition
    def withdraw(self, amount: Decimal) -> Decimal:
        require(amount > 0, "nothing to withdraw")
        require(self.balance - amount >= -LIMIT, "above the limit")
        self.balance -= amount
        return self.balance

    @invariant
    def within_limit(self) -> bool:
        return self.balance >= -LIMIT

    scope = Scope(Decimal=range(-4, 6))
