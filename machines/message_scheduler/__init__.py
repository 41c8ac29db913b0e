"""A scheduler of messages to peers, after the design document of rippled's MessageScheduler.

`declaration.py` declares the scheduler that a service embeds. `surroundings.py` has peers, senders
and receivers around it, `system.py` the properties of the whole, and `ageing.py` the whole with
priorities; `threads.py` has the lock and the threads. `as_seed.py` and `system_as_seed.py` restore
the document's text where it goes wrong, `locks_as_seed.py` its locks, `rounds_as_seed.py` its
rounds. `demands.py` lists the document's demands, R1 to R40, and what fails when each of them is
broken.

R1 and R2 are background. R39 is about two locks: there is one. The document's queue is first come,
first served "today"; here senders may have priorities, and age (R-B11). "Exactly one callback"
(R30) is read as exactly one that ends the sender: an offer of which it closes no channel does not
count (R-B4).
"""
