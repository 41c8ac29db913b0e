"""Queue cluster, after `new-cluster-plan.org` (Qpid C++, the new cluster).

`declaration.py` is the ownership of one queue at one node, `replica.py` the messages of all queues
at one node: what a service embeds. `system.py` has all nodes and the group between them as far as
ownership goes, `replication.py` as far as messages go, and `replication_fixed.py` why that goes
well. `turns.py` is the argument why at most one node owns the queue, for any number of nodes, and
`in_turns.py` that the nodes follow it. The threads of one node are in `dispatching.py`, a node that
joins in `joining.py`, a queue that is emptied in `purging.py`, one that is destroyed in
`destroying.py`. The files `..._as_seed.py` are the same to the letter of the document, and with
repairs that are none. `demands.py` says where each demand is met.

Not met, and why. Q1, Q2, Q3, Q4 and Q6 plan the work; Q44 and Q58 are about C++ that exists. Of Q52
the document asks whether messages are replicated within a transaction or as it commits, and does
not answer; what clients do here is no part of one. Q57 would avoid the stall for wiring, which is
one step here, as wiring is left out (Q47). Q45, Q47, Q49, Q53, Q54 and Q55 concern other parts of
the broker. Of Q8 the places say what is decided: who rejects a message routes it, and removals by a
policy follow from what was delivered. Of Q50 these are expiry, purging and the end of a queue:
`get` is an acquire and an accept, `move` an acquire and a reject to the other queue. What a
destroyed queue still has (Q50) is not routed on. Of Q51 that the group waits for who is behind, of
Q46 the completion of publishing. That ownership of an empty queue does not go round in vain is a
matter of rates, which a machine without a clock does not tell.
"""
