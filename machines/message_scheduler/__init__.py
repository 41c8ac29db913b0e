"""A scheduler of messages to peers, after the design document of rippled's MessageScheduler.

`declaration.py` declares one request and one notification, `channel.py` one channel. `as_seed.py`
restores the document's text where it goes wrong. `system.py` and `system_as_seed.py` declare the
whole scheduler, with peers and clients. `rounds.py` declares one round of offers, `turns.py` whose
turn it is if senders have priorities, `numbers.py` the numbers of requests, `locks.py` the locks.
`demands.py` lists where each demand of the document, R1 to R40, is met.

R1 and R2 are background. The sender is responsible for R9 (it may assemble its message until the
last moment) and for part of R12 (it knows which peers it has tried). The document's queue is first
come, first served, and so is the whole scheduler. Only `turns.py` shows that nobody starves if
there are priorities (R-B11), and only `numbers.py` shows that numbers which wrap are given once
(R-B10): those of the whole scheduler grow for ever. "Exactly one callback" (R30) is read as exactly
one that ends the sender: an offer of which it closes no channel does not count (R-B4).
"""
