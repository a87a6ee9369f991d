"""Runs `check` and `learn_scope` in the background and answers status from what they and real calls found."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import Any

from cloudwire_provider import v1
from cloudwire_provider._methods.results import to_timestamp
from cloudwire_provider._server.classify import classify
from cloudwire_provider._server.runtime import Workers, in_thread, now_timestamp
from cloudwire_provider._state.retries import RetryBudget
from cloudwire_provider.context import BackgroundContext
from cloudwire_provider.definition import Provider
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.features import CheckResult
from cloudwire_provider.log import Log

# Contract: GetProviderInfoResponse.scope_id.
_MAX_SCOPE_BYTES = 253

_NOT_CHECKED = "The cloud has not been asked yet"


@dataclass(frozen=True, kw_only=True)
class CheckIntervals:
    """How often the cloud is checked while all is well and while not, and how long one check may take; seconds."""

    good: float = 60.0
    """Between checks while all is well."""
    bad: float = 10.0
    """Between checks while it is not."""
    timeout: float = 10.0
    """Longest time that a check may take."""


class StatusMonitor:
    """What is known about the cloud now."""

    def __init__(  # noqa: PLR0913, PLR0917 - called once, at the start
        self,
        provider: Provider,
        boot_id: str,
        log: Log,
        workers: Workers,
        intervals: CheckIntervals,
        budget: RetryBudget,
    ) -> None:
        self.scope_id = provider.scope if isinstance(provider.scope, str) else ""
        """What the credentials reach; empty until `learn_scope` has answered once."""
        self._provider = provider
        self._boot_id = boot_id
        self._log = log
        self._workers = workers
        self._intervals = intervals
        self._budget = budget
        self._conditions: dict[str, v1.Condition] = {}
        self._last_result = CheckResult()
        self._last_success = v1.GetProviderStatusResponse()
        self._checked = False
        self._look_again = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._set("CloudReachable", None, "NotChecked", _NOT_CHECKED)
        self._set("CredentialsValid", None, "NotChecked", _NOT_CHECKED)

    @property
    def ready(self) -> bool:
        """Calls can be expected to work."""
        states = [self._conditions[kind].status for kind in ("CloudReachable", "CredentialsValid")]
        return self._checked and bool(self.scope_id) and all(state == v1.CONDITION_STATUS_TRUE for state in states)

    def start(self) -> None:
        """Begin to check."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """End: no check runs after it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=1.0)

    def observe(self, failure: ProviderError | None) -> None:
        """Take what a real call found, in any thread. A failure brings the next check forward."""
        if self._loop is None or self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._observe, failure)

    def status(self) -> v1.GetProviderStatusResponse:
        """Answer GetProviderStatus."""
        response = v1.GetProviderStatusResponse(
            ready=self.ready,
            boot_id=self._boot_id,
            scope_id=self.scope_id,
            config_revision=self._last_result.config_revision,
            conditions=list(self._conditions.values()),
            rate_limits=self._last_result.rate_limits,
        )
        if self._last_success.HasField("last_cloud_success_time"):
            response.last_cloud_success_time.CopyFrom(self._last_success.last_cloud_success_time)
        if self._last_result.credentials_expire_time is not None:
            response.credentials_expire_time.CopyFrom(to_timestamp(self._last_result.credentials_expire_time))
        return response

    def _observe(self, failure: ProviderError | None) -> None:
        was_ready = self.ready
        if failure is None:
            self._succeeded()
        else:
            self._failed(failure)
        if was_ready and not self.ready:
            self._look_again.set()

    async def _run(self) -> None:
        while True:
            await self._check()
            interval = self._intervals.good if self.ready else self._intervals.bad
            await self._pause(interval)

    async def _pause(self, seconds: float) -> None:
        """Wait for the next check; a failure of a call shortens a long wait to a short one, and never more than that."""
        self._look_again.clear()
        try:
            await asyncio.wait_for(self._look_again.wait(), seconds)
        except asyncio.TimeoutError:
            return
        await asyncio.sleep(min(seconds, self._intervals.bad))

    async def _check(self) -> None:
        cancelled = threading.Event()
        deadline = time.monotonic() + self._intervals.timeout
        context = BackgroundContext(self._log, cancelled, deadline, self._budget)
        try:
            if callable(self._provider.scope):
                self._set_scope(await self._ask(self._provider.scope, context, cancelled))
            result = await self._ask(self._provider.checker, context, cancelled)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the outcome of the check
            found = classify(error, mutation=False, correlation_id="this entry").error
            facts = {"reason": found.reason, "error": error}
            self._log.warning("The check of the cloud failed", extra=facts)
            self._checked = True
            if not self._failed(found):
                self._set("CloudReachable", False, "CheckFailed", found.message)
            return
        self._checked = True
        self._last_result = result or CheckResult()
        self._succeeded()
        for condition in self._last_result.conditions:
            known = {v1.CONDITION_STATUS_TRUE: True, v1.CONDITION_STATUS_FALSE: False}.get(condition.status)
            self._set(condition.type, known, condition.reason, condition.message)

    async def _ask(self, handler: Any, context: BackgroundContext, cancelled: threading.Event) -> Any:
        """Run a handler for no longer than a check may take; a thread that does not end is left behind."""

        async def work() -> Any:
            if asyncio.iscoroutinefunction(handler):
                return await handler(context)
            answer = await in_thread(self._workers, lambda: handler(context), cancelled)
            return await answer if asyncio.iscoroutine(answer) else answer

        task = asyncio.ensure_future(work())
        done, _ = await asyncio.wait([task], timeout=max(0.001, context.remaining()))
        if not done:
            cancelled.set()
            task.cancel()
            task.add_done_callback(lambda late: late.cancelled() or late.exception())
            raise TimeoutError
        return task.result()

    def _set_scope(self, answer: object) -> None:
        scope_id = _checked_scope(answer)
        if self.scope_id and self.scope_id != scope_id:
            text = "The scope has changed: the controller stops every destructive act"
            self._log.error(text, extra={"from": self.scope_id, "to": scope_id})
        self.scope_id = scope_id

    def _succeeded(self) -> None:
        self._last_success.last_cloud_success_time.CopyFrom(now_timestamp())
        self._set("CloudReachable", True, "CloudAnswered", "The cloud answers")
        self._set("CredentialsValid", True, "CloudAnswered", "The cloud accepts the credentials")

    def _failed(self, error: ProviderError) -> bool:
        """Take a failure; True: it says something about the cloud as a whole."""
        if error.code == 16:
            self._set("CredentialsValid", False, "CredentialsRefused", error.message)
            return True
        if error.reason not in {"CLOUD_UNAVAILABLE", "CLOUD_TIMEOUT"}:
            return False
        self._set("CloudReachable", False, "CloudUnavailable", error.message)
        return True

    def _set(self, kind: str, holds: bool | None, reason: str, message: str) -> None:
        status = v1.CONDITION_STATUS_UNSPECIFIED
        if holds is not None:
            status = v1.CONDITION_STATUS_TRUE if holds else v1.CONDITION_STATUS_FALSE
        before = self._conditions.get(kind)
        since = before.last_transition_time if before is not None and before.status == status else now_timestamp()
        self._conditions[kind] = v1.Condition(
            type=kind, status=status, reason=reason, message=message[:256], last_transition_time=since
        )


def _checked_scope(answer: object) -> str:
    """An answer that names nothing is no other scope: it fails the check, and what is known stays."""
    if isinstance(answer, str) and 0 < len(answer.encode()) <= _MAX_SCOPE_BYTES:
        return answer
    text = f"learn_scope must name what the credentials reach, in 1 to {_MAX_SCOPE_BYTES} bytes"
    raise ProviderError("INVARIANT_BROKEN", text)
