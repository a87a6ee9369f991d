"""Where moto answers otherwise than AWS does, and the provider would act on it."""

from __future__ import annotations

import copy
from typing import Any

from moto.ec2.models.instances import InstanceBackend
from moto.ec2.models.route_tables import Route


def correct() -> None:
    """Change moto in this process."""
    setattr(Route, "state", property(_route_state))  # noqa: B010  # an assignment is no property to the type checker
    describe = InstanceBackend.describe_instances
    setattr(InstanceBackend, "describe_instances", lambda *args, **more: _one_by_one(describe(*args, **more)))  # noqa: B010  # likewise


def _route_state(route: Any) -> str:
    """Tell that a terminated machine swallows what is routed to it; moto calls such a route active."""
    is_gone = route.instance is not None and route.instance.state == "terminated"
    return "blackhole" if is_gone else "active"


def _one_by_one(reservations: list[Any]) -> list[Any]:
    """Tell of each machine in a reservation of its own: a page of AWS holds so many machines, one of moto reservations."""
    parts = []
    for reservation in reservations:
        for instance in reservation.instances:
            part = copy.copy(reservation)
            part.instances = [instance]
            part.id = f"{reservation.id}-{instance.id}"
            parts.append(part)
    return parts
