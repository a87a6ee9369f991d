"""What has been counted since the start, as Prometheus reads it. Names, labels and buckets are those of every SDK."""

from __future__ import annotations

import platform
import resource
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cloudwire_provider._telemetry.call_recorder import CloudCall
from cloudwire_provider._version import __version__

_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600)
_PREFIX = "cloudwire_provider_"


class Metrics:
    """Counts what a provider does, in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = time.time()
        self._calls: dict[tuple[str, str, str], list[float]] = defaultdict(lambda: [0.0] * (len(_BUCKETS) + 2))
        self._in_flight: dict[str, int] = defaultdict(int)
        self._cloud_calls: dict[str, int] = defaultdict(int)
        self._retries = 0

    @contextmanager
    def under_way(self, method: str) -> Iterator[None]:
        """Count a call of the contract among those in progress."""
        with self._lock:
            self._in_flight[method] += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_flight[method] -= 1

    def ended(self, method: str, code: str, reason: str, seconds: float) -> None:
        """Count a call of the contract that has ended. `reason` is empty for success."""
        with self._lock:
            row = self._calls[method, code, reason]
            for index, bound in enumerate(_BUCKETS):
                row[index] += seconds <= bound
            row[-2] += 1
            row[-1] += seconds

    def cloud_called(self, cloud_call: CloudCall) -> None:
        """Count a request to the cloud."""
        with self._lock:
            self._cloud_calls[_outcome(cloud_call)] += 1
            self._retries += cloud_call.retry

    def text(self, *, ready: bool, name: str, version: str) -> str:
        """Return everything."""
        build = {
            "name": name,
            "version": version,
            "sdk": f"cloudwire-provider-sdk {__version__}",
            "runtime": f"python {platform.python_version()}",
        }
        usage = resource.getrusage(resource.RUSAGE_SELF)
        with self._lock:
            lines = [
                *self._durations(),
                *_head("calls_in_flight", "gauge", "Calls of the contract under way, streams included."),
                *(_line("calls_in_flight", count, method=method) for method, count in sorted(self._in_flight.items())),
                *_head("cloud_calls_total", "counter", "Requests to the cloud, repetitions included."),
                *(_line("cloud_calls_total", count, outcome=said) for said, count in sorted(self._cloud_calls.items())),
                *_head("cloud_retries_total", "counter", "Requests to the cloud that repeated an earlier one."),
                _line("cloud_retries_total", self._retries),
            ]
        lines += [
            *_head("ready", "gauge", "1 while the cloud can be reached with valid credentials, else 0."),
            _line("ready", int(ready)),
            *_head("build_info", "gauge", "Always 1; the labels identify the build."),
            _line("build_info", 1, **build),
            *_process("start_time_seconds", "gauge", "When the process began, since 1970.", self._started),
            *_process("cpu_seconds_total", "counter", "Processor time used.", usage.ru_utime + usage.ru_stime),
            *_process("resident_memory_bytes", "gauge", "Memory that the process holds.", _resident_bytes()),
        ]
        return "\n".join(lines) + "\n"

    def _durations(self) -> Iterator[str]:
        name = "call_duration_seconds"
        yield from _head(name, "histogram", "How long calls of the contract took, streams included.")
        for (method, code, reason), row in sorted(self._calls.items()):
            labels = {"method": method, "code": code, "reason": reason}
            for bound, below in zip((*_BUCKETS, "+Inf"), row, strict=False):
                yield _line(f"{name}_bucket", below, **labels, le=str(bound))
            yield _line(f"{name}_sum", round(row[-1], 6), **labels)
            yield _line(f"{name}_count", row[-2], **labels)


def _outcome(cloud_call: CloudCall) -> str:
    status = cloud_call.status
    if status is None:
        return "success" if cloud_call.error is None else "no_answer"
    if status == 429:
        return "throttled"
    if status in {401, 403}:
        return "denied"
    if status >= 400:
        return "server_error" if status >= 500 else "client_error"
    return "success" if cloud_call.error is None else "bad_answer"


def _head(name: str, kind: str, text: str, prefix: str = _PREFIX) -> Iterable[str]:
    return (f"# HELP {prefix}{name} {text}", f"# TYPE {prefix}{name} {kind}")


def _process(name: str, kind: str, text: str, value: float) -> Iterable[str]:
    return (*_head(name, kind, text, "process_"), _line(name, value, "process_"))


def _line(name: str, value: float, prefix: str = _PREFIX, /, **labels: str) -> str:
    return f"{prefix}{name}{_labels(labels)} {value:.15g}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    escape = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
    return "{" + ",".join(f'{key}="{value.translate(escape)}"' for key, value in labels.items()) + "}"


def _resident_bytes() -> float:
    """Return the current value on Linux; elsewhere the maximum so far, the only available value."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return float(int(pages) * resource.getpagesize())
