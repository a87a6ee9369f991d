"""OpenStack's services, installed from PyPI, on the loopback interface of one machine."""
