"""What operators see of calls."""
