"""Object diffusion, the outbound side: an outbound peer, and an inbound one that asks for anything.

Source: `object-diffusion.md`, cited as in `callbacks.py`. An honest inbound peer never gives cause
for a complaint, so that a connection of honest peers shows nothing of what the outbound peer finds
in a request. Here requests are arbitrary. The machine notes what was announced, and how many of
that are acked. After each request it compares the reply and the complaint with these notes.

Abstractions. After its first complaint the outbound peer disconnects. A request is answered at
once.
"""

from lawful import Machine, Nat, Scope, can, invariant, reachable, require, terminal, transition

from .connection import Complaint, Outbound, ReplyIds, ReplyObjects
from .messages import ObjectId, RequestIds, RequestObjects


class OutboundCalled(Machine):
    """`announced`: all IDs, in their order; `acked`: how many of them."""

    outbound: Outbound = Outbound(max_num_objects_outstanding=2)
    announced: list[ObjectId] = []
    acked: Nat = 0
    complains: bool = False

    def kept(self) -> list[ObjectId]:
        """What is not acked is available."""
        return self.announced[self.acked :]

    @transition()
    def ask_for_ids(self, request: RequestIds, ids: tuple[ObjectId, ...]) -> None:
        """(O6, O22, O23)"""
        require(not self.complains, "has disconnected")
        reply = self.outbound.announce(request, ids)
        assert reply == ReplyIds(ids)
        assert self.is_true(self.outbound.complaint, request)
        if self.fits(request):
            self.acked += request.ack
            self.announced.extend(ids)
        else:
            self.complains = True

    def fits(self, request: RequestIds) -> bool:
        """Whether it asks for something, acks what is kept, leaves room for what it asks for, and
        blocks exactly if it leaves nothing unacked."""
        left = len(self.kept()) - request.ack
        return (
            request.count > 0
            and left >= 0
            and left + request.count <= self.outbound.max_num_objects_outstanding
            and request.blocking == (left == 0)
        )

    def is_true(self, complaint: Complaint, request: RequestIds) -> bool:
        left = len(self.kept()) - request.ack
        match complaint:
            case Complaint.NONE:
                return self.fits(request)
            case Complaint.NOTHING:
                return request.count == 0
            case Complaint.ACKED:
                return left < 0
            case Complaint.TOO_MANY:
                return left + request.count > self.outbound.max_num_objects_outstanding
            case Complaint.BLOCKS:
                return left > 0 and request.blocking
            case Complaint.PIPELINES:
                return left == 0 and not request.blocking
            case Complaint.UNAVAILABLE:
                return False

    @transition()
    def ask_for_objects(self, request: RequestObjects) -> None:
        """Just what is requested is sent; a request for nothing, or for what is not available, is
        an error (O25)."""
        require(not self.complains, "has disconnected")
        reply = self.outbound.send(request)
        assert reply == ReplyObjects(request.ids)
        if len(request.ids) == 0:
            assert self.outbound.complaint == Complaint.NOTHING
            self.complains = True
        elif any(x not in self.kept() for x in request.ids):
            assert self.outbound.complaint == Complaint.UNAVAILABLE
            self.complains = True
        else:
            assert self.outbound.complaint == Complaint.NONE

    @terminal
    def disconnected(self) -> bool:
        return self.complains

    @invariant
    def complains_about_errors_alone(self) -> bool:
        return (self.outbound.complaint != Complaint.NONE) == self.complains

    @invariant
    def keeps_what_is_not_acked(self) -> bool:
        """In the order in which it was announced (O12, O22)."""
        return self.outbound.fifo == self.kept()

    @invariant
    def announces_what_is_new(self, request: RequestIds, ids: tuple[ObjectId, ...]) -> bool:
        """No more than requested, each once, at least one in a blocking reply; nothing if the
        request is an error (O13, O16, O23)."""
        new = all(ids.count(x) == 1 and x not in self.announced for x in ids)
        some = len(ids) > 0 or not request.blocking
        may = new and some and len(ids) <= request.count
        return can(self.outbound.announce, request, ids) == (
            may if self.fits(request) else len(ids) == 0
        )

    @invariant
    def answers_any_request_for_objects(self, request: RequestObjects) -> bool:
        return can(self.outbound.send, request)

    @reachable
    def goes_on_after_an_ack(self) -> bool:
        return self.acked > 0 and len(self.kept()) == 2

    scope = Scope(
        {"ask_for_ids.ids": 2, "OutboundCalled.announces_what_is_new.ids": 2},
        ObjectId=3,
        Nat=range(0, 4),
        announced=3,
        fifo=2,
    )
