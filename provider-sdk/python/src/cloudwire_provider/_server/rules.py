"""Checks messages by the rules that the contract states next to its fields, read from the descriptors."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from cloudwire_provider._server.status import MAX_MESSAGE_BYTES, cut_to_bytes
from cloudwire_provider.errors import FieldViolation, ProviderError
from cloudwire_provider.gen.cloudprovider.v1 import instance_pb2, options_pb2

# More would not fit into an answer.
_MAX_VIOLATIONS = 64
_MAX_QUOTED = 64
# A provider ID whose own part begins with a prefix again, mostly another cloud's; further on in it anything goes.
_PREFIX_TWICE = re.compile(r"[^:/\s]+://[^:/\s]+://")


@dataclass(frozen=True)
class Violation:
    """One thing wrong with a request; `field` in proto spelling."""

    reason: str
    field: str
    description: str
    metadata: tuple[tuple[str, str], ...] = ()


def refusal(method: str, violations: Sequence[Violation]) -> ProviderError | None:
    """Make the refusal of a request, with all its problems; its reason is that of the first."""
    if not violations:
        return None
    listed = "; ".join(f"{violation.field} {violation.description}" for violation in violations)
    return ProviderError(
        violations[0].reason,
        cut_to_bytes(f"{method} is refused: {listed}", MAX_MESSAGE_BYTES),
        field_violations=[FieldViolation(violation.field, violation.description) for violation in violations],
        metadata=dict(violations[0].metadata),
    )


def answer_problem(message: Message) -> ProviderError | None:
    """The problems of an answer of the provider."""
    violations = check(message)
    faults = [f"{violation.field} {violation.description}" for violation in violations]
    if isinstance(message, instance_pb2.Instance) and _PREFIX_TWICE.match(message.provider_id):
        text = "has a prefix that is not of this provider; answer the cloud's own id"
        faults.append(f"provider_id {message.provider_id} {text}")
    if not faults:
        return None
    listed = "; ".join(faults)
    text = f"the provider answered a {message.DESCRIPTOR.name} that breaks the contract: {listed}"
    return ProviderError("INVARIANT_BROKEN", cut_to_bytes(text, 512))


def check(message: Message) -> list[Violation]:
    """Return every rule that a message breaks."""
    violations: list[Violation] = []
    _check_message(message, "", violations)
    return violations


def quote(text: str) -> str:
    """Return a value of the peer's for use inside a message: quoted and short."""
    return json.dumps(text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 1] + "…", ensure_ascii=False)


def is_ip(text: str) -> bool:
    """Return whether it is an address without zone."""
    if "%" in text:
        return False
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


_CIDR = re.compile(r"(?P<address>[^/]+)/(?:0|[1-9][0-9]{0,2})")


def is_cidr(text: str) -> bool:
    """Return whether it is a CIDR. Host bits are allowed, as in Kubernetes."""
    match = _CIDR.fullmatch(text)
    if match is None or not is_ip(match["address"]):
        return False
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return True


def is_network(cidr: str) -> bool:
    """Return whether a CIDR has no host bits."""
    try:
        ipaddress.ip_network(cidr)
    except ValueError:
        return False
    return True


_DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_PROVIDER_ID = re.compile(r"[^:/\s]+://\S.*", re.DOTALL)


def is_dns_name(text: str) -> bool:
    """Return whether it is an RFC 1123 subdomain."""
    return len(text) <= 253 and all(_DNS_LABEL.fullmatch(label) for label in text.split("."))


_FORMATS: dict[int, tuple[Callable[[str], Any], str]] = {
    options_pb2.FIELD_FORMAT_IP: (is_ip, "an IPv4 or IPv6 address"),
    options_pb2.FIELD_FORMAT_CIDR: (is_cidr, "an address range such as 10.0.0.0/8"),
    options_pb2.FIELD_FORMAT_DNS_NAME: (is_dns_name, "a DNS name in lower case"),
    options_pb2.FIELD_FORMAT_PROVIDER_ID: (_PROVIDER_ID.fullmatch, "a provider ID such as acme://i-1"),
}


