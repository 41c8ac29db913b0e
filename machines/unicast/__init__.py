"""Reliable unicast, after the design document of JGroups' UNICAST3, and a service over UDP.

`declaration.py` has the two ends of one connection, `system.py` both with a network between them,
`as_seed.py` what the document says where that goes wrong. The service is `service.py`, `peer.py`
and `wire.py`; `relay.py` is a bad network, `run.py` an exchange over one. `demands.py` says where
each demand of the document, U1 to U30, is met.

U1 and U2 tell of the protocols before. `system_as_seed.py` has one defect of the document each,
`restarts.py` what connection ids must be where endpoints start again (U-B5), or ids wrap (U-B8);
`timing.py` has how soon a message is acknowledged, or resent (U17).
That an endpoint which starts again is no older connection is the service's, too: its connection ids
have its epoch, and do not wrap.
"""
