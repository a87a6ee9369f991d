"""What outlives a call."""
