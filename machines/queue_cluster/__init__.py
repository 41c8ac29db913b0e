"""Queue cluster, after `new-cluster-plan.org` (Qpid C++, the new cluster).

`declaration.py` is the ownership of one queue at one node: what a service embeds. `system.py` has
all nodes and the group between them, `turns.py` the argument why at most one of them owns the
queue, for any number of nodes. `as_seed.py` and `system_as_seed.py` are the same to the letter of
the document, and with repairs that are none. `demands.py` says where each demand is met.

Not met, and why. Q1, Q2, Q3, Q4, Q5, Q6 and Q7 plan the work and its tests; Q8 lists questions to
be reviewed; Q44 and Q58 are about C++ that exists. Q13 is the program that the others are parts of,
and Q9 its connection threads: with a service. How messages are replicated is not declared: IDs and
flags (Q10, Q11, Q15, Q16, Q17), creating, enqueueing and routing (Q18, Q19, Q24, Q25), rejecting
(Q21, Q27), dequeueing (Q22, Q28), and what a member that left had acquired (Q23, Q29). Of Q20 and
Q26 ownership needs that a message is taken by the owner alone, in the order. So the defects Q-B7,
Q-B8 and Q-B10, which are about messages, are shown nowhere. Q-B12, a deadlock of two threads, is
avoided by a state in which no lock is held. Q43, Q50, Q52 and Q57 are left open by the document
itself, Q45, Q46, Q47, Q49, Q51, Q53, Q54 and Q55 concern other parts of the broker. Nobody joins
(Q48, Q56): there, updating queues must not be owned.
"""
