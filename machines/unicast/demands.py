"""The demands of `unicast3.txt`, and where each is met.

Each entry has the number of a demand, its meaning in a few words, and places where it is met: in
this package, like `declaration.Class.name`, or in its tests, like `tests.test_service.test_name`.
If there is no place, the package's docstring gives the reason.
"""

DEMANDS: dict[str, tuple[str, ...]] = {
    "U1": ("UNICAST before: resends until all is acknowledged",),
    "U2": ("UNICAST2 before: the receiver asks, nobody acknowledges",),
    "U3": (
        "connections that begin and end at once, and pending messages, lose nothing",
        "system.Link.no_loss",
        "declaration.SenderEntry.no_silent_loss",
    ),
    "U4": (
        "connections are established and closed in phases of their own",
        "declaration.Conn",
        "declaration.ReceiverEntry.establish",
        "declaration.ReceiverEntry.closed_counts_as_none",
    ),
    "U5": (
        "closing flushes pending messages first",
        "declaration.SenderEntry.remove",
        "declaration.SenderEntry.flushing",
        "reports.LinkReporting.in_doubt_is_what_is_not_acknowledged",
        "system.Link.settled",
        "system.FairLink.sent_is_delivered",
        "tests.test_service.test_closing_flushes_and_sending_reopens",
    ),
    "U6": (
        "the sender's memory is purged soon",
        "declaration.SenderEntry.ack",
        "declaration.SenderEntry.window_is_what_is_unacked",
        "declaration.SenderEntry.only_acks_acknowledge",
        "system.FairLink.sent_is_purged",
    ),
    "U7": (
        "fewer acks",
        "declaration.ReceiverEntry.owe_ack",
        "in_time.ReceiverInTime.acks_are_apart",
    ),
    "U8": (
        "the receiver requests what is missing, and just that",
        "declaration.ReceiverEntry.request_missing",
        "declaration.SenderEntry.retransmit",
        "system.FairLink.gaps_are_filled",
        "system_as_seed.LinkUnasked",
        "callers.SenderCalled.retransmit",
    ),
    "U9": (
        "acks are positive",
        "messages.Ack",
        "declaration.ReceiverEntry.accept",
        "system.Link.acks_are_true",
    ),
    "U10": (
        "numbers grow from sender to receiver",
        "declaration.SenderEntry.send",
        "declaration.SenderEntry.only_acked_is_purged",
        "system.Link.in_order",
    ),
    "U11": (
        "an ack after a message or batch is processed",
        "declaration.ReceiverEntry.deliver",
        "system.Link.acks_are_true",
        "tests.test_service.test_gaps_are_requested_and_only_what_is_contiguous_is_acknowledged",
    ),
    "U12": (
        "acks are cumulative",
        "declaration.SenderEntry.ack",
        "system.Link.acked_is_delivered",
        "callers.SenderCalled.keeps_what_is_not_acknowledged",
    ),
    "U13": (
        "acks are delayed, with a least time between two",
        "declaration.ReceiverEntry.owe_ack",
        "declaration.ReceiverEntry.ack_interval",
        "in_time.ReceiverInTime.acks_are_apart",
        "in_time.ReceiverInTime.acked_in_time",
    ),
    "U14": (
        "a task resends the highest only, if nothing has changed since its last run",
        "declaration.SenderEntry.task",
        "in_time.LinkInTime.resent_when_nothing_changed",
        "tests.test_service.test_only_the_highest_is_resent_and_the_rest_on_request",
    ),
    "U15": (
        "the example of 45 and 50",
        "declaration.SenderEntry.resends_the_last_of_many",
        "declaration.ReceiverEntry.misses_some",
        "declaration.SenderEntry.retransmit",
        "callers.ReceiverCalled.keeps_what_waits",
    ),
    "U16": (
        "a task requests what is missing",
        "declaration.ReceiverEntry.request_missing",
        "callers.ReceiverCalled.request_missing",
    ),
    "U17": (
        "a time after which a message is acknowledged or resent",
        "in_time.ReceiverInTime.acked_in_time",
        "in_time.LinkInTime.resent_in_time",
        "service.settings.Config.pause",
        "tests.test_service.test_a_busy_endpoint_asks_less_often",
    ),
    "U18": (
        "OPEN, CLOSING, CLOSED on both sides",
        "declaration.Conn",
        "system.FairLink.idle_is_removed",
    ),
    "U19": (
        "closing sets CLOSING, where what is unacknowledged is still resent",
        "declaration.SenderEntry.close",
        "declaration.SenderEntry.task",
        "declaration.SenderEntry.closed_counts_as_none",
    ),
    "U20": (
        "idle connections are closed and removed",
        "declaration.Entry.expire",
        "declaration.SenderEntry.remove",
        "declaration.ReceiverEntry.remove",
        "system.FairLink.idle_is_removed",
        "declaration.Entry.idle_is_reaped",
    ),
    "U21": (
        "sending on a CLOSING connection opens it again",
        "declaration.SenderEntry.send",
        "declaration.Entry.conn_close_timeout",
        "callers.SenderCalled.accepts_what_comes",
    ),
    "U22": (
        "a CLOSING sender resends until all is acknowledged",
        "declaration.SenderEntry.task",
        "declaration.SenderEntry.flushing",
        "system.FairLink.sent_is_delivered",
    ),
    "U23": (
        "sending on CLOSING resets the timestamp",
        "declaration.Entry.touch",
        "declaration.Entry.idle_is_reaped",
        "in_time.SenderInTime.silence_ends_it",
    ),
    "U24": (
        "sending on CLOSED begins another connection",
        "declaration.SenderEntry.send",
        "declaration.SenderEntry.connections_only_grow",
        "tests.test_service.test_a_connection_closes_and_opens_again",
    ),
    "U25": (
        "CLOSE of the same connection removes the receiver's entry",
        "declaration.ReceiverEntry.close_received",
        "system.FairLink.close_is_overtaken",
        "system.LinkFixed.closes_its_own_connection",
    ),
    "U26": (
        "no entry and a CLOSED one are equal",
        "declaration.ReceiverEntry.establish",
        "declaration.ReceiverEntry.closed_counts_as_none",
        "declaration.SenderEntry.closed_counts_as_none",
    ),
    "U27": (
        "of a batch, what is marked first is added first",
        "service.wire.Batch.in_order_of_handling",
        "tests.test_service.test_in_a_batch_the_first_message_is_handled_first",
    ),
    "U28": (
        "SEND_FIRST_SEQNO is a flag that a task sends; the answer is the first message",
        "declaration.ReceiverEntry.ask_first",
        "declaration.ReceiverEntry.send_sync",
        "declaration.ReceiverEntryFixed.ask_again",
        "declaration.SenderEntry.send_first",
        "system.FairLink.first_is_missing",
        "callers.ReceiverCalled.does_what_is_due",
        "callers.ReceiverCalled.goes_on_where_it_was_told",
    ),
    "U29": (
        "reaping sets OPEN to CLOSING, if that is enabled",
        "declaration.Entry.expire",
        "declaration.Entry.reaping",
        "declaration.Entry.idle_is_reaped",
    ),
    "U30": (
        "after conn-close-timeout an entry is removed, and a sender says CLOSE",
        "declaration.SenderEntry.remove",
        "declaration.ReceiverEntry.remove",
        "callers.SenderCalled.remove",
    ),
}
