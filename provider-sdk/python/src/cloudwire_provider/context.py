"""Contexts of handler calls."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloudwire_provider import v1
from cloudwire_provider._state.retries import IDEMPOTENT_METHODS, RetryBudget, wait_before_next
from cloudwire_provider._telemetry.call_recorder import CallRecorder, CloudCall
from cloudwire_provider.errors import Cancelled
from cloudwire_provider.fetch import HttpResponse, send
from cloudwire_provider.log import Log

_READS = {"GET", "HEAD", "OPTIONS"}
# Longest wait for one answer of the cloud where the deadline leaves more.
_MAX_FETCH = 30.0


def _try(url: str, **request: Any) -> tuple[HttpResponse | None, Exception | None]:
    try:
        return send(url, **request), None
    except Exception as error:  # noqa: BLE001 - raised again, unless the next try goes better
        return None, error


def _settled(answer: HttpResponse | None, error: Exception | None) -> HttpResponse:
    if answer is None:
        raise error or TypeError("a try has neither answer nor error")
    return answer


class BackgroundContext:
    """Context of `check` and `learn_scope`, which run in the background."""

    def __init__(self, log: Log, cancelled: threading.Event, deadline: float | None, budget: RetryBudget) -> None:
        self.log = log
        """A logger of JSON lines."""
        self._cancelled = cancelled
        self._deadline = deadline
        self._budget = budget

    @property
    def cancelled(self) -> bool:
        """Whether the caller has canceled, the deadline has passed, or the provider is closing."""
        return self._cancelled.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` if `cancelled` is true; `fetch` and `sleep` do so themselves."""
        if self.cancelled:
            msg = "the caller no longer waits for the answer"
            raise Cancelled(msg)

    def remaining(self) -> float:
        """Seconds left until the deadline; at least 0, infinite for a stream."""
        return float("inf") if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def sleep(self, seconds: float) -> None:
        """Wait in a `def` handler; raises `Cancelled` as soon as `cancelled` is true."""
        self._cancelled.wait(min(seconds, self.remaining()))
        self.raise_if_cancelled()

    def fetch(  # noqa: PLR0913 - each is a fact of its own, all by name
        self,
        url: str,
        *,
        method: str = "GET",
        json: Any | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        mutation: bool | None = None,
        retry: bool | None = None,
    ) -> HttpResponse:
        """
        Send an HTTP request to the cloud and record it. Any status is a response.

        Transient failures (no response, 429, 500, 502 to 504) are retried up to three times, within the deadline and a budget
        of a tenth of all requests. `json`: the body, or bytes as they are. `timeout`: of each try, in seconds; at most the
        time until the deadline, at most 30 by default. `mutation`: it may change something; None: all but GET, HEAD and
        OPTIONS may. `retry`: it may be retried; None: GET, HEAD, OPTIONS, PUT and DELETE may.
        """
        verb = method.upper()
        changes = verb not in _READS if mutation is None else mutation
        may_repeat = verb in IDEMPOTENT_METHODS if retry is None else retry
        tries: list[CloudCall] = []
        self._budget.earn()
        try:
            while True:
                self.raise_if_cancelled()
                patience = max(0.001, min(_MAX_FETCH if timeout is None else timeout, self.remaining()))
                answer, error = _try(url, method=verb, payload=json, headers=headers or {}, timeout=patience)
                status, request_id = (answer.status, answer.request_id) if answer is not None else (None, "")
                tries.append(CloudCall(status, error, changes, bool(tries), request_id, None))
                self._tried(tries[-1])
                wait = None
                if may_repeat:
                    wait = wait_before_next(len(tries), answer, error, self.remaining(), self._budget)
                if wait is None:
                    return _settled(answer, error)
                self.sleep(wait)
        finally:
            self._ended(tries)

    async def fetch_async(  # noqa: PLR0913 - as in fetch
        self,
        url: str,
        *,
        method: str = "GET",
        json: Any | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        mutation: bool | None = None,
        retry: bool | None = None,
    ) -> HttpResponse:
        """Do the same in an `async def` handler; the request runs in a thread."""
        options: dict[str, Any] = {
            "json": json,
            "headers": headers,
            "timeout": timeout,
            "mutation": mutation,
            "retry": retry,
        }
        return await asyncio.to_thread(self.fetch, url, method=method, **options)

    def record_cloud_call(  # noqa: PLR0913 - each is a fact of its own, all by name
        self,
        *,
        status: int | None = None,
        error: BaseException | None = None,
        mutation: bool = False,
        retry: bool = False,
        request_id: str = "",
        data_age: float | None = None,
    ) -> None:
        """
        Report one request to the cloud that was not made with `fetch`, for statistics, status and the check of absences.

        `status`: of the HTTP response; 401, 403 and 5xx make absences in this call invalid. `error`: the error, if there is
        no response. `mutation`: it may have changed something. `retry`: it is a retry. `request_id`: the cloud's own.
        `data_age`: seconds, if the response came from a cache.
        """

    def _tried(self, cloud_call: CloudCall) -> None:
        """Take one try of `fetch` as it ends."""

    def _ended(self, tries: Sequence[CloudCall]) -> None:
        """Take all tries of one `fetch`, whatever ended them."""


