"""Clocks that are not one."""

from lawful import Clock, Ghost, Machine


class Link(Machine):
    clock: Clock = Clock(tick=0.5)


class Node(Machine):
    clock: Clock = Clock(tick=2)
    other: Clock = Clock(tick=2)
    past: Ghost[Clock] = Clock(tick=2)
    link: Link = Link()
