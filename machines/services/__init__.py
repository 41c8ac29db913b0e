"""What the services of several systems share."""

LOOPBACK = "127.0.0.1"  # Where each of them listens.
