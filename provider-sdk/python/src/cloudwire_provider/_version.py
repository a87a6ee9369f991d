"""The version of this SDK."""

__version__ = "0.1.0"
