"""Serves a provider inside a test, and calls it like a controller."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from google.rpc.status_pb2 import Status

from cloudwire_provider import v1
from cloudwire_provider._server.contract import SERVICE
from cloudwire_provider.definition import Provider
from cloudwire_provider.gen.cloudprovider.v1.cloud_provider_pb2_grpc import CloudProviderStub
from cloudwire_provider.server import CheckIntervals, RunningProvider, ServeOptions, UnixEndpoint, start

_START_TIMEOUT = 30.0


class CallFailedError(Exception):
    """A call failed with an error."""

    def __init__(self, method: str, error: grpc.RpcError) -> None:
        failed: Any = error  # grpc raises its call object, which no stub knows
        self.code: grpc.StatusCode = failed.code()
        self.trailers: dict[str, Any] = dict(failed.trailing_metadata() or ())
        self.status = Status.FromString(self.trailers.get("grpc-status-details-bin", b""))
        self.message: str = failed.details() or ""
        info = error_details_pb2.ErrorInfo()
        self.fields: dict[str, str] = {}
        self.retry_after: float | None = None
        for detail in self.status.details:
            detail.Unpack(info)
            self._read(detail)
        self.reason: str = info.reason
        self.domain: str = info.domain
        self.metadata: dict[str, str] = dict(info.metadata)
        super().__init__(f"{method}: {self.code.name} {self.reason}: {self.message}")

    def _read(self, detail: Any) -> None:
        bad, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        if detail.Unpack(bad):
            self.fields = {violation.field: violation.description for violation in bad.field_violations}
        if detail.Unpack(retry):
            self.retry_after = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9


class Client:
    """A client for tests. It adds the missing context to requests."""

    def __init__(self, address: str, provider: RunningProvider | None = None) -> None:
        self.provider = provider
        self.address = address
        # Channels of one process share connections by default, and their calls wait for each other.
        self.channel = grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])
        self.stub = CloudProviderStub(self.channel)
        self.context = v1.CallContext(cluster=v1.ClusterRef(id="test-cluster", name="test"))
        self._sequence = 0

    def call(self, request: Message, timeout: float = 10.0, metadata: tuple[tuple[str, str], ...] = ()) -> Any:
        """Call the RPC that a request is of; raises CallFailedError."""
        method = self._complete(request)
        try:
            return getattr(self.stub, method)(request, timeout=timeout, metadata=metadata)
        except grpc.RpcError as error:
            raise CallFailedError(method, error) from error

    def stream(self, request: Message, timeout: float | None = None) -> Any:
        """Open the stream that a request is of; grpc's own call object, which can be cancelled."""
        return getattr(self.stub, self._complete(request))(request, timeout=timeout)

    def raw(self, method: str, request: bytes, timeout: float = 10.0, service: str = SERVICE) -> bytes:
        """Call a method with bytes, whatever they are; raises CallFailedError."""
        try:
            send: Any = self.channel.unary_unary(f"/{service}/{method}")
            answer: bytes = send(request, timeout=timeout)
        except grpc.RpcError as error:
            raise CallFailedError(method, error) from error
        return answer

    def service(self, uid: str = "uid-1") -> v1.ServiceRef:
        """Return a Service."""
        return v1.ServiceRef(namespace="default", name="web", uid=uid)

    def ensure(self, uid: str = "uid-1", nodes: int = 2, **spec: Any) -> v1.EnsureLoadBalancerRequest:
        """Return a request for a load balancer: TCP port 80 with this number of nodes."""
        port = v1.ServicePort(protocol=v1.PROTOCOL_TCP, port=80, node_port=30080)
        desired = v1.LoadBalancerSpec(**{"ports": [port], **spec})
        return v1.EnsureLoadBalancerRequest(
            service=self.service(uid), spec=desired, spec_fingerprint="spec-1", nodes=self.nodes(nodes)
        )

    def nodes(self, count: int, fingerprint: str = "") -> v1.NodeSelection:
        """Return an inline selection of this number of nodes."""
        return v1.NodeSelection(
            fingerprint=fingerprint or f"nodes-{count}",
            count=count,
            inline=v1.TargetNodeList(nodes=[self.node(index) for index in range(count)]),
        )

    def node(self, index: int) -> v1.TargetNode:
        """Return a node."""
        address = v1.NodeAddress(type=v1.NODE_ADDRESS_TYPE_INTERNAL_IP, address=f"10.0.{index // 256}.{index % 256}")
        return v1.TargetNode(name=f"node-{index}", provider_id=f"acme://i-{index}", addresses=[address])

    def close(self) -> None:
        """End the connection."""
        self.channel.close()

    def _complete(self, request: Any) -> str:
        fields = request.DESCRIPTOR.fields_by_name
        if isinstance(request, v1.GetProviderInfoRequest):
            if not request.HasField("client"):
                request.client.CopyFrom(v1.ClientInfo(name="test", version="1", contract_major=1))
        elif "context" in fields and not request.HasField("context"):
            request.context.CopyFrom(self.context)
        if "change" in fields and not request.change.request_id:
            self._sequence += 1
            request.change.request_id = str(uuid.uuid4())
            request.change.sequence = self._sequence
        return str(request.DESCRIPTOR.name.removesuffix("Request"))


@contextmanager
def serving(provider: Provider, *, wait_for_scope: bool = True, **options: Any) -> Iterator[Client]:
    """
    Serve a provider on a socket of its own while a test runs, and yield a client for it.

    `options`: of `ServeOptions`. Waits until the first check of the cloud has ended and the scope is known, unless
    `wait_for_scope` is False.
    """
    with tempfile.TemporaryDirectory(prefix="cloudwire-") as directory:
        quick = CheckIntervals(good=60.0, bad=0.2, timeout=5.0)
        endpoint = UnixEndpoint(str(Path(directory) / "p.sock"))
        with running(provider, **{"endpoint": endpoint, "check_intervals": quick, "drain": 2.0, **options}) as served:
            client = Client(served.address, served)
            try:
                info = client.call(v1.GetProviderInfoRequest())
                if wait_for_scope:
                    info = _known(client)
                client.context.scope_id = info.scope_id
                yield client
            finally:
                client.close()


def _known(client: Client) -> v1.GetProviderInfoResponse:
    """Poll the status until the first check of the cloud has ended."""
    turn = threading.Event()
    for _ in range(int(_START_TIMEOUT / 0.02)):
        status = client.call(v1.GetProviderStatusRequest())
        checked = all(condition.reason != "NotChecked" for condition in status.conditions)
        if status.scope_id and (checked or status.ready):
            break
        turn.wait(0.02)
    info: v1.GetProviderInfoResponse = client.call(v1.GetProviderInfoRequest())
    return info


@contextmanager
def running(provider: Provider, **options: Any) -> Iterator[RunningProvider]:
    """Serve a provider with options of `ServeOptions`, on an event loop in a thread of its own: tests are plain functions."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="cloudwire-test-provider", daemon=True)
    thread.start()
    try:
        served = asyncio.run_coroutine_threadsafe(start(provider, ServeOptions(**options)), loop).result(_START_TIMEOUT)
        try:
            yield served
        finally:
            asyncio.run_coroutine_threadsafe(served.close(), loop).result(_START_TIMEOUT)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_START_TIMEOUT)
        loop.close()
