"""Programs that run as long as the cloud does, each with a log of its own."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1
END_SECONDS = 20
STEP_SECONDS = 0.1
TAIL_LINES = 30
HIGHEST_PORT = 32_767
LOWEST_PORT = 20_000


class ProgramError(Exception):
    """A program ended that was not to end, or did not do what it was run for."""


class Processes:
    """What was started; all of it ends with `end()`, and with this process, however that ends."""

    def __init__(self, logs: Path, environment: Mapping[str, str]):
        self._logs = logs
        self._environment = environment
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        logs.mkdir(parents=True)

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Only from the main thread: the system ends a program with the thread that started it."""
        with self._log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**self._environment, **(environment or {})},
                start_new_session=True,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - before any thread is started that could hold a lock
            )

    def run(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Waits for the program's end."""
        with self._log(name).open("ab") as log:
            code = subprocess.run(
                command,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**self._environment, **(environment or {})},
            ).returncode
        if code != 0:
            raise ProgramError(f"`{' '.join(command)}` ended with code {code}:\n{self._tail(name)}")

    def wait(self, what: str, seconds: float, ask: Callable[[], bool]) -> None:
        """Asks until the answer is yes."""
        end = time.monotonic() + seconds
        while not ask():
            self.check()
            if time.monotonic() > end:
                raise ProgramError(f"waited {seconds} s without success for {what}; the logs are in {self._logs}")
            time.sleep(STEP_SECONDS)

    def check(self) -> None:
        """Fails when a program has ended."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise ProgramError(f"{name} ended with code {process.returncode}:\n{self._tail(name)}")

    def stop(self, name: str) -> None:
        _stop([self._running.pop(name)])

    def end(self) -> None:
        """The last started ends first: OpenStack's services before what they store things in."""
        base = [self._running.pop(name) for name in ("rabbitmq", "epmd", "mariadb") if name in self._running]
        _stop(list(self._running.values()))
        self._running.clear()
        _stop(base)

    def _log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def _tail(self, name: str) -> str:
        return "\n".join(self._log(name).read_text(errors="replace").splitlines()[-TAIL_LINES:])


def free_ports(count: int) -> list[int]:
    """Ports that no one listens on at this moment, below those that the system gives to anyone who calls someone."""
    found: list[int] = []
    start = LOWEST_PORT + os.getpid() % 10_000
    for port in (*range(start, HIGHEST_PORT), *range(LOWEST_PORT, start)):
        if len(found) == count:
            break
        if not answers(port):
            found.append(port)
    return found


def answers(port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    end = time.monotonic() + END_SECONDS
    for process in processes:
        try:
            process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            sys.stderr.write(f"process {process.pid} did not end within {END_SECONDS} s and is killed\n")
        # And the workers that it has forked, of which some outlive it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
