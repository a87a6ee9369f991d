"""What this provider is and can do. A handler that is not here is a capability that it does not claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloudwire_provider import (
    BackgroundContext,
    CallContext,
    InstanceResult,
    Provider,
    ProviderError,
    ReadContext,
    absent,
    addresses,
    v1,
)

from acme_provider import __version__
from acme_provider.cloud import Cloud, Machine
from acme_provider.load_balancers import serve_load_balancers

ID_PREFIX = "acme://"
"""What the provider IDs of this cloud's machines begin with."""


def make_provider(cloud: Cloud) -> Provider:
    """Make the provider of a cloud."""
    provider = Provider(name="acme.example.com", version=__version__, id_prefixes=[ID_PREFIX])

    @provider.learn_scope
    def scope(context: BackgroundContext) -> str:
        # When this changes, the controller stops everything that destroys: other credentials see other machines.
        return cloud.account_id(context)

    @provider.check
    def check(context: BackgroundContext) -> None:
        cloud.account_id(context)

    @provider.instances.get_many
    def get_many(nodes: Sequence[v1.NodeRef], context: ReadContext) -> list[InstanceResult | Exception]:
        ids = [provider.cloud_id(node.provider_id) for node in nodes]
        names = [node.name for node, machine_id in zip(nodes, ids, strict=True) if not machine_id]
        machines = cloud.machines(context, ids=[machine_id for machine_id in ids if machine_id], names=names)
        return [_answer(node, machine_id, machines) for node, machine_id in zip(nodes, ids, strict=True)]

    @provider.instances.list
    def list_instances(context: CallContext) -> Iterator[v1.Instance]:
        for machine in cloud.all_machines(context):
            if machine.power != "terminated":
                yield _instance(machine)

    serve_load_balancers(provider, cloud)
    return provider


def _answer(node: v1.NodeRef, machine_id: str, machines: Sequence[Machine]) -> InstanceResult | Exception:
    found = [machine for machine in machines if (machine.id == machine_id if machine_id else machine.name == node.name)]
    if not found:
        return absent("LOOKUP_MISS")
    if len(found) > 1:
        ids = ", ".join(machine.id for machine in found)
        message = f"machines {ids} are all named {node.name}; give each its own name"
        return ProviderError("AMBIGUOUS_NAME", message, metadata={"matches": ids})
    return absent("TERMINATED") if found[0].power == "terminated" else _instance(found[0])


def _instance(machine: Machine) -> v1.Instance:
    return v1.Instance(
        provider_id=machine.id,
        name=machine.name,
        instance_type=machine.type,
        zone=machine.zone,
        region=machine.region,
        addresses=addresses(internal_ips=machine.private_ips, external_ips=machine.public_ips, hostname=machine.name),
        state=v1.INSTANCE_STATE_RUNNING if machine.power == "on" else v1.INSTANCE_STATE_STOPPED,
    )
