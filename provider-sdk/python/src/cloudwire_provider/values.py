"""Equality of what providers compare: provider IDs and CIDRs. Comparing them as texts is wrong."""

import ipaddress
from collections.abc import Iterable

_MAPPED_BITS = 96
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")


def is_same_instance(one: str, other: str) -> bool:
    """
    Return whether two provider IDs of one provider name one instance: the contract's rule BAT-6.

    The scheme and the letter case do not count, and an ID may lack the location with which the other one begins.
    """
    left, right = _segments(one), _segments(other)
    common = min(len(left), len(right))
    return common > 0 and left[-common:] == right[-common:]


def canonical_cidr(text: str) -> str:
    """
    Return the one way to write a CIDR: host bits cleared, IPv6 shortened, IPv4-mapped IPv6 as IPv4.

    A text that is not a CIDR, such as the ID of a cloud's prefix list, stays as it is. Compare CIDRs in this form only.
    """
    _, found, length = text.partition("/")
    if not found or "%" in text or not (length.isascii() and length.isdigit()):
        return text
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return text
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(_MAPPED):
        mapped = network.network_address.ipv4_mapped
        return f"{mapped}/{network.prefixlen - _MAPPED_BITS}"
    return str(network)


def canonical_cidrs(texts: Iterable[str]) -> list[str]:
    """Return each CIDR once, in the form of `canonical_cidr` and in order: equal results mean equal CIDRs."""
    return sorted({canonical_cidr(text) for text in texts})


def _segments(provider_id: str) -> list[str]:
    _, found, path = provider_id.partition("://")
    return [segment for segment in (path if found else provider_id).lower().split("/") if segment]
