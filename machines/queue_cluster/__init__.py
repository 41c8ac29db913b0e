"""Queue cluster, after `new-cluster-plan.org` (Qpid C++, the new cluster).

`declaration.py` is the ownership of one queue at one node: Q12, Q20 (acquire), Q30-Q42, but for
locks and threads, which are the service's; `as_seed.py` the same to the letter of the document
(Q-B1 to Q-B5, Q-B9). With the composed system come all nodes at once, messages and their replicas
(Q9-Q11, Q13-Q29), joining nodes (Q48, Q56), other ways off a queue (Q50) and queues that are
destroyed (Q43). Q1-Q8 and the rest plan the work.
"""