def is_map(field: FieldDescriptor) -> bool:
    """Return whether a field is a map."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def is_sensitive(field: FieldDescriptor) -> bool:
    """Return whether a field may hold a secret."""
    return bool(field.GetOptions().Extensions[options_pb2.rules].sensitive)


@dataclass(frozen=True)
class _Field:
    """A field with everything that checking it needs."""

    descriptor: FieldDescriptor
    rules: options_pb2.FieldRules
    repeated: bool
    map: bool
    inner: bool
    """Its messages have rules of their own."""
    required: bool


@cache
def _fields(descriptor: Descriptor) -> tuple[_Field, ...]:
    """Return the fields of a message that have rules, or messages with rules."""
    return tuple(field for field in map(_compile, descriptor.fields) if _has_work(field))


def _compile(descriptor: FieldDescriptor) -> _Field:
    rules = descriptor.GetOptions().Extensions[options_pb2.rules]
    message = descriptor.message_type
    oneof = descriptor.containing_oneof
    # A member of a oneof that is not chosen is no missing field; an `optional` field is alone in its own.
    in_choice = oneof is not None and len(oneof.fields) > 1
    return _Field(
        descriptor,
        rules,
        repeated=bool(descriptor.is_repeated),
        map=is_map(descriptor),
        inner=message is not None and message.full_name.startswith("cloudprovider.") and not is_map(descriptor),
        required=rules.required and not in_choice,
    )


def _has_work(field: _Field) -> bool:
    rules = options_pb2.FieldRules()
    rules.CopyFrom(field.rules)
    rules.ClearField("sensitive")
    return field.inner or rules.ByteSize() > 0


def _check_message(message: Message, path: str, out: list[Violation]) -> None:
    for field in _fields(message.DESCRIPTOR):
        if len(out) >= _MAX_VIOLATIONS:
            return
        name = field.descriptor.name
        if field.descriptor.has_presence and not message.HasField(name):
            if field.required:
                out.append(Violation("FIELD_MISSING", path + name, "is required"))
            continue
        _check_field(field, getattr(message, name), path + name, out)


def _check_field(field: _Field, value: Any, path: str, out: list[Violation]) -> None:
    if isinstance(value, Message):
        _check_message(value, f"{path}.", out)
        return
    if not value:
        if field.required:
            out.append(Violation("FIELD_MISSING", path, "is required"))
        elif not field.repeated:
            _check_scalar(field.rules, value, path, out)
        return
    if field.map:
        _check_map(field.rules, value, path, out)
    elif field.repeated:
        _check_list(field, value, path, out)
    else:
        _check_scalar(field.rules, value, path, out)


def _check_list(field: _Field, items: Sequence[Any], path: str, out: list[Violation]) -> None:
    rules = field.rules
    if rules.max_items and len(items) > rules.max_items:
        out.append(_too_many(path, len(items), rules.max_items))
        return
    for index, item in enumerate(items):
        if len(out) >= _MAX_VIOLATIONS:
            return
        if field.inner:
            _check_message(item, f"{path}[{index}].", out)
        else:
            _check_scalar(rules, item, f"{path}[{index}]", out)


def _check_map(rules: options_pb2.FieldRules, entries: Mapping[str, str], path: str, out: list[Violation]) -> None:
    if rules.max_items and len(entries) > rules.max_items:
        out.append(_too_many(path, len(entries), rules.max_items))
        return
    if rules.max_total_bytes:
        total = sum(len(key.encode()) + len(value.encode()) for key, value in entries.items())
        _check_bytes(rules.max_total_bytes, total, path, out)


def _check_scalar(rules: options_pb2.FieldRules, value: Any, path: str, out: list[Violation]) -> None:
    if isinstance(value, str):
        _check_text(rules, value, path, out)
    elif isinstance(value, bytes):
        _check_bytes(rules.max_bytes, len(value), path, out)
    elif isinstance(value, (int, float)):
        _check_range(rules, value, path, out)


def _check_text(rules: options_pb2.FieldRules, text: str, path: str, out: list[Violation]) -> None:
    # No text has more than four bytes a character: most need no counting.
    if rules.max_bytes and len(text) * 4 > rules.max_bytes:
        _check_bytes(rules.max_bytes, len(text.encode()), path, out)
    known = _FORMATS.get(rules.format)
    if known is not None and text:
        fits, wanted = known
        if not fits(text):
            out.append(Violation("FIELD_INVALID", path, f"{quote(text)} is not {wanted}"))


def _check_bytes(max_bytes: int, size: int, path: str, out: list[Violation]) -> None:
    if max_bytes and size > max_bytes:
        out.append(Violation("FIELD_TOO_LARGE", path, f"has {size} bytes; at most {max_bytes} are allowed"))


def _check_range(rules: options_pb2.FieldRules, value: float, path: str, out: list[Violation]) -> None:
    if rules.HasField("min") and value < rules.min:
        out.append(Violation("FIELD_INVALID", path, f"is {value}; the least is {rules.min}"))
    if rules.HasField("max") and value > rules.max:
        out.append(Violation("FIELD_INVALID", path, f"is {value}; the most is {rules.max}"))


def _too_many(path: str, count: int, most: int) -> Violation:
    return Violation("FIELD_TOO_LARGE", path, f"has {count} items; at most {most} are allowed")
