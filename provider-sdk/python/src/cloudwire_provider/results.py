"""Results of handlers, in addition to the messages of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

from cloudwire_provider import v1

Basis = Literal["TERMINATED", "LOOKUP_MISS", "COMPLETE_LIST_MISS"]
"""
Evidence for an absence. `TERMINATED`: the cloud still lists the object, as terminated. `LOOKUP_MISS`: a successful look-up
returned that there is no such object. `COMPLETE_LIST_MISS`: a complete list does not contain it.
"""

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Absent:
    """
    The authoritative statement that an object does not exist.

    This is the only way: a raised HTTP 404 is an error, because a wrong URL, a missing permission or another account return
    404 too. The controller deletes Nodes because of this statement.
    """

    basis: Basis
    """Evidence for the absence."""
    _: KW_ONLY
    observe_time: datetime | None = None
    """When the cloud was read. None: when the call began."""
    strongly_consistent: bool = False
    """The read was strongly consistent, so a second read would return the same."""


@dataclass(frozen=True)
class Pending:
    """The statement that the cloud accepted the change and still works on it: the caller polls again."""

    id: str
    """ID of the object: the load balancer, the route."""
    _: KW_ONLY
    poll_after: float = 5.0
    """Seconds until the caller polls again, at most 60."""
    stage: str = ""
    """Human-readable stage of the work: `waiting for health checks`."""
    operation_id: str = ""
    """The cloud's ID of the operation; the next call contains it as a hint."""
    progress_percent: int | None = None
    """Progress in percent, 0 to 100. None: unknown."""
    message: str = ""
    """Human-readable description of what it waits for."""
    updating: bool = False
    """The load balancer already serves traffic and is being changed."""
    remaining: Sequence[str] = ()
    """For a delete: human-readable objects that still exist: `security group sg-1`."""
    start_time: datetime | None = None
    """When the work started."""
    expected_end_time: datetime | None = None
    """When the work is expected to end."""


@dataclass(frozen=True)
class NotOwned:
    """The statement that an object belongs to another provider: neither an absence nor an error."""

    message: str = ""
    """Human-readable explanation."""


@dataclass(frozen=True)
class Unreachable:
    """Yielded by a list for a zone or region that it could not read. The list continues, but is not complete."""

    place: str
    """The zone or region."""


@dataclass(frozen=True)
class ResumeFrom:
    """Yielded by a list, at most once: a watch that begins at `token` continues this list without a gap."""

    token: str
    """Where a later watch can continue."""


@dataclass(frozen=True)
class Cached(Generic[T_co]):
    """A result from a cache, with the time at which the cloud was read. Without it, the read time is when the call began."""

    value: T_co
    """The result."""
    read_time: datetime
    """When the cloud was read."""


@dataclass(frozen=True)
class Upsert(Generic[T_co]):
    """Yielded by a watch: an object was created or changed. `token`: where a later watch can continue."""

    value: T_co
    """The object as it is now."""
    _: KW_ONLY
    token: str | None = None
    """Where a later watch can continue."""


@dataclass(frozen=True)
class InstanceGone:
    """Yielded by a watch of instances: one no longer exists."""

    id: str
    """ID of the instance, with or without prefix."""
    absence: Absent
    """Evidence for the absence."""
    _: KW_ONLY
    token: str | None = None
    """Where a later watch can continue."""


@dataclass(frozen=True)
class LoadBalancerGone:
    """Yielded by a watch of load balancers: one no longer exists."""

    service: v1.ServiceRef
    """Service of the load balancer."""
    absence: Absent
    """Evidence for the absence."""
    _: KW_ONLY
    id: str = ""
    """ID of the load balancer, if known."""
    token: str | None = None
    """Where a later watch can continue."""


@dataclass(frozen=True)
class Bookmark:
    """Yielded by a watch when the initial events are complete, or to provide a token. The SDK sends heartbeats itself."""

    _: KW_ONLY
    initial_events_end: bool = False
    """Every object that existed at the start has been yielded."""
    token: str | None = None
    """Where a later watch can continue."""


@dataclass(frozen=True)
class Resync:
    """Yielded by a watch that missed events: the receiver lists again, the watch continues."""

    message: str = ""
    """Human-readable explanation."""
    _: KW_ONLY
    token: str | None = None
    """Where a later watch can continue."""


# Short names for handlers: `return absent("LOOKUP_MISS")`.
absent = Absent
pending = Pending
not_owned = NotOwned
unreachable = Unreachable
resume_from = ResumeFrom
cached = Cached


def ingress(*ips: str, hostnames: Sequence[str] = ()) -> v1.LoadBalancerIngressList:
    """Return ingress points. Without arguments the controller removes published addresses."""
    return v1.LoadBalancerIngressList(
        items=[
            *(v1.LoadBalancerIngress(ip=ip) for ip in ips),
            *(v1.LoadBalancerIngress(hostname=hostname) for hostname in hostnames),
        ]
    )


def addresses(
    *, internal_ips: Sequence[str] = (), external_ips: Sequence[str] = (), hostname: str = ""
) -> list[v1.NodeAddress]:
    """Return the addresses of an instance, in this order."""
    return [
        *(v1.NodeAddress(type=v1.NODE_ADDRESS_TYPE_INTERNAL_IP, address=ip) for ip in internal_ips),
        *(v1.NodeAddress(type=v1.NODE_ADDRESS_TYPE_EXTERNAL_IP, address=ip) for ip in external_ips),
        *([v1.NodeAddress(type=v1.NODE_ADDRESS_TYPE_HOSTNAME, address=hostname)] if hostname else []),
    ]
