"""Serves the RPC about volumes."""

from __future__ import annotations

from cloudwire_provider import v1
from cloudwire_provider._methods.lookup import DEFAULT_MAX_DATA_AGE, BatchLookUp, Learned
from cloudwire_provider._server.rules import answer_problem
from cloudwire_provider._server.runtime import Runtime
from cloudwire_provider._server.status import item_error, seconds_of
from cloudwire_provider._telemetry.call_recorder import Call
from cloudwire_provider.errors import ProviderError


class VolumeService:
    """Serves BatchGetVolumes from `get` or `get_many`."""

    def __init__(self, runtime: Runtime) -> None:
        handlers = runtime.provider.volumes
        self._runtime = runtime
        self._look_up: BatchLookUp[v1.VolumeRef] = BatchLookUp(
            runtime, v1.Volume, handlers.get.function, handlers.get_many.function
        )

    async def get(self, request: v1.BatchGetVolumesRequest, call: Call) -> v1.BatchGetVolumesResponse:
        """Answer each volume."""
        recorder = self._runtime.recorder(request.context, call)
        refs: dict[str, v1.VolumeRef] = {}
        planned = [self._plan(volume, refs) for volume in request.volumes]
        max_age = seconds_of(request.max_data_age) if request.HasField("max_data_age") else DEFAULT_MAX_DATA_AGE
        found = await self._look_up.ask(refs, recorder, max_age)
        results = [item if isinstance(item, v1.VolumeResult) else self._result(found[item]) for item in planned]
        return v1.BatchGetVolumesResponse(results=results, scope_id=self._runtime.known_scope(), stats=recorder.stats())

    def _plan(self, volume: v1.VolumeRef, refs: dict[str, v1.VolumeRef]) -> str | v1.VolumeResult:
        claimed = self._runtime.capabilities.volumes
        source = volume.WhichOneof("source")
        if source is None:
            error = ProviderError("FIELD_MISSING", f"PersistentVolume {volume.name} has no source")
            return v1.VolumeResult(unknown=item_error(error))
        if source == "csi" and volume.csi.driver not in claimed.csi_drivers:
            return v1.VolumeResult(
                not_owned=v1.NotOwned(message=f"CSI driver {volume.csi.driver} is not of this cloud")
            )
        if source == "in_tree" and volume.in_tree.plugin not in claimed.in_tree_plugins:
            return v1.VolumeResult(
                not_owned=v1.NotOwned(message=f"plugin {volume.in_tree.plugin} is not of this cloud")
            )
        place = volume.csi if source == "csi" else volume.in_tree
        key = f"{source} {place.SerializeToString(deterministic=True)!r}"
        refs.setdefault(key, volume)
        return key

    def _result(self, learned: Learned) -> v1.VolumeResult:
        result = v1.VolumeResult(read_time=learned.read_time)
        outcome = learned.outcome
        if isinstance(outcome, v1.Volume):
            problem = answer_problem(outcome)
            if problem is None:
                result.volume.CopyFrom(outcome)
                result.volume.zones[:] = sorted(outcome.zones)
                return result
            text = "The provider answered a volume that breaks the contract"
            self._runtime.log.error(text, extra={"error": problem})
            outcome = problem
        if isinstance(outcome, v1.Absence):
            result.absent.CopyFrom(outcome)
        elif isinstance(outcome, v1.NotOwned):
            result.not_owned.CopyFrom(outcome)
        elif isinstance(outcome, ProviderError):
            result.unknown.CopyFrom(item_error(outcome))
        return result
