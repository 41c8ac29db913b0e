"""What the services of several systems share."""
