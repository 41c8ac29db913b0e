"""Reliable unicast, after the design document of JGroups' UNICAST3, and a service over UDP.

`declaration.py` declares the two ends of one connection, `system.py` both ends with a network
between them, `as_seed.py` the ends as the document describes them where that goes wrong.
`system_as_seed.py` declares one system for each further defect of the document. `reports.py`
compares what a sender that gives up reports with what was delivered. `restarts.py` shows what
connection ids need if endpoints restart (U-B5) or ids wrap (U-B8); `crashes.py` shows how a
receiver goes on that has lost its memory (U-B11). `in_time.py` shows how soon a message is
acknowledged or resent (U17). `service/` is the service, with a relay that acts as a bad network.
`demands.py` lists where each demand of the document, U1 to U30, is met.

U1 and U2 describe earlier protocols. The service makes sure that B does not take a restarted
endpoint for an older connection: its connection ids contain its epoch, and do not wrap.
"""