class CallContext(BackgroundContext):
    """Context of any call of the controller."""

    def __init__(self, recorder: CallRecorder) -> None:
        call = recorder.call
        super().__init__(recorder.log, recorder.cancelled, None, recorder.shared.budget)
        self._recorder = recorder
        self.method = call.method
        """The RPC, `EnsureLoadBalancer`."""
        self.request_id = call.request_id
        """ID of the call in the logs of controller and provider."""
        self.traceparent = call.traceparent
        """W3C trace context of the caller, if valid."""
        self.cluster: v1.ClusterRef = recorder.cluster
        """The Kubernetes cluster of the caller."""

    def remaining(self) -> float:
        """Seconds left until the deadline; at least 0, infinite for a stream."""
        deadline = self._recorder.call.deadline
        return float("inf") if deadline is None else max(0.0, deadline - time.monotonic())

    def record_cloud_call(  # noqa: D102, PLR0913 - said where it is declared
        self,
        *,
        status: int | None = None,
        error: BaseException | None = None,
        mutation: bool = False,
        retry: bool = False,
        request_id: str = "",
        data_age: float | None = None,
    ) -> None:
        self._recorder.record_cloud_call(CloudCall(status, error, mutation, retry, request_id, data_age))

    def _tried(self, cloud_call: CloudCall) -> None:
        self._recorder.count(cloud_call)

    def _ended(self, tries: Sequence[CloudCall]) -> None:
        self._recorder.conclude(tries)


def forked(context: CallContext) -> tuple[CallContext, Callable[[], str]]:
    """Return a context for a part of a call, and a function that says why it may be incomplete (empty: complete)."""
    recorder = context._recorder.fork()  # noqa: SLF001 - of this module
    recorder.cancelled = context._recorder.cancelled  # noqa: SLF001 - of this module
    return CallContext(recorder), lambda: recorder.errors[0].message if recorder.errors else ""


class ReadContext(CallContext):
    """Context of a lookup."""

    def __init__(self, recorder: CallRecorder, max_data_age: float) -> None:
        super().__init__(recorder)
        self.max_data_age = max_data_age
        """Maximum age of the data, in seconds; 0 forces a read of the cloud."""


class ChangeContext(CallContext):
    """Context of a change."""

    def __init__(self, recorder: CallRecorder, change: v1.ChangeContext) -> None:
        super().__init__(recorder)
        self.change_id = change.request_id
        """ID of the intended change, constant over retries. Key of audit logs."""
        self.validate_only = change.validate_only
        """Check everything, report with `add_planned_change` what would change, and change nothing."""
        self.trigger = change.trigger
        """Trigger of the change, for audit logs: `service created`, `node added`, `drift`."""

    def add_planned_change(self, change: v1.PlannedChange) -> None:
        """Report one change that the call would have made without `validate_only`."""
        self._recorder.plan(change)

    def report_progress(  # each is a fact of its own, all by name
        self,
        *,
        id: str | None = None,  # noqa: A002 - as in Pending
        stage: str | None = None,
        progress_percent: int | None = None,
        message: str | None = None,
    ) -> None:
        """
        Report the progress of a load-balancer change. The arguments are those of `pending`; omitted ones keep their value.

        The SDK returns it to callers when the change takes longer than `limits.soft_call_duration` and goes on in the background.
        """
        said = {"id": id, "stage": stage, "progress_percent": progress_percent, "message": message}
        self._recorder.progress.update({name: value for name, value in said.items() if value is not None})

    def add_diagnostic(self, diagnostic: v1.Diagnostic) -> None:
        """Report something to the user of the object although the call succeeds. At most 32 per call are kept."""
        self._recorder.diagnose(diagnostic)


class RouteContext(ChangeContext):
    """Context of a change, or of a list, of routes."""

    def report_quota(self, *, limit: int, used: int) -> None:
        """Report the usage of the route table, including routes of other owners."""
        self._recorder.route_quota = v1.RouteQuota(limit=limit, used=used)
