"""A scheduler of messages to peers, after the design document of rippled's MessageScheduler.

`declaration.py` has one request and one notification, `channel.py` one channel, `as_seed.py` what
the document says where that goes wrong. `system.py` and `system_as_seed.py` are the whole, with
peers and clients; `rounds.py` is one round of offers, `turns.py` whose turn it is where senders
have priorities, `numbers.py` the numbers of requests, `locks.py` the locks. `demands.py` says where
each demand of the document, R1 to R40, is met.

R1 and R2 are background. Of R9, that what is sent may be gathered until the last moment, is the
sender's; of R12, which peers it has tried. The document's queue is first come, first served, and so
is the whole; that nobody starves where priorities exist (R-B11) is shown of `turns.py` alone, and
that numbers which wrap are given once (R-B10) of `numbers.py`: those of the whole grow for ever.
"Exactly one callback" (R30) is read as exactly one that ends it: that a sender is offered channels
and closes none does not count (R-B4).
"""
