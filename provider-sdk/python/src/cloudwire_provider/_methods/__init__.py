"""The contract's methods over a provider's handlers."""
