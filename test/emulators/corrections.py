"""Where moto answers otherwise than AWS does, and the provider would act on it."""

from __future__ import annotations

from typing import Any

from moto.ec2.models.route_tables import Route


def correct() -> None:
    """Change moto in this process."""
    setattr(Route, "state", property(_route_state))  # noqa: B010  # an assignment is no property to the type checker


def _route_state(route: Any) -> str:
    """Tell that a terminated machine swallows what is routed to it; moto calls such a route active."""
    is_gone = route.instance is not None and route.instance.state == "terminated"
    return "blackhole" if is_gone else "active"
