"""Urgency without a time that could stand still."""

from lawful import Machine, Sort, Timer, total


class Node(Sort):
    pass


class Window(Machine):
    close: Timer = Timer(urgent=True)
    open: Timer = Timer(urgent=False)
    idle: dict[Node, Timer] = total(Timer(urgent=True))
