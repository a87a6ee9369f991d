"""The messages of the contract `cloudprovider.v1`: what handlers are given and what they answer."""

from cloudwire_provider.gen.v1 import *  # noqa: F403
from cloudwire_provider.gen.v1 import __all__ as __all__  # noqa: PLC0414
