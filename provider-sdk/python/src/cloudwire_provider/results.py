"""What handlers answer beside the messages of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

from cloudwire_provider import v1

Basis = Literal["TERMINATED", "LOOKUP_MISS", "COMPLETE_LIST_MISS"]
"""
On what an absence rests. `TERMINATED`: the cloud still knows the object and says that it is gone. `LOOKUP_MISS`: a look-up
answered, with success, that there is no such object. `COMPLETE_LIST_MISS`: a complete list does not contain it.
"""

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Absent:
    """
    The positive, authoritative statement that an object does not exist.

    This is the only way to say so: an HTTP 404 that is raised is an error, because a wrong URL, a missing right or another
    account answer 404 too. A Node is deleted on the strength of this statement.
    """

    basis: Basis
    """How the cloud said so."""
    _: KW_ONLY
    observe_time: datetime | None = None
    """When the cloud was read. None: when the call began."""
    strongly_consistent: bool = False
    """The read was strongly consistent, so a second one would say the same."""


@dataclass(frozen=True)
class Pending:
    """The statement that the cloud took the change and still works on it: the caller asks again."""

    id: str
    """Of the object worked on: the load balancer, the route."""
    _: KW_ONLY
    poll_after: float = 5.0
    """Seconds until the caller asks again, at most 60."""
    stage: str = ""
    """What is being done, for people: `waiting for health checks`."""
    operation_id: str = ""
    """The cloud's id of the work; comes back as a hint with the next call."""
    progress_percent: int | None = None
    """How far it is, 0 to 100. None: not known."""
    message: str = ""
    """What it waits for, for people."""
    updating: bool = False
    """The load balancer already serves and is being changed."""
    remaining: Sequence[str] = ()
    """For a delete: what is still there, for people: `security group sg-1`."""
    start_time: datetime | None = None
    """When the work at the cloud began."""
    expected_end_time: datetime | None = None
    """When it is likely to end."""


@dataclass(frozen=True)
class NotOwned:
    """The statement that an object belongs to another provider: no absence, and no error either."""

    message: str = ""
    """Why, for people."""


@dataclass(frozen=True)
class Unreachable:
    """Yielded by a list for a zone or region that could not be read: it goes on, and says that it is not complete."""

    place: str
    """What could not be read: a zone, a region."""


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
    """Yielded by a watch: an object is new or changed. `token`: where a later watch can continue."""

    value: T_co
    """The object as it is now."""
    _: KW_ONLY
    token: str | None = None
    """Where a later watch can continue."""


@dataclass(frozen=True)
class InstanceGone:
    """Yielded by a watch of machines: one is gone."""

    id: str
    """Of the machine, with or without prefix."""
    absence: Absent
    """How it is known that it is gone."""
    _: KW_ONLY
    token: str | None = None
    """Where a later watch can continue."""


@dataclass(frozen=True)
class LoadBalancerGone:
    """Yielded by a watch of load balancers: one is gone."""

    service: v1.ServiceRef
    """Whose load balancer it was."""
    absence: Absent
    """How it is known that it is gone."""
    _: KW_ONLY
    id: str = ""
    """Of the load balancer, if it is known."""
    token: str | None = None
    """Where a later watch can continue."""


@dataclass(frozen=True)
class Bookmark:
    """Yielded by a watch when the initial events are complete, or to hand out a token. Heartbeats are the SDK's work."""

    _: KW_ONLY
    initial_events_end: bool = False
    """Every object that there was at the beginning has been yielded."""
    token: str | None = None
    """Where a later watch can continue."""


@dataclass(frozen=True)
class Resync:
    """Yielded by a watch that lost count: the receiver lists again, the watch goes on."""

    message: str = ""
    """Why, for people."""
    _: KW_ONLY
    token: str | None = None
    """Where a later watch can continue."""


# The words of the contract, as handlers say them: `return absent("LOOKUP_MISS")`.
absent = Absent
pending = Pending
not_owned = NotOwned
unreachable = Unreachable
resume_from = ResumeFrom
cached = Cached


def ingress(*ips: str, hostnames: Sequence[str] = ()) -> v1.LoadBalancerIngressList:
    """Points at which traffic enters; none takes back what was published before."""
    return v1.LoadBalancerIngressList(
        items=[
            *(v1.LoadBalancerIngress(ip=ip) for ip in ips),
            *(v1.LoadBalancerIngress(hostname=hostname) for hostname in hostnames),
        ]
    )


def addresses(
    *, internal_ips: Sequence[str] = (), external_ips: Sequence[str] = (), hostname: str = ""
) -> list[v1.NodeAddress]:
    """Addresses of a machine, in this order."""
    return [
        *(v1.NodeAddress(type=v1.NODE_ADDRESS_TYPE_INTERNAL_IP, address=ip) for ip in internal_ips),
        *(v1.NodeAddress(type=v1.NODE_ADDRESS_TYPE_EXTERNAL_IP, address=ip) for ip in external_ips),
        *([v1.NodeAddress(type=v1.NODE_ADDRESS_TYPE_HOSTNAME, address=hostname)] if hostname else []),
    ]
