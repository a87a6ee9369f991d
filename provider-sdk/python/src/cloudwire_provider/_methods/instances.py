"""Serves the RPCs about instances."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cloudwire_provider import v1
from cloudwire_provider._methods.lookup import DEFAULT_MAX_DATA_AGE, BatchLookUp, Learned
from cloudwire_provider._methods.results import absence
from cloudwire_provider._server.rules import answer_problem
from cloudwire_provider._server.runtime import Runtime, now_timestamp
from cloudwire_provider._server.status import item_error, seconds_of
from cloudwire_provider._telemetry.call_recorder import Call
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.results import Absent, InstanceGone, Upsert
from cloudwire_provider.values import is_same_instance

# What the contract assumes when a provider declares no existence_consistency_delay.
_DEFAULT_CONSISTENCY_DELAY = 60.0


class InstanceService:
    """Serves BatchGetInstances from `get` or `get_many`."""

    def __init__(self, runtime: Runtime) -> None:
        handlers = runtime.provider.instances
        self._runtime = runtime
        self._look_up: BatchLookUp[v1.NodeRef] = BatchLookUp(
            runtime, v1.Instance, handlers.get.function, handlers.get_many.function, self._too_young
        )

    async def get(self, request: v1.BatchGetInstancesRequest, call: Call) -> v1.BatchGetInstancesResponse:
        """Answer each Node."""
        recorder = self._runtime.recorder(request.context, call)
        refs: dict[str, v1.NodeRef] = {}
        planned = [self._plan(node, refs) for node in request.nodes]
        max_age = seconds_of(request.max_data_age) if request.HasField("max_data_age") else DEFAULT_MAX_DATA_AGE
        found = await self._look_up.ask(refs, recorder, max_age)
        results = [item if isinstance(item, v1.InstanceResult) else self._result(item, refs, found) for item in planned]
        return v1.BatchGetInstancesResponse(
            results=results, scope_id=self._runtime.known_scope(), stats=recorder.stats()
        )

    def _plan(self, node: v1.NodeRef, refs: dict[str, v1.NodeRef]) -> str | v1.InstanceResult:
        """Decide what needs no question to the provider, and which Nodes are one question."""
        provider = self._runtime.provider
        if not node.provider_id:
            if not self._runtime.capabilities.instances.lookup_by_name:
                text = f"Node {node.name} has no provider ID; machines are not looked up by name here"
                return v1.InstanceResult(unknown=item_error(ProviderError("FEATURE_UNSUPPORTED", text)))
            # Nodes without provider ID are one question only when every hint is the same.
            key = f"name {node.SerializeToString(deterministic=True)!r}"
            refs.setdefault(key, node)
            return key
        prefix = provider.prefix_of(node.provider_id)
        if prefix is None:
            text = f"provider ID {node.provider_id} has none of the prefixes {', '.join(provider.id_prefixes)}"
            return v1.InstanceResult(not_owned=v1.NotOwned(message=text[:512]))
        if len(prefix) == len(node.provider_id):
            text = f"provider ID {node.provider_id} has nothing after its prefix"
            return v1.InstanceResult(unknown=item_error(ProviderError("PROVIDER_ID_MALFORMED", text)))
        key = f"id {node.provider_id}"
        refs.setdefault(key, node)
        return key

    def _result(self, key: str, refs: Mapping[str, v1.NodeRef], found: Mapping[str, Learned]) -> v1.InstanceResult:
        learned = found[key]
        result = v1.InstanceResult(read_time=learned.read_time)
        outcome = learned.outcome
        if isinstance(outcome, v1.Instance):
            asked = refs[key].provider_id
            instance = completed(self._runtime, outcome, asked)
            problem = answer_problem(instance) or _other_machine(asked, instance.provider_id)
            if problem is None:
                result.instance.CopyFrom(instance)
                # The form that the Node has for its life.
                result.instance.provider_id = asked or instance.provider_id
                return result
            text = "The provider answered an instance that breaks the contract"
            self._runtime.log.error(text, extra={"error": problem})
            outcome = problem
        if isinstance(outcome, v1.Absence):
            result.absent.CopyFrom(outcome)
        elif isinstance(outcome, v1.NotOwned):
            result.not_owned.CopyFrom(outcome)
        elif isinstance(outcome, ProviderError):
            result.unknown.CopyFrom(item_error(outcome))
        return result

    def _too_young(self, node: v1.NodeRef, absent: Absent) -> ProviderError | None:
        """Absence of what is younger than the cloud's read consistency means nothing yet."""
        if not node.HasField("create_time") or absent.basis == "TERMINATED" or absent.strongly_consistent:
            return None
        declared = self._runtime.capabilities.instances
        given = declared.HasField("existence_consistency_delay")
        delay = seconds_of(declared.existence_consistency_delay) if given else _DEFAULT_CONSISTENCY_DELAY
        age = time.time() - (node.create_time.seconds + node.create_time.nanos / 1e9)
        if age >= delay:
            return None
        text = f"Node {node.name} is {age:.0f} s old; the cloud may not show a machine for {delay:.0f} s"
        return ProviderError("NOT_YET_CONSISTENT", text, retry_after=delay - age)


def completed(runtime: Runtime, answer: v1.Instance, asked: str = "") -> v1.Instance:
    """Return an instance as it travels: its id under the prefix it was asked for, no address twice."""
    if not isinstance(answer, v1.Instance):
        msg = "an Instance was expected"
        raise TypeError(msg)
    instance = v1.Instance()
    instance.CopyFrom(answer)
    provider = runtime.provider
    if instance.provider_id:
        instance.provider_id = provider.complete_id(answer.provider_id, provider.prefix_of(asked))
    del instance.addresses[:]
    seen: set[tuple[int, str]] = set()
    for address in answer.addresses:
        if (address.type, address.address) not in seen:
            seen.add((address.type, address.address))
            instance.addresses.append(address)
    return instance


def instance_event(runtime: Runtime, event: Any) -> v1.WatchInstancesResponse:
    """Return an event of a watch as it travels."""
    if isinstance(event, Upsert):
        return v1.WatchInstancesResponse(upsert=completed(runtime, event.value))
    if isinstance(event, InstanceGone):
        provider_id = runtime.provider.complete_id(event.id)
        gone = v1.InstanceGone(provider_id=provider_id, absence=absence(event.absence, now_timestamp()))
        return v1.WatchInstancesResponse(gone=gone)
    msg = f"watch yielded {type(event).__name__}"
    raise TypeError(msg)


def _other_machine(asked: str, answered: str) -> ProviderError | None:
    """The provider ID alone decides which instance is meant: answers out of step must not label another Node."""
    if not asked or is_same_instance(asked, answered):
        return None
    return ProviderError("INVARIANT_BROKEN", f"the provider was asked for {asked} and answered {answered}")
