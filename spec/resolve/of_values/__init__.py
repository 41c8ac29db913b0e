"""Methods and properties that the classes of records and enums define."""
