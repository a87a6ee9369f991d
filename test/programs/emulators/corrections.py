"""Where moto answers otherwise than AWS does, and the provider would act on it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from moto.ec2.models.instances import InstanceBackend
from moto.ec2.models.route_tables import Route
from moto.ec2.models.subnets import Subnet
from moto.elbv2.exceptions import DuplicateListenerError, DuplicateLoadBalancerName, InvalidTargetError
from moto.elbv2.models import ELBv2Backend


def correct() -> None:
    """Change moto in this process."""
    setattr(Route, "state", property(_route_state))  # noqa: B010  # an assignment is no property to the type checker
    ranges = property(_ipv6_ranges)
    setattr(Subnet, "ipv6_cidr_block_association_set", ranges)  # noqa: B010  # likewise
    _replace(InstanceBackend, "describe_instances", _in_parts)
    _replace(ELBv2Backend, "create_load_balancer", _once_a_name)
    _replace(ELBv2Backend, "create_listener", _once_a_port)
    _replace(ELBv2Backend, "delete_listener", _detaching)
    _replace(ELBv2Backend, "register_targets", _existing)


def _replace(model: type, method: str, by: Callable[..., Any]) -> None:
    original = getattr(model, method)
    setattr(model, method, lambda *args, **more: by(original, *args, **more))


def _in_parts(describe: Callable[..., list[Any]], *args: Any, **more: Any) -> list[Any]:
    return _one_by_one(describe(*args, **more))


def _once_a_name(create: Callable[..., Any], backend: ELBv2Backend, *, name: str, **more: Any) -> Any:
    """Answer the load balancer that has the name and all else that is asked for; moto makes a second one."""
    others = [balancer for balancer in backend.load_balancers.values() if balancer.name == name]
    made = create(backend, name=name, **more)
    if not others:
        return made
    del backend.load_balancers[made.arn]
    if _settings_of(backend, made) != _settings_of(backend, others[0]):
        raise DuplicateLoadBalancerName
    return others[0]


def _settings_of(backend: ELBv2Backend, balancer: Any) -> tuple[Any, ...]:
    subnets = sorted(subnet.id for subnet in balancer.subnets)
    tags = backend.tagging_service.get_tag_dict_for_resource(balancer.arn)
    return balancer.scheme, balancer.type, balancer.ip_address_type, subnets, sorted(balancer.security_groups), tags


def _once_a_port(create: Callable[..., Any], backend: ELBv2Backend, *, load_balancer_arn: str, **more: Any) -> Any:
    """Refuse a second listener on a port; moto makes it."""
    balancer = backend.load_balancers.get(load_balancer_arn)
    if balancer is not None and any(str(other.port) == str(more["port"]) for other in balancer.listeners.values()):
        raise DuplicateListenerError
    return create(backend, load_balancer_arn=load_balancer_arn, **more)


def _detaching(delete: Callable[..., Any], backend: ELBv2Backend, listener_arn: str) -> Any:
    """Detach target groups from a load balancer that no longer forwards to them; moto reports them as attached for ever."""
    listener = delete(backend, listener_arn)
    balancer = backend.load_balancers[listener.load_balancer_arn]
    used = {
        action.data.get("TargetGroupArn") for each in balancer.listeners.values() for action in each.default_actions
    }
    for group in backend.target_groups.values():
        if group.arn not in used and balancer.arn in group.load_balancer_arns:
            group.load_balancer_arns.remove(balancer.arn)
    return listener


def _existing(register: Callable[..., Any], backend: ELBv2Backend, target_group_arn: str, targets: list[Any]) -> Any:
    """Refuse targets that are no machines; moto takes them and calls them healthy."""
    group = backend.target_groups.get(target_group_arn)
    if group is not None and group.target_type == "instance":
        machines = backend.ec2_backend
        if any(machines.get_instance_by_id(target["Id"]) is None for target in targets):
            raise InvalidTargetError
    return register(backend, target_group_arn, targets)


def _ipv6_ranges(subnet: Any) -> list[dict[str, Any]]:
    """Report the state of a subnet's ranges as a word; moto reports it within a second state."""
    return [
        {name: association[name] for name in ("associationId", "ipv6CidrBlock", "ipv6CidrBlockState")}
        for association in subnet.ipv6_cidr_block_associations.values()
    ]


def _route_state(route: Any) -> str:
    """Say that a terminated machine swallows what is routed to it; moto calls such a route active."""
    is_gone = route.instance is not None and route.instance.state == "terminated"
    return "blackhole" if is_gone else "active"


def _one_by_one(reservations: list[Any]) -> list[Any]:
    """Report each machine in a separate reservation: AWS limits the machines of a page, moto its reservations."""
    parts = []
    for reservation in reservations:
        for instance in reservation.instances:
            part = copy.copy(reservation)
            part.instances = [instance]
            part.id = f"{reservation.id}-{instance.id}"
            parts.append(part)
    return parts
