"""Expressions that are not of the language."""

from lawful import Machine, transition


class Window(Machine):
    size: int = 1
    waiting: list[int] = []

    @transition()
    def grow(self, by: int) -> None:
        self.size = self.size / 2 + 2**by
        self.waiting = [*self.waiting, (last := by)]
        self.size = ~by

    @transition()
    def log(self, by: int) -> None:
        self.size = len(f"{by:>8}") + self.waiting[::2][0]
        self.size = (lambda: by)()
