"""Statements that are not of the language, and calls whose value goes nowhere."""

from lawful import Machine, transition


class Sender(Machine):
    sent: int = 0

    @transition()
    def flush(self) -> None:
        while self.sent > 0:
            self.sent //= 2

    @transition()
    def send(self) -> None:
        try:
            self.sent += 1
        except KeyError:
            raise
        with open("log") as log:
            log.write("sent")
        import time
        global total
        total = time.time()
