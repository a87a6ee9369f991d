"""When a request to the cloud is repeated, and how often all of them together may be."""

from __future__ import annotations

import random
import threading

from cloudwire_provider._server.classify import classify, retry_after
from cloudwire_provider.fetch import HttpResponse

# Tries of one request, the first included.
_MAX_TRIES = 4
# Waits between tries double from the first on, each less up to half of it by chance; seconds.
_FIRST_WAIT = 0.2
# What is left for a try after its wait, at least.
_MIN_TRY = 0.1
# Repetitions that may be made at once after a quiet time, and what each request that is none adds to them.
_MAX_TOKENS = 10.0
_TOKENS_PER_REQUEST = 0.1

# RFC 9110, 9.2.2: the same request twice has the effect of one.
IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
# 501 and 505 will not be another time.
_PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})


class RetryBudget:
    """
    How many requests to the cloud may be repeated, over all calls of the provider.

    While a cloud is down every request fails: to repeat each would make its load fourfold at the worst moment. So
    repetitions are a tenth of the requests in the long run.
    """

    def __init__(self) -> None:
        self._tokens = _MAX_TOKENS
        self._lock = threading.Lock()

    def earn(self) -> None:
        """Count a request that repeats none."""
        with self._lock:
            self._tokens = min(_MAX_TOKENS, self._tokens + _TOKENS_PER_REQUEST)

    def spend(self) -> bool:
        """Take one repetition off, if there is one."""
        with self._lock:
            # Tenths do not add up exactly.
            if self._tokens < 1 - 1e-9:
                return False
            self._tokens -= 1
            return True


def wait_before_next(
    tries: int, answer: HttpResponse | None, error: Exception | None, remaining: float, budget: RetryBudget
) -> float | None:
    """Return the seconds to wait before another try; None: there is none, the last outcome is the outcome."""
    if tries >= _MAX_TRIES or not _passes(answer, error):
        return None
    reported = retry_after(answer.headers) if answer is not None else None
    jitter = 1 - random.random() / 2  # noqa: S311 - not a secret
    wait = max(_FIRST_WAIT * 2.0 ** (tries - 1) * jitter, reported or 0.0)
    return wait if wait + _MIN_TRY <= remaining and budget.spend() else None


def _passes(answer: HttpResponse | None, error: Exception | None) -> bool:
    """The same request may well succeed a moment later."""
    if error is None:
        return answer is not None and answer.status in _PASSING_STATUSES
    found = classify(error, mutation=False, correlation_id="").error
    return found.reason in {"CLOUD_UNAVAILABLE", "CLOUD_TIMEOUT"}
