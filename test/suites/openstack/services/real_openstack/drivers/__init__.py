"""The ends of the cloud: what would be hardware, and is not here."""
