"""Remembers what the handler of one call reports, for the answer, the status and the absence guard."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cloudwire_provider import v1
from cloudwire_provider._server.classify import classify, from_http_status
from cloudwire_provider._server.status import MAX_MESSAGE_BYTES, duration, response_text
from cloudwire_provider._state.retries import RetryBudget
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.log import Log

_MAX_ERRORS = 32
_MAX_DIAGNOSTICS = 32
_MAX_PLANNED_CHANGES = 1000
_MAX_CLOUD_REQUEST_IDS = 5

# What a proxy refused (407) is no answer of the cloud either.
_REFUSALS = {401, 403, 407, 408, 429}

Observe = Callable[["ProviderError | None"], None]
"""Called with the outcome of each request: None if the cloud answered, else the error. May be called in any thread."""


@dataclass
class Call:
    """One RPC, from its arrival to its answer."""

    method: str
    mutation: bool
    request_id: str
    traceparent: str | None
    deadline: float | None
    """On the monotonic clock; None: a stream without one."""

    @property
    def facts(self) -> dict[str, str]:
        """What each line of the log says about the call it belongs to."""
        trace = {} if self.traceparent is None else {"traceID": self.traceparent.split("-")[1]}
        return {"method": self.method, "requestID": self.request_id, **trace}


@dataclass(frozen=True)
class CloudCall:
    """One request to the cloud."""

    status: int | None
    error: BaseException | None
    mutation: bool
    retry: bool
    request_id: str
    data_age: float | None

    @property
    def unanswered(self) -> bool:
        """Nothing may be concluded from it. Other statuses of 4xx are answers."""
        return self.error is not None or (self.status is not None and (self.status >= 500 or self.status in _REFUSALS))


@dataclass(frozen=True)
class Shared:
    """What the recorders of all calls have in common."""

    observe: Observe
    cloud_called: Callable[[CloudCall], None]
    """Called for each request to the cloud. May be called in any thread."""
    budget: RetryBudget


class CallRecorder:
    """What one call has reported so far. Handlers may use it in any thread."""

    def __init__(
        self,
        call: Call,
        cluster: v1.ClusterRef,
        log: Log,
        shared: Shared,
        parent: CallRecorder | None = None,
    ) -> None:
        self.call = call
        self.cluster = cluster
        self.log = log
        self.cancelled = threading.Event()
        self.errors: list[ProviderError] = []
        """Those that the handler met or answered; the first ones, if there are many."""
        self.diagnostics: list[v1.Diagnostic] = []
        self.planned_changes: list[v1.PlannedChange] = []
        self.progress: dict[str, Any] = {}
        """How far the handler says that it is, as fields of `Pending`."""
        self.route_quota: v1.RouteQuota | None = None
        self.shared = shared
        self._parent = parent
        self._lock = threading.Lock()
        self._stats = v1.CallStats()
        self._data_age: float | None = None

    def fork(self) -> CallRecorder:
        """Return a recorder for one item of many: it has its own errors and shares the call's costs."""
        return CallRecorder(self.call, self.cluster, self.log, self.shared, self)

    def stats(self, *, take: bool = False) -> v1.CallStats:
        """What the call has cost; with `take`, reset the counts."""
        with self._lock:
            stats = v1.CallStats()
            stats.CopyFrom(self._stats)
            del stats.cloud_request_ids[:-_MAX_CLOUD_REQUEST_IDS]
            if self._data_age is not None:
                stats.data_age.CopyFrom(duration(self._data_age))
            if take:
                self._stats = v1.CallStats()
                self._data_age = None
        return stats

    def plan(self, change: v1.PlannedChange) -> None:
        """Keep a change that was left undone."""
        if len(self.planned_changes) < _MAX_PLANNED_CHANGES:
            shown = v1.PlannedChange()
            shown.CopyFrom(change)
            shown.summary = response_text(change.summary, MAX_MESSAGE_BYTES)
            self.planned_changes.append(shown)

    def diagnose(self, diagnostic: v1.Diagnostic) -> None:
        """Keep something for the user."""
        if len(self.diagnostics) < _MAX_DIAGNOSTICS:
            shown = v1.Diagnostic()
            shown.CopyFrom(diagnostic)
            shown.summary = response_text(diagnostic.summary, MAX_MESSAGE_BYTES)
            shown.detail = response_text(diagnostic.detail, MAX_MESSAGE_BYTES)
            self.diagnostics.append(shown)

    def record_cloud_call(self, cloud_call: CloudCall) -> None:
        """Count one request to the cloud and draw conclusions from its outcome."""
        self.count(cloud_call)
        self._evaluate(cloud_call)

    def conclude(self, tries: Sequence[CloudCall]) -> None:
        """
        Draw conclusions from all tries of one request, which are counted already.

        A failure that the same request overcame is no news of the cloud. Only a success overcomes it: a 404 after a 503 may
        come from what stands before the cloud, and must not become an absence.
        """
        status = tries[-1].status if tries else None
        succeeded = status is not None and status < 400
        for cloud_call in tries[-1:] if succeeded else tries:
            self._evaluate(cloud_call)
        if any(cloud_call.status == 429 for cloud_call in tries):
            self._throttle()

    def _evaluate(self, cloud_call: CloudCall) -> None:
        # A request that the caller's impatience ended says nothing about the cloud.
        if self.cancelled.is_set():
            return
        if cloud_call.unanswered:
            self.note_error(_failure_of(cloud_call))
        else:
            self.shared.observe(None)

    def note_error(self, error: ProviderError) -> None:
        """Draw conclusions from an error that the handler met or answered."""
        with self._lock:
            if len(self.errors) < _MAX_ERRORS:
                self.errors.append(error)
            elif error.forbids_absence:
                # One that forbids absences must not be lost behind many that do not.
                self.errors[0] = error
        if error.reason == "RATE_LIMITED":
            self._throttle()
        self.shared.observe(error)

    def _throttle(self) -> None:
        with self._lock:
            self._stats.throttled = True
        if self._parent is not None:
            self._parent._throttle()  # noqa: SLF001 - another of the same class

    def count(self, cloud_call: CloudCall) -> None:
        """Count one request to the cloud."""
        with self._lock:
            self._stats.cloud_calls += 1
            self._stats.cloud_mutations += cloud_call.mutation
            self._stats.cloud_retries += cloud_call.retry
            if cloud_call.data_age is not None:
                self._data_age = max(self._data_age or 0.0, cloud_call.data_age)
            if cloud_call.request_id:
                self._stats.cloud_request_ids.append(cloud_call.request_id[:128])
        if self._parent is not None:
            self._parent.count(cloud_call)
        else:
            self.shared.cloud_called(cloud_call)


def _failure_of(cloud_call: CloudCall) -> ProviderError:
    """Whatever it was, the question was not answered."""
    if cloud_call.error is not None:
        found = classify(cloud_call.error, mutation=cloud_call.mutation, correlation_id="")
        if not found.masked:
            return found.error
    known = from_http_status(cloud_call.status, mutation=cloud_call.mutation) if cloud_call.status else None
    return known or ProviderError("INCOMPLETE_ANSWER", "A request to the cloud met an error that is not known")
