"""What the contract's own options say about reasons and RPCs, read from the descriptors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from google.protobuf.descriptor_pb2 import MethodOptions

from cloudwire_provider.gen.cloudprovider.v1 import cloud_provider_pb2, error_pb2, options_pb2

DOMAIN: Final = "cloudprovider.v1"
"""Who defines the contract's own reasons."""

SERVICE: Final = "cloudprovider.v1.CloudProvider"
"""Full name of the contract's service."""

# proto/README.md, section 4: what any RPC may answer, and any RPC that asks the cloud.
COMMON_REASONS: Final = frozenset(
    {
        "FIELD_MISSING",
        "FIELD_INVALID",
        "FIELD_TOO_LARGE",
        "SCOPE_MISMATCH",
        "TOO_MANY_CALLS",
        "CAPABILITY_ABSENT",
        "UNMAPPED_ERROR",
        "INVARIANT_BROKEN",
        "DEADLINE_PASSED",
        "PROVIDER_STARTING",
        "PROVIDER_DRAINING",
        "PEER_REFUSED",
    }
)
CLOUD_REASONS: Final = frozenset(
    {
        "CLOUD_PERMISSION_DENIED",
        "RATE_LIMITED",
        "CLOUD_UNAVAILABLE",
        "CLOUD_TIMEOUT",
        "ZONE_UNREACHABLE",
        "INCOMPLETE_ANSWER",
        "CLOUD_CREDENTIALS_INVALID",
        "CLOUD_SETUP_INVALID",
    }
)


@dataclass(frozen=True)
class ReasonRule:
    """What goes with one reason."""

    code: int
    """Canonical gRPC code."""
    must_wait: bool
    """The error must say how long to wait."""


@dataclass(frozen=True)
class MethodRule:
    """What holds for one RPC."""

    mutation: bool
    """It may change the cloud."""
    reasons: frozenset[str]
    """With which it may fail."""
    item_reasons: frozenset[str]
    """Which items of its answer may carry."""


def _reasons() -> dict[str, ReasonRule]:
    rules: dict[str, ReasonRule] = {}
    for value in error_pb2.ErrorReason.DESCRIPTOR.values:
        options = value.GetOptions().Extensions[options_pb2.reason]
        if value.number != 0:
            name = value.name.removeprefix("ERROR_REASON_")
            rules[name] = ReasonRule(options.code, options.retry_info_required)
    return rules


def _methods() -> dict[str, MethodRule]:
    rules: dict[str, MethodRule] = {}
    for method in cloud_provider_pb2.DESCRIPTOR.services_by_name["CloudProvider"].methods:
        options = method.GetOptions()
        own = options.Extensions[options_pb2.method]
        general = COMMON_REASONS | (CLOUD_REASONS if own.calls_cloud else frozenset())
        rules[method.name] = MethodRule(
            mutation=options.idempotency_level != MethodOptions.NO_SIDE_EFFECTS,
            reasons=general | set(own.reasons),
            item_reasons=general | set(own.item_reasons) if own.item_reasons else frozenset(),
        )
    return rules


REASONS: Final = _reasons()
METHODS: Final = _methods()
