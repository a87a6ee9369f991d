"""The contract's service over a provider's handlers, with everything that happens before a handler runs."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from google.protobuf.message import Message

from cloudwire_provider import v1
from cloudwire_provider._methods import checks
from cloudwire_provider._methods.capabilities import annotation_prefixes
from cloudwire_provider._methods.instances import InstanceService, completed, instance_event
from cloudwire_provider._methods.lists import PagedList
from cloudwire_provider._methods.load_balancers import LoadBalancerService, load_balancer_event
from cloudwire_provider._methods.routes import RouteService
from cloudwire_provider._methods.volumes import VolumeService
from cloudwire_provider._methods.watches import serve_watch
from cloudwire_provider._server.classify import classify
from cloudwire_provider._server.contract import METHODS
from cloudwire_provider._server.rpc import Method, StreamMethod, UnaryMethod
from cloudwire_provider._server.rules import Violation, check, quote, refusal
from cloudwire_provider._server.runtime import Runtime
from cloudwire_provider._server.status_monitor import StatusMonitor
from cloudwire_provider._state.call_limit import CallLimit
from cloudwire_provider._telemetry.call_recorder import Call
from cloudwire_provider._version import __version__
from cloudwire_provider.errors import ProviderError

# Class and annotations are hints there: a bad one never makes the call fail, least of all a deletion. Contract, LB-16.
_WITH_HINTS = {"GetLoadBalancer", "UpdateLoadBalancerNodes", "DeleteLoadBalancer"}

Checks = Callable[[Any], list[Violation]]
Work = Callable[[Any, Call], Awaitable[Message]]


def _none(_request: Message) -> list[Violation]:
    return []


class CloudProviderService:
    """The methods of the contract, for one running provider."""

    def __init__(self, runtime: Runtime, status: StatusMonitor, services: list[str]) -> None:
        self._runtime = runtime
        self._status = status
        self._services = services
        self._limit = CallLimit(runtime.limits.max_concurrent_calls)
        self._open: list[PagedList[Any] | LoadBalancerService] = []

    def methods(self) -> list[Method]:
        """Return every method; those of capabilities that are not claimed refuse."""
        claimed = self._runtime.capabilities
        served: list[Method] = [
            UnaryMethod("GetProviderInfo", v1.GetProviderInfoRequest, mutation=False, work=self._get_info),
            UnaryMethod("GetProviderStatus", v1.GetProviderStatusRequest, mutation=False, work=self._get_status),
        ]
        if claimed.HasField("instances"):
            served += self._instance_methods()
        if claimed.HasField("load_balancers"):
            served += self._load_balancer_methods()
        if claimed.HasField("routes"):
            served += self._route_methods()
        if claimed.HasField("volumes"):
            volumes = VolumeService(self._runtime)
            most = claimed.volumes.max_batch_size
            bounds: Checks = lambda request: checks.batch("volumes", request.volumes, most)
            served.append(self._read("BatchGetVolumes", bounds, volumes.get))
        names = {method.name for method in served}
        return served + [_absent(name) for name in METHODS if name not in names]

    def close(self) -> None:
        """End the provider's background work."""
        for service in self._open:
            service.close()

    def info(self) -> v1.GetProviderInfoResponse:
        """Answer the handshake, from memory."""
        provider, runtime = self._runtime.provider, self._runtime
        sdk = {"sdk": f"cloudwire-provider-sdk {__version__}", "runtime": f"python {platform.python_version()}"}
        return v1.GetProviderInfoResponse(
            name=provider.name,
            version=provider.version,
            contract_major=1,
            contract_minor=0,
            services=self._services,
            boot_id=runtime.boot_id,
            provider_id_prefixes=provider.id_prefixes,
            # Empty until the cloud has been reached: the caller waits for the status to name it. Contract, INF-8.
            scope_id=runtime.scope_id(),
            capabilities=runtime.capabilities,
            limits=runtime.limits,
            annotation_prefixes=annotation_prefixes(provider),
            annotations=provider.annotations,
            node_label_keys=provider.node_label_keys,
            node_annotation_keys=provider.node_annotation_keys,
            diagnostics=provider.diagnostics,
            build={**sdk, **provider.build},
            home_url=provider.home_url,
        )

    # Always served: no scope to check, no limit, no cloud.

    async def _get_info(self, request: v1.GetProviderInfoRequest, _call: Call) -> Message:
        refused = refusal("GetProviderInfo", check(request))
        if refused is not None:
            raise refused
        return self.info()

    async def _get_status(self, _request: v1.GetProviderStatusRequest, _call: Call) -> Message:
        return self._status.status()

    def _instance_methods(self) -> list[Method]:
        runtime, claimed = self._runtime, self._runtime.capabilities.instances
        handlers = runtime.provider.instances
        service = InstanceService(runtime)
        bounds: Checks = lambda request: checks.batch("nodes", request.nodes, claimed.max_batch_size)
        methods: list[Method] = [self._read("BatchGetInstances", bounds, service.get)]
        if handlers.list:
            size = claimed.list.max_page_size
            convert: Callable[[Any, v1.ClusterRef], v1.Instance] = lambda item, _cluster: completed(runtime, item)
            pages = PagedList(runtime, handlers.list.function, size, convert)
            methods.append(self._read("ListInstances", checks.page, self._list(pages, v1.ListInstancesResponse)))
        if handlers.watch:
            event: Callable[[Any], v1.WatchInstancesResponse] = lambda item: instance_event(runtime, item)
            response = v1.WatchInstancesResponse
            methods.append(self._watch("WatchInstances", handlers.watch.function, event, response))
        return methods

    def _load_balancer_methods(self) -> list[Method]:
        runtime, claimed = self._runtime, self._runtime.capabilities.load_balancers
        handlers = runtime.provider.load_balancers
        service = LoadBalancerService(runtime)
        self._open.append(service)
        ensure_checks: Checks = lambda request: checks.ensure(request, claimed, runtime.provider.annotations)
        dry = claimed.validate_only
        methods: list[Method] = [
            self._read("GetLoadBalancer", _none, service.get),
            self._change("EnsureLoadBalancer", ensure_checks, service.ensure, dry=dry),
            self._change("DeleteLoadBalancer", _none, service.delete, dry=dry),
        ]
        if handlers.update_nodes:
            update = service.update_nodes
            methods.append(self._change("UpdateLoadBalancerNodes", checks.node_selection, update, dry=dry))
        if claimed.HasField("node_sets"):

            async def apply(request: v1.ApplyNodeSetRequest, _call: Call) -> Message:
                return service.nodes.sets.apply(request)

            chunk: Checks = lambda request: checks.node_set_chunk(request, claimed)
            methods.append(self._read("ApplyNodeSet", chunk, apply))
        if handlers.list:
            pages = PagedList(runtime, handlers.list.function, claimed.list.max_page_size, service.listed)
            answer = self._list(pages, v1.ListLoadBalancersResponse)
            methods.append(self._read("ListLoadBalancers", checks.page, answer))
        if handlers.watch:
            response = v1.WatchLoadBalancersResponse
            methods.append(self._watch("WatchLoadBalancers", handlers.watch.function, load_balancer_event, response))
        return methods

    def _route_methods(self) -> list[Method]:
        claimed = self._runtime.capabilities.routes
        service = RouteService(self._runtime)
        self._open.append(service.pages)
        ensured: Checks = lambda request: checks.routes(request.routes, claimed, needs_target=True)
        deleted: Checks = lambda request: checks.routes(request.routes, claimed, needs_target=False)
        return [
            self._read("ListRoutes", checks.page, service.list),
            self._change("BatchEnsureRoutes", ensured, service.ensure, dry=claimed.validate_only),
            self._change("BatchDeleteRoutes", deleted, service.delete, dry=claimed.validate_only),
        ]

    def _list(self, pages: PagedList[Any], response: Any) -> Work:
        self._open.append(pages)
        field = "instances" if response is v1.ListInstancesResponse else "load_balancers"

        async def answer(request: Any, call: Call) -> Message:
            page = await pages.page(request, call)
            made: Message = response(
                next_page_token=page.next_page_token,
                unreachable=page.unreachable,
                resume_token=page.resume_token,
                complete=page.complete,
                scope_id=self._runtime.known_scope(),
                stats=page.stats,
                **{field: page.items},
            )
            return made

        return answer

    def _read(self, name: str, extra: Checks, work: Work) -> Method:
        async def run(request: Any, call: Call) -> Message:
            self._check(name, request, extra(request))
            with self._limit.taken():
                return await self._observed(work(request, call), call)

        return UnaryMethod(name, getattr(v1, f"{name}Request"), METHODS[name].mutation, run)

    def _change(self, name: str, extra: Checks, work: Work, *, dry: bool) -> Method:
        async def unless_dry(request: Any, call: Call) -> Message:
            if request.change.validate_only and not dry:
                text = f"This provider cannot check {name} without doing it; nothing was changed"
                raise ProviderError("VALIDATE_ONLY_UNSUPPORTED", text, field="change.validate_only")
            return await work(request, call)

        return self._read(name, extra, unless_dry)

    def _watch(self, name: str, handler: Any, convert: Callable[[Any], Any], response: Any) -> Method:
        def run(request: Any, call: Call) -> AsyncIterator[Message]:
            self._check(name, request, checks.watch(request))
            return serve_watch(self._runtime, handler, convert, response, request, call)

        return StreamMethod(name, getattr(v1, f"{name}Request"), run)

    def _check(self, name: str, request: Any, extra: list[Violation]) -> None:
        """Refuse a request that breaks a rule, with all its problems, or is meant for another scope."""
        by_rule = [violation for violation in check(request) if not _is_hint(name, violation.field)]
        # A special finding about a field says more than the rule's about the same field.
        special = {violation.field for violation in extra}
        refused = refusal(name, [*extra, *(violation for violation in by_rule if violation.field not in special)])
        if refused is not None:
            raise refused
        wanted, served = request.context.scope_id, self._runtime.known_scope()
        if wanted != served:
            text = (
                f"context.scope_id is {quote(wanted)}, but the provider works in {quote(served)}: "
                "another account, project or region"
            )
            raise ProviderError("SCOPE_MISMATCH", text, metadata={"expected": wanted, "actual": served})

    async def _observed(self, work: Awaitable[Message], call: Call) -> Message:
        """What a handler raises says as much about the cloud as what it reports."""
        try:
            return await work
        except asyncio.CancelledError:
            # A caller that gave up says nothing about the cloud.
            raise
        except Exception as error:
            self._runtime.shared.observe(classify(error, mutation=call.mutation, correlation_id=call.request_id).error)
            raise


def _is_hint(method: str, field: str) -> bool:
    return method in _WITH_HINTS and (field == "class" or field.startswith("annotations"))


def _absent(name: str) -> Method:
    """Return a method of a capability that is not claimed: refused whatever the request says."""

    def refuse() -> ProviderError:
        return ProviderError("CAPABILITY_ABSENT", f"This provider does not serve {name}; its handshake says so")

    async def unary(_request: Message, _call: Call) -> Message:
        raise refuse()

    async def stream(_request: Message, _call: Call) -> AsyncIterator[Message]:
        raise refuse()
        yield _request

    if name.startswith("Watch"):
        return StreamMethod(name, None, stream)
    return UnaryMethod(name, None, METHODS[name].mutation, unary)
