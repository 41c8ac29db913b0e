"""Faults on the real thing: processes of the services, sockets, signals and lying peers."""
