"""Sockets, calls and the state of a provider that runs."""
