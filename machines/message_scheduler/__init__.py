"""A scheduler of messages to peers, after the design document of rippled's MessageScheduler.

`declaration.py` has one request and one notification, `channel.py` one channel, `as_seed.py` what
the document says where that goes wrong. `system.py` and `system_as_seed.py` are the whole, with
peers and clients; `rounds.py` is one round of offers, `locks.py` the locks. `demands.py` says where
each demand of the document, R1 to R40, is met.

R1 and R2 are background. Of R9, that what is sent may be gathered until the last moment, is the
sender's; of R12, which peers it has tried. Priorities other than first come first served are
"for the future" in the document, and are not here (R-B11 is shown not to happen without them).
"Exactly one callback" (R30) is read as exactly one that ends it: that a sender is offered channels
and closes none does not count (R-B4). Requests whose numbers wrap (R-B10) are not the document's.
"""
