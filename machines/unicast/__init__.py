"""Reliable unicast, after the design document of JGroups' UNICAST3, and a service over UDP.

`declaration.py` has the two ends of one connection, `system.py` both with a network between them,
`as_seed.py` what the document says where that goes wrong. The service is `service.py`, `peer.py`
and `wire.py`; `relay.py` is a bad network, `run.py` an exchange over one. `demands.py` says where
each demand of the document, U1 to U30, is met.

U1 and U2 tell of the protocols before. Nobody crashes in `system.py`: that an endpoint which starts
again is no older connection (U-B5) is the service's, whose connection ids have its epoch, and is
tested there. That connection ids wrap (U-B8) does not happen, for they do not.
"""
