"""Queue cluster, after `new-cluster-plan.org` (Qpid C++, the new cluster).

A service embeds `QueueOwnerFixed` of `declaration.py` (the ownership of one queue at one node),
`Updatee` of `joining.py` (the messages of all queues at one node) and `Updater` (for each node that
it brings up to date). `brokers.py` composes these very classes for all nodes; `ledger.py` has what
their multicasts amount to, and `promises.py` the promises to clients.

`clients.py` puts one `Updatee` among its callers (`acceptance.py` has the properties),
`subscribers.py` one `QueueOwnerFixed`, and `updates.py` an `Updater` and the `Updatee` that it
brings up to date. `deliveries.py` is what these and the brokers share.

The parts: `messages.py` has what travels, `ownership.py` the ownership without joins and
destruction, `wiring.py` the queues and bindings, `replica.py` the messages. For proofs, the two
sides are composed apart: `system.py` ownership, `replication.py` and `replication_fixed.py`
messages. `turns.py` is the argument why at most one node owns the queue, for any number of nodes,
and `in_turns.py` shows that the nodes follow it. `dispatching.py` declares the threads of one node.
The files `..._as_seed.py` follow the document to the letter, or contain repairs that do not work.
`demands.py` lists where each demand is met.

Not met, and why. Q1, Q2, Q3, Q4 and Q6 plan the work; Q44 and Q58 are about existing C++. Q52 is a
question that the document does not answer: whether messages are replicated within a transaction or
when it commits; clients use no transactions here. Q57 would avoid the stall for wiring, which is
one step here. Q45, Q49, Q53 and Q55 concern other parts of the broker. Q8 has two answers:
the node that rejects a message routes it, and removals by a policy follow from multicasts that were
handled. Expiry, purging and the end of a queue are declared (Q50): `get` is an acquire and an
accept, `move` an acquire and a reject to the other queue. Messages that a destroyed queue still
contains (Q50) are not routed on. The group waits for nodes that are behind (Q51), and
publishing completes (Q46). Whether ownership of an empty queue circulates in vain is a question of
rates, which a machine without a clock does not answer.
"""
