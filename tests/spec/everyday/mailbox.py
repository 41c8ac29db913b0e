"""A mailbox that a consumer polls in batches."""

from lawful import Machine, Nat, Record, Scope, Sort, invariant, require, transition

BATCH = 2


class Sender(Sort): ...


class Mail(Record):
    sender: Sender
    urgent: bool = False


class Mailbox(Machine):
    inbox: list[Mail] = []
    unread: Nat = 0
    last: Mail | None = None

    @transition
    def deliver(self, sender: Sender, *, urgent: bool = False) -> None:
        mail = Mail(sender=sender, urgent=urgent)
        if urgent:
            self.inbox.insert(0, mail)
        else:
            self.inbox.append(mail)
        self.unread += 1

    @transition
    def poll(self) -> tuple[Mail, ...]:
        require(self.inbox != [], "no mail")
        batch = tuple(self.inbox[:BATCH])
        self.inbox = self.inbox[BATCH:]
        self.unread -= len(batch)
        self.last = batch[-1]
        return batch

    @transition
    def read_one(self) -> Sender:
        require(len(self.inbox) > 0, "no mail")
        self.unread -= 1
        self.last = self.inbox.pop(0)
        return self.last.sender

    @transition
    def drop_from(self, sender: Sender) -> Nat:
        kept = [m for m in self.inbox if m.sender != sender]
        dropped = len(self.inbox) - len(kept)
        self.inbox = kept
        self.unread -= dropped
        return dropped

    @invariant
    def counted(self) -> bool:
        return self.unread == len(self.inbox)

    scope = Scope(Sender=2, inbox=2, Nat=range(0, 4))
