"""Serves the RPCs about load balancers."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from cloudwire_provider import v1
from cloudwire_provider._methods.nodes import NodeList, NodeResolver
from cloudwire_provider._methods.results import absence, operation, refuse_absence
from cloudwire_provider._server.rules import answer_problem
from cloudwire_provider._server.runtime import Runtime, draining, now_timestamp
from cloudwire_provider._server.status import response_text, seconds_of
from cloudwire_provider._state.change_serializer import MAX_OPERATION, Change, ChangeSerializer, SequenceFence
from cloudwire_provider._telemetry.call_recorder import Call, CallRecorder
from cloudwire_provider.context import CallContext, ChangeContext
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.requests import DesiredLoadBalancer, DesiredNodes, LoadBalancerRef, load_balancer_key
from cloudwire_provider.results import Absent, LoadBalancerGone, Pending, ResumeFrom, Unreachable, Upsert
from cloudwire_provider.values import canonical_cidrs

# Contract: DeleteLoadBalancerResponse.remaining.
_MAX_REMAINING = 64
# Contract: LoadBalancer.unregistered_nodes.
_MAX_UNREGISTERED_NODES = 100
# Contract: Limits.soft_call_duration, where nothing is declared; seconds.
_DEFAULT_SOFT_CALL = 10.0
# Prefix of the ids of work that outlived its call. It distinguishes them from the vendor's and an earlier process's.
_OPERATION_PREFIX = "cloudwire-operation/"
_STAGE = "the provider is still at work"
# Never the fingerprint of a spec: those are hashes.
_NOT_IN_FORCE = "not in force"

ChangeRequest = v1.EnsureLoadBalancerRequest | v1.UpdateLoadBalancerNodesRequest | v1.DeleteLoadBalancerRequest
Request = ChangeRequest | v1.GetLoadBalancerRequest
ResponseT = TypeVar(
    "ResponseT", v1.EnsureLoadBalancerResponse, v1.UpdateLoadBalancerNodesResponse, v1.DeleteLoadBalancerResponse
)


class LoadBalancerService:
    """Serves the RPCs about one load balancer, one change at a time for each."""

    def __init__(self, runtime: Runtime) -> None:
        claimed = runtime.capabilities.load_balancers
        self.nodes = NodeResolver(runtime.limits.max_inline_nodes, claimed.node_sets.max_sets)
        self._runtime = runtime
        self._handlers = runtime.provider.load_balancers
        # Where the provider's changes exclude each other, none may go on after its call: the next would begin.
        self._may_outlive = claimed.lock_scope in {v1.LOCK_SCOPE_UNSPECIFIED, v1.LOCK_SCOPE_SERVICE}
        limits = runtime.limits
        declared = limits.HasField("soft_call_duration")
        self._serializer: ChangeSerializer[Any] = ChangeSerializer(
            seconds_of(limits.soft_call_duration) if declared else _DEFAULT_SOFT_CALL
        )
        self._fence = SequenceFence()

    def close(self) -> None:
        """End the changes that outlived their calls."""
        self._serializer.close(draining())

    async def ensure(self, request: v1.EnsureLoadBalancerRequest, call: Call) -> v1.EnsureLoadBalancerResponse:
        """Reconcile the load balancer to its spec."""
        ref = _ref(request)

        async def work(recorder: CallRecorder) -> v1.EnsureLoadBalancerResponse:
            nodes, facts = self._wanted_nodes(ref["key"], request)
            recorder.progress["updating"] = facts["nodes_diff"] is not None
            wanted = DesiredLoadBalancer(
                **ref,
                **facts,
                spec=_canonical(request.spec),
                spec_fingerprint=request.spec_fingerprint,
                adopt=request.adopt.load_balancer_id,
            )
            context = ChangeContext(recorder, request.change)
            answer = await self._runtime.run(self._handlers.ensure.function, recorder, wanted, context)
            if answer is None and request.change.validate_only:
                return v1.EnsureLoadBalancerResponse(**_reported(recorder))
            made = self._checked(answer, request, request.spec_fingerprint, request.nodes.fingerprint)
            self._acknowledge(ref["key"], made, nodes, request)
            return v1.EnsureLoadBalancerResponse(load_balancer=made, **_reported(recorder))

        def unfinished(recorder: CallRecorder, going_on: Pending) -> v1.EnsureLoadBalancerResponse:
            made = self._checked(going_on, request, "", "")
            return v1.EnsureLoadBalancerResponse(load_balancer=made, **_reported(recorder))

        desired = ["ensure", request.spec_fingerprint, request.nodes.fingerprint, request.adopt.load_balancer_id]
        return await self._in_turn(request, call, json.dumps(desired), work, unfinished)

    async def update_nodes(
        self, request: v1.UpdateLoadBalancerNodesRequest, call: Call
    ) -> v1.UpdateLoadBalancerNodesResponse:
        """Make its targets be these nodes."""
        ref = _ref(request)

        async def work(recorder: CallRecorder) -> v1.UpdateLoadBalancerNodesResponse:
            nodes, facts = self._wanted_nodes(ref["key"], request)
            recorder.progress["updating"] = True
            context = ChangeContext(recorder, request.change)
            wanted = DesiredNodes(**ref, **facts)
            answer = await self._runtime.run(self._handlers.update_nodes.function, recorder, wanted, context)
            made = self._checked(answer, request, "", request.nodes.fingerprint)
            self._acknowledge(ref["key"], made, nodes, request)
            return v1.UpdateLoadBalancerNodesResponse(load_balancer=made, **_reported(recorder))

        def unfinished(recorder: CallRecorder, going_on: Pending) -> v1.UpdateLoadBalancerNodesResponse:
            made = self._checked(going_on, request, "", "")
            return v1.UpdateLoadBalancerNodesResponse(load_balancer=made, **_reported(recorder))

        desired = ["update_nodes", request.nodes.fingerprint]
        return await self._in_turn(request, call, json.dumps(desired), work, unfinished)

    async def delete(self, request: v1.DeleteLoadBalancerRequest, call: Call) -> v1.DeleteLoadBalancerResponse:
        """Make it be gone."""
        ref = _ref(request)

        async def work(recorder: CallRecorder) -> v1.DeleteLoadBalancerResponse:
            if not request.change.validate_only:
                self.nodes.forget(ref["key"])
            context = ChangeContext(recorder, request.change)
            wanted = LoadBalancerRef(**ref)
            answer = await self._runtime.run(self._handlers.delete.function, recorder, wanted, context)
            if answer is None:
                return v1.DeleteLoadBalancerResponse(done=True, **_reported(recorder))
            if not isinstance(answer, Pending):
                raise _no_answer("delete", answer)
            return unfinished(recorder, answer)

        def unfinished(recorder: CallRecorder, going_on: Pending) -> v1.DeleteLoadBalancerResponse:
            left = [response_text(item, 253) for item in list(going_on.remaining)[:_MAX_REMAINING]]
            return v1.DeleteLoadBalancerResponse(operation=operation(going_on), remaining=left, **_reported(recorder))

        return await self._in_turn(request, call, "delete", work, unfinished)

    async def get(self, request: v1.GetLoadBalancerRequest, call: Call) -> v1.GetLoadBalancerResponse:
        """Read it."""
        call_time = now_timestamp()
        recorder = self._runtime.recorder(request.context, call)
        ref = LoadBalancerRef(**_ref(request))
        # Before the read: what ends while it goes on is asked about once more.
        state = self._long_work(ref.key, request.operation_id)
        answer = await self._read(ref, recorder)
        diagnostics, stats = recorder.diagnostics, recorder.stats()
        if not isinstance(answer, Absent):
            found = self._with_long_work(self._checked(answer, request, "", ""), ref.key, state)
            return v1.GetLoadBalancerResponse(load_balancer=found, diagnostics=diagnostics, stats=stats)
        refused = refuse_absence(answer, recorder.errors)
        if refused is not None:
            raise refused
        said = absence(answer, call_time)
        return v1.GetLoadBalancerResponse(absent=said, diagnostics=diagnostics, stats=stats)

    async def _read(self, ref: LoadBalancerRef, recorder: CallRecorder) -> Any:
        if self._handlers.get:
            return await self._runtime.run(self._handlers.get.function, recorder, ref, CallContext(recorder))
        unread = ""
        if self._handlers.list.function is None:
            msg = "the provider has neither get nor list"
            raise TypeError(msg)
        async for item in self._runtime.items(self._handlers.list.function, recorder, CallContext(recorder)):
            if isinstance(item, Unreachable):
                unread = item.place
            elif not isinstance(item, ResumeFrom) and item.service.uid == ref.service.uid:
                return item
        if not unread:
            return Absent("COMPLETE_LIST_MISS")
        text = f"the load balancer was not found, but {unread} could not be read"
        raise ProviderError("ZONE_UNREACHABLE", text, metadata={"zone": unread})

    async def _in_turn(
        self,
        request: ChangeRequest,
        call: Call,
        digest: str,
        work: Callable[[CallRecorder], Awaitable[ResponseT]],
        unfinished: Callable[[CallRecorder, Pending], ResponseT],
    ) -> ResponseT:
        """Run one change at a time: repetitions get its answer, superseded ones fail, long ones are pending."""
        # The work may outlive the call that began it.
        recorder = self._runtime.recorder(request.context, replace(call))
        if request.change.validate_only:
            return await work(recorder)
        key, sequence = load_balancer_key(request.context.cluster.id, request.service.uid), request.change.sequence

        def superseded() -> ProviderError | None:
            return self._fence.superseded(key, sequence)

        async def unless_superseded() -> ResponseT:
            # Here and not before: a newer change may have passed while this one waited for its turn.
            refused = superseded()
            if refused is not None:
                raise refused
            self._fence.begin(key, sequence)
            return await work(recorder)

        def pending() -> ResponseT:
            recorder.call.deadline = time.monotonic() + MAX_OPERATION
            # An object needs an id before the cloud has given it one.
            named = {"id": getattr(request, "load_balancer_id", "") or self._operation_id(key), "stage": _STAGE}
            said = {**named, **recorder.progress, "operation_id": self._operation_id(key)}
            return unfinished(recorder, Pending(**said))

        lasting = pending if self._may_outlive else None
        change_id = request.change.request_id
        change = Change(key, change_id, digest, unless_superseded, _is_final, superseded, lasting)
        answer: ResponseT = await self._serializer.run(change)
        return answer

    def listed(self, item: Any, cluster: v1.ClusterRef) -> v1.LoadBalancer:
        """Return a load balancer of a list as it travels."""
        made = as_load_balancer(item)
        key = load_balancer_key(cluster.id, made.service.uid)
        return self._with_long_work(made, key, self._serializer.state(key))

    def _operation_id(self, key: str) -> str:
        return f"{_OPERATION_PREFIX}{self._runtime.boot_id}/{key}"

    def _long_work(self, key: str, operation_id: str) -> str | None:
        state = self._serializer.state(key)
        ours = operation_id.startswith(f"{_OPERATION_PREFIX}{self._runtime.boot_id}/")
        if state is not None or ours or not _is_sdks(operation_id):
            return state
        # Of an earlier process, which did not live to see its end.
        return "failed"

    def _with_long_work(self, made: v1.LoadBalancer, key: str, state: str | None) -> v1.LoadBalancer:
        """Do not report the desired state as applied while a change is in progress or after it has failed."""
        if state is None or made.HasField("operation"):
            return made
        if state == "failed":
            made.spec_fingerprint = _NOT_IN_FORCE
            return made
        if made.phase == v1.LOAD_BALANCER_PHASE_ACTIVE:
            made.phase = v1.LOAD_BALANCER_PHASE_UPDATING
        elif made.phase == v1.LOAD_BALANCER_PHASE_FAILED:
            made.phase = v1.LOAD_BALANCER_PHASE_PROVISIONING
        going_on = Pending(made.id, stage=_STAGE, operation_id=self._operation_id(key))
        made.operation.CopyFrom(operation(going_on))
        return made

    def _wanted_nodes(
        self, key: str, request: v1.EnsureLoadBalancerRequest | v1.UpdateLoadBalancerNodesRequest
    ) -> tuple[NodeList, dict[str, Any]]:
        """
        Return the desired nodes, and the arguments that handlers get about them.

        After a failed change the targets are unknown: until the next success, none count as known.
        """
        nodes = self.nodes.resolve(key, request.nodes)
        diff = self.nodes.diff(key, nodes)
        if not request.change.validate_only:
            self.nodes.forget(key)
        facts = {"nodes": nodes.nodes, "nodes_fingerprint": request.nodes.fingerprint, "nodes_diff": diff}
        return nodes, facts

    def _checked(self, answer: Any, request: Request, spec_fingerprint: str, nodes_fingerprint: str) -> v1.LoadBalancer:
        """Return an answer as it is sent; the desired state that was just applied fills what it leaves out."""
        if not isinstance(answer, (v1.LoadBalancer, Pending)):
            raise _no_answer(type(request).__name__, answer)
        made = as_load_balancer(answer)
        if not made.HasField("service"):
            made.service.CopyFrom(request.service)
        finished = not made.HasField("operation") and made.phase != v1.LOAD_BALANCER_PHASE_FAILED
        # With validate_only nothing was applied: only what the provider itself returns is reported.
        dry = not isinstance(request, v1.GetLoadBalancerRequest) and request.change.validate_only
        if finished and not dry:
            made.spec_fingerprint = made.spec_fingerprint or spec_fingerprint
            if not made.unregistered_nodes:
                made.nodes_fingerprint = made.nodes_fingerprint or nodes_fingerprint
        problem = answer_problem(made)
        if problem is not None:
            raise problem
        return made

    def _acknowledge(self, key: str, made: v1.LoadBalancer, nodes: NodeList, request: ChangeRequest) -> None:
        if not request.change.validate_only and made.nodes_fingerprint == nodes.fingerprint:
            self.nodes.acknowledge(key, nodes)


def as_load_balancer(answer: v1.LoadBalancer | Pending) -> v1.LoadBalancer:
    """Return a load balancer with its phase."""
    made = v1.LoadBalancer()
    if isinstance(answer, Pending):
        made.id = answer.id
        made.operation.CopyFrom(operation(answer))
        if answer.updating:
            made.phase = v1.LOAD_BALANCER_PHASE_UPDATING
    elif isinstance(answer, v1.LoadBalancer):
        made.CopyFrom(answer)
        if made.unregistered_nodes:
            # Nodes that are not all targets are not in force: no fingerprint acknowledges them.
            made.nodes_fingerprint = ""
            del made.unregistered_nodes[_MAX_UNREGISTERED_NODES:]
    else:
        msg = "a LoadBalancer was expected"
        raise TypeError(msg)
    if made.phase == v1.LOAD_BALANCER_PHASE_UNSPECIFIED:
        working = made.HasField("operation")
        made.phase = v1.LOAD_BALANCER_PHASE_PROVISIONING if working else v1.LOAD_BALANCER_PHASE_ACTIVE
    return made


def load_balancer_event(event: Any) -> v1.WatchLoadBalancersResponse:
    """Return an event of a watch as it travels."""
    if isinstance(event, Upsert):
        return v1.WatchLoadBalancersResponse(upsert=as_load_balancer(event.value))
    if isinstance(event, LoadBalancerGone):
        said = absence(event.absence, now_timestamp())
        gone = v1.LoadBalancerGone(service=event.service, load_balancer_id=event.id, absence=said)
        return v1.WatchLoadBalancersResponse(gone=gone)
    msg = f"watch yielded {type(event).__name__}"
    raise TypeError(msg)


def _ref(request: Request) -> dict[str, Any]:
    """Return the facts of a reference, as keywords of the classes that handlers are given."""
    source = request.spec if isinstance(request, v1.EnsureLoadBalancerRequest) else request
    return {
        "key": load_balancer_key(request.context.cluster.id, request.service.uid),
        "cluster": request.context.cluster,
        "service": request.service,
        "load_balancer_class": getattr(source, "class") if source.HasField("class") else None,
        "annotations": dict(source.annotations),
        "id": _vendors(getattr(request, "load_balancer_id", "")),
        "operation_id": _vendors(getattr(request, "operation_id", "")),
    }


def _is_sdks(name: str) -> bool:
    return name.startswith(_OPERATION_PREFIX)


def _vendors(name: str) -> str:
    """Ids that the SDK made for its own work mean nothing to a provider."""
    return "" if _is_sdks(name) else name


def _reported(recorder: CallRecorder) -> dict[str, Any]:
    return {
        "diagnostics": recorder.diagnostics,
        "planned_changes": recorder.planned_changes,
        "stats": recorder.stats(),
    }


def _no_answer(method: str, answer: object) -> ProviderError:
    return ProviderError(
        "INVARIANT_BROKEN", f"{method}: the provider answered {type(answer).__name__}, no load balancer"
    )


def _is_final(response: Any) -> bool:
    """Work that goes on, or that failed, is asked about again and must not be answered from memory."""
    if isinstance(response, v1.DeleteLoadBalancerResponse):
        return response.done
    made: v1.LoadBalancer = response.load_balancer
    return not made.HasField("operation") and made.phase == v1.LOAD_BALANCER_PHASE_ACTIVE


def _canonical(spec: v1.LoadBalancerSpec) -> v1.LoadBalancerSpec:
    """Return the spec with canonical source ranges. The request stays as it is: its digest identifies it."""
    out = v1.LoadBalancerSpec()
    out.CopyFrom(spec)
    if spec.HasField("source_ranges"):
        out.source_ranges.cidrs[:] = canonical_cidrs(spec.source_ranges.cidrs)
    return out
