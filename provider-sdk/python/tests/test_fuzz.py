"""Arbitrary bytes and arbitrary valid messages: no crash, no hang, and only the errors that the contract lists."""

from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import example, given
from hypothesis import strategies as st

from cloudwire_provider import Provider, Upsert, VolumeFeatures, absent, ingress, v1
from cloudwire_provider._server.contract import METHODS, REASONS
from cloudwire_provider.gen.cloudprovider.v1 import cloud_provider_pb2
from cloudwire_provider.testing import CallFailedError, Client, serving

SERVICE = cloud_provider_pb2.DESCRIPTOR.services_by_name["CloudProvider"]
UNARY = sorted(method.name for method in SERVICE.methods if not method.server_streaming)
STREAMS = sorted(method.name for method in SERVICE.methods if method.server_streaming)
NAMES = st.sampled_from(["", "a", "acme://i-1", "gce://x", "10.0.0.0/8", "account-42", "test-cluster", "k" * 300])
TEXT = st.one_of(NAMES, st.text(max_size=20))
DEPTH = 5


def scalar(field: Any) -> st.SearchStrategy[Any]:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return TEXT if field.type == FieldDescriptor.TYPE_STRING else st.binary(max_size=20)
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return st.booleans()
    if kind in {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}:
        return st.floats(width=32)
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return st.one_of(st.sampled_from([value.number for value in field.enum_type.values]), st.integers(0, 2**31 - 1))
    low, high = {
        FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
        FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
        FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
        FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
    }[kind]
    return st.one_of(st.integers(max(low, 0), 3), st.integers(low, high))


@st.composite
def messages(draw: Any, cls: type[Any], depth: int = DEPTH) -> Any:
    """Any message of a class: each field left out, or anything that its type takes."""
    made = cls()
    for field in cls.DESCRIPTOR.fields:
        if depth == 0 or draw(st.integers(0, 3)) == 0:
            continue
        if field.message_type and field.message_type.GetOptions().map_entry:
            getattr(made, field.name).update(draw(st.dictionaries(TEXT, TEXT, max_size=2)))
        elif field.message_type:
            inner = messages(field.message_type._concrete_class, depth - 1)
            if field.is_repeated:
                getattr(made, field.name).extend(draw(st.lists(inner, max_size=2)))
            else:
                getattr(made, field.name).CopyFrom(draw(inner))
        elif field.is_repeated:
            getattr(made, field.name).extend(draw(st.lists(scalar(field), max_size=2)))
        else:
            setattr(made, field.name, draw(scalar(field)))
    return made


@pytest.fixture(scope="module")
def client() -> Any:
    """A provider with every handler, whose answers are as odd as a careless vendor's."""
    provider = Provider(name="acme.example.com", version="1", id_prefixes=["acme://"], scope="account-42")
    provider.check(lambda _context: None)
    provider.instances.get(lambda ref, _context: v1.Instance(provider_id=ref.provider_id, name=ref.name))
    provider.instances.list(lambda _context: iter([v1.Instance(provider_id="i-1", name="one")]))
    provider.instances.watch(lambda _request, _context: iter([Upsert(v1.Instance(provider_id="i-1", name="one"))]))
    balancers = provider.load_balancers
    balancers.ensure(lambda wanted, _context: v1.LoadBalancer(id=wanted.key, ingress=ingress("192.0.2.1")))
    balancers.update_nodes(lambda wanted, _context: v1.LoadBalancer(id=wanted.key))
    balancers.delete(lambda _ref, _context: None)
    balancers.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    balancers.list(
        lambda _context: iter([v1.LoadBalancer(id="lb", service=v1.ServiceRef(namespace="a", name="b", uid="c"))])
    )
    balancers.watch(lambda _request, _context: iter([Upsert("no load balancer")]))
    provider.routes.list(lambda _context: iter([v1.Route(id="r", destination_cidr="10.0.0.0/24")]))
    provider.routes.ensure(lambda route, _context: route)
    provider.routes.delete(lambda _route, _context: None)
    provider.volumes.features = VolumeFeatures(csi_drivers=["a"])
    provider.volumes.get(lambda ref, _context: v1.Volume(id=ref.csi.volume_handle))
    with serving(provider) as made:
        yield made


def check_error(error: CallFailedError, method: str) -> None:
    """Check that the error matches the contract."""
    assert error.domain == "cloudprovider.v1"
    assert error.reason in METHODS[method].reasons
    assert error.code.value[0] == REASONS[error.reason].code
    assert error.status.ByteSize() <= 4096
    assert len(error.message.encode()) <= 1024
    assert error.reason != "UNMAPPED_ERROR", error.message
    if error.code is grpc.StatusCode.INVALID_ARGUMENT and error.message.startswith(f"{method} is refused"):
        assert error.fields


def drain(stream: Any, method: str) -> None:
    """Read a stream to its end; it never ends with OK."""
    try:
        for _ in stream:
            continue
    except grpc.RpcError as error:
        check_error(CallFailedError(method, error), method)
    else:
        pytest.fail("a stream ended with OK")


@given(method=st.sampled_from(UNARY), request=st.binary(max_size=200))
@example(method="BatchGetInstances", request=b"\xff" * 64)
def test_arbitrary_bytes_are_answered(client: Client, method: str, request: bytes) -> None:
    try:
        client.raw(method, request)
    except CallFailedError as error:
        check_error(error, method)


@given(data=st.data(), method=st.sampled_from(UNARY), given_context=st.booleans())
def test_arbitrary_messages_are_answered(client: Client, data: Any, method: str, given_context: bool) -> None:
    request = data.draw(messages(getattr(v1, f"{method}Request")))
    if given_context and "context" in request.DESCRIPTOR.fields_by_name:
        request.context.CopyFrom(client.context)
    try:
        client.raw(method, request.SerializeToString())
    except CallFailedError as error:
        check_error(error, method)


@given(data=st.data(), method=st.sampled_from(STREAMS), given_context=st.booleans())
def test_arbitrary_watches_end_with_an_error(client: Client, data: Any, method: str, given_context: bool) -> None:
    request = data.draw(messages(getattr(v1, f"{method}Request")))
    if given_context:
        request.context.CopyFrom(client.context)
    drain(getattr(client.stub, method)(request, timeout=10), method)


@given(request=st.binary(max_size=100), service=st.sampled_from(["v1", "v1alpha"]))
def test_reflection_survives_arbitrary_bytes(client: Client, request: bytes, service: str) -> None:
    call: Any = client.channel.stream_stream(f"/grpc.reflection.{service}.ServerReflection/ServerReflectionInfo")
    try:
        assert len(list(call(iter([request]), timeout=10))) == 1
    except grpc.RpcError as error:
        failed: Any = error
        assert failed.code() is grpc.StatusCode.INVALID_ARGUMENT
