"""A page on which a reader walks through a machine; its states are computed as one walks."""
