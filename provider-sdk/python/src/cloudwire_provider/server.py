"""Serves a provider: inside another program, or as the main task of a process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import grpc.aio

from cloudwire_provider import log as logs
from cloudwire_provider._methods.capabilities import capabilities, fact_problems, limits, shape_problems
from cloudwire_provider._methods.cloud_provider import CloudProviderService
from cloudwire_provider._server.builtin import HEALTH, REFLECTIONS, health_methods, reflection_methods
from cloudwire_provider._server.contract import SERVICE
from cloudwire_provider._server.environment import ServeSettings, TcpEndpoint, TlsFiles, UnixEndpoint, read_environment
from cloudwire_provider._server.http_port import HttpPort
from cloudwire_provider._server.rpc import RpcServer
from cloudwire_provider._server.runtime import MAX_SINGLES, Runtime, Workers
from cloudwire_provider._server.status_monitor import CheckIntervals, StatusMonitor
from cloudwire_provider._server.tls import MutualTls
from cloudwire_provider._server.unix_socket import Identity, bind, is_own, keeping_foreign, remove_own
from cloudwire_provider._state.change_serializer import MAX_OPERATIONS
from cloudwire_provider._state.retries import RetryBudget
from cloudwire_provider._telemetry.call_recorder import Shared
from cloudwire_provider._telemetry.metrics import Metrics
from cloudwire_provider.definition import Provider
from cloudwire_provider.errors import StartError
from cloudwire_provider.log import Log

__all__ = ["CheckIntervals", "RunningProvider", "ServeOptions", "TcpEndpoint", "TlsFiles", "UnixEndpoint", "start"]

# Contract, TRN-6, asks for 100. Callers queue the rest.
_MAX_STREAMS = 256
# `def` watches that may be read at once; each holds a thread.
_MAX_WATCH_THREADS = 32
# How long ended calls have to send their answer before the connections are cut.
_FORCE_GRACE = 0.25
# Terminals and other wrappers send one request to end twice.
_SAME_REQUEST = 0.5
_CRASHED, _UNAVAILABLE, _CONFIG = 1, 69, 78


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Options of `start`; nothing is read from the environment. Times in seconds."""

    endpoint: UnixEndpoint | TcpEndpoint
    """Where to listen."""
    socket_group: str = ""
    """Group of the socket, name or number. Empty: the group of the process."""
    tls: TlsFiles | None = None
    """Needed on TCP."""
    insecure_loopback: bool = False
    """Plaintext on a loopback TCP address, for development."""
    http_address: tuple[str, int] | None = None
    """Address of /livez, /readyz and /metrics."""
    drain: float = 10.0
    """Maximum time for calls in progress to complete."""
    socket_check: float = 10.0
    """How often to check that the socket still exists."""
    tls_reload: float = 10.0
    """How often TLS files are read again; the contract requires at most 60."""
    check_intervals: CheckIntervals = field(default_factory=CheckIntervals)
    """Intervals and time limit of the checks of the cloud."""
    slow_consumer: float = 30.0
    """How long a stream waits for a blocked reader."""


@dataclass
class RunningProvider:
    """A running provider."""

    address: str
    """Where callers connect, as gRPC writes it: `unix:///run/cloud-provider/provider.sock`, `127.0.0.1:9443`."""
    boot_id: str
    """Random ID of this process, as in the handshake."""
    http_port: int
    """Port of /livez, /readyz and /metrics; 0 if they are not served."""
    loop: asyncio.AbstractEventLoop
    """The event loop of the provider: calls from other threads go through `asyncio.run_coroutine_threadsafe`."""
    _parts: _Parts
    _closing: asyncio.Future[None] | None = None
    _lost: bool = False
    _ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def close(self) -> None:
        """
        Shut down gracefully. May be called more than once.

        Sets health to NOT_SERVING, ends watches, rejects new calls, waits for calls in progress, and removes the socket.
        """
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def ended(self) -> bool:
        """Wait until it has closed; True if the socket was removed or replaced, so that it closed itself."""
        await self._ended.wait()
        return self._lost

    async def _close(self) -> None:
        try:
            await self._parts.close()
        finally:
            self._ended.set()

    async def _watch(self) -> None:
        """Check repeatedly that the socket exists, and reload changed TLS files."""
        options, own = self._parts.options, self._parts.own
        next_reload = time.monotonic() + options.tls_reload
        while True:
            await asyncio.sleep(min(options.socket_check, options.tls_reload))
            if self._parts.tls is not None and time.monotonic() >= next_reload:
                next_reload = time.monotonic() + options.tls_reload
                await asyncio.to_thread(self._parts.tls.reload)
            if own is None or not isinstance(options.endpoint, UnixEndpoint) or is_own(options.endpoint.path, own):
                continue
            text = "The socket was removed or replaced: no client can reach this provider any longer"
            self._parts.log.error(text, extra={"address": self.address})
            self._lost = True
            self._closing = asyncio.ensure_future(self._close())
            return


@dataclass
class _Parts:
    """The parts of a running provider."""

    options: ServeOptions
    log: Log
    rpc: RpcServer
    server: grpc.aio.Server
    service: CloudProviderService
    status: StatusMonitor
    http: HttpPort | None
    tls: MutualTls | None
    own: Identity | None
    workers: Workers
    watch: asyncio.Task[None] | None = None

    async def close(self) -> None:
        if self.watch is not None and self.watch is not asyncio.current_task():
            self.watch.cancel()
        # Health turns, watches end and new calls are refused, all by this.
        self.rpc.drain.set()
        self.service.close()
        await self._until_idle(self.options.drain)
        self.rpc.force.set()
        await self._until_idle(_FORCE_GRACE)
        self.workers.closed = True
        endpoint = self.options.endpoint
        if isinstance(endpoint, UnixEndpoint) and self.own is not None:
            with keeping_foreign(endpoint.path, self.own) as put_back:
                stopped = asyncio.ensure_future(self.server.stop(_FORCE_GRACE))
                while not stopped.done():
                    # The file goes as the closing begins, and a foreign one must not be missing for long.
                    await asyncio.wait({stopped}, timeout=0.01)
                    put_back()
            remove_own(endpoint.path, self.own)
        else:
            await self.server.stop(_FORCE_GRACE)
        await self.status.stop()
        if self.http is not None:
            await self.http.close()

    async def _until_idle(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self.rpc.running and time.monotonic() < end:
            await asyncio.wait(self.rpc.running, timeout=end - time.monotonic(), return_when=asyncio.FIRST_COMPLETED)


async def start(provider: Provider, options: ServeOptions) -> RunningProvider:
    """
    Serve a provider inside another program, such as a test.

    Raises StartError with every error in the definition, or if the endpoint is unavailable.
    """
    _raise_if_any(shape_problems(provider))
    log, boot_id = Log(logs.root), str(uuid.uuid4())
    claimed, taken = capabilities(provider), limits(provider)
    # Room for all calls, and for what batches and long changes do at once beside them: no handler waits for a thread.
    workers = Workers(taken.max_concurrent_calls + 2 * MAX_SINGLES + MAX_OPERATIONS)
    budget, metrics = RetryBudget(), Metrics()
    status = StatusMonitor(provider, boot_id, log, Workers(2), options.check_intervals, budget)
    rpc = RpcServer(log, metrics, options.slow_consumer)
    runtime = Runtime(
        provider=provider,
        boot_id=boot_id,
        capabilities=claimed,
        limits=taken,
        log=log,
        scope_id=lambda: status.scope_id,
        shared=Shared(status.observe, metrics.cloud_called, budget),
        workers=workers,
        watchers=Workers(_MAX_WATCH_THREADS),
        draining=rpc.drain,
    )
    # TCP has no reflection.
    reflections = REFLECTIONS if isinstance(options.endpoint, UnixEndpoint) else ()
    services = [SERVICE, HEALTH, *reflections]
    service = CloudProviderService(runtime, status, services)
    _raise_if_any(fact_problems(service.info()))
    tls = _tls(options, log)
    server = grpc.aio.server(options=_server_options(taken.max_receive_bytes))
    handlers = [rpc.handler(SERVICE, service.methods(), refuse_while_draining=True)]
    handlers.append(rpc.handler(HEALTH, health_methods(services, rpc.drain), refuse_while_draining=False))
    handlers += [
        rpc.handler(name, reflection_methods(name, services), refuse_while_draining=True) for name in reflections
    ]
    server.add_generic_rpc_handlers(handlers)
    address, own = _listen(server, options, tls)
    await server.start()
    http, http_port = None, 0
    if options.http_address is not None:
        http = HttpPort(
            lambda: status.ready and not rpc.drain.is_set(),
            lambda: metrics.text(ready=status.ready, name=provider.name, version=provider.version),
        )
        http_port = await _listen_http(http, options.http_address)
    # The handshake is served meanwhile; a cloud that is down must not keep the controller from hearing so.
    status.start()
    parts = _Parts(options, log, rpc, server, service, status, http, tls, own, workers)
    running = RunningProvider(address, boot_id, http_port, asyncio.get_running_loop(), parts)
    parts.watch = asyncio.ensure_future(running._watch())  # noqa: SLF001 - its own
    return running


def _server_options(max_receive_bytes: int) -> Sequence[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", max_receive_bytes),
        # Answers are bounded by the contract's own limits.
        ("grpc.max_send_message_length", -1),
        ("grpc.max_concurrent_streams", _MAX_STREAMS),
        ("grpc.so_reuseport", 0),
        # Contract, TRN-5: pings are tolerated, also between calls.
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 60_000),
        ("grpc.http2.max_ping_strikes", 0),
    ]


def _tls(options: ServeOptions, log: Log) -> MutualTls | None:
    """Return credentials for an endpoint; raises for TCP without client authentication."""
    endpoint = options.endpoint
    # On a Unix socket the directory and the mode say who may connect.
    if isinstance(endpoint, UnixEndpoint):
        return None
    if options.tls is not None:
        return MutualTls(options.tls, log)
    named = f"tcp://{endpoint.host}:{endpoint.port}"
    if options.insecure_loopback:
        if endpoint.is_loopback:
            return None
        raise StartError([f"{named} is not a loopback address: plaintext is served on loopback only"])
    text = (
        f"{named} needs TLS with client certificates: set CLOUD_PROVIDER_TLS_CERT_FILE, CLOUD_PROVIDER_TLS_KEY_FILE "
        "and CLOUD_PROVIDER_TLS_CLIENT_CA_FILE, or use a Unix socket"
    )
    raise StartError([text])


def _listen(server: grpc.aio.Server, options: ServeOptions, tls: MutualTls | None) -> tuple[str, Identity | None]:
    endpoint = options.endpoint
    if isinstance(endpoint, UnixEndpoint):
        address = f"unix://{endpoint.path}"
        own = bind(endpoint.path, options.socket_group, lambda: _add_port(server, address, None))
        return address, own
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    port = _add_port(server, f"{host}:{endpoint.port}", tls)
    return f"{host}:{port}", None


def _add_port(server: grpc.aio.Server, address: str, tls: MutualTls | None) -> int:
    try:
        if tls is not None:
            return server.add_secure_port(address, tls.credentials())
        return server.add_insecure_port(address)
    except RuntimeError as error:
        raise StartError(
            [f"cannot listen on {address}: the place is taken or not allowed"], unavailable=True
        ) from error


async def _listen_http(http: HttpPort, address: tuple[str, int]) -> int:
    try:
        return await http.start(*address)
    except OSError as error:
        text = f"cannot listen on {address[0]}:{address[1]} for /livez, /readyz and /metrics: {error.strerror}"
        raise StartError([text], unavailable=True) from error


def _raise_if_any(problems: list[str]) -> None:
    if problems:
        raise StartError(problems)


async def serve_async(
    provider: Provider, *, endpoint: str | None = None, ready: Callable[[RunningProvider], None] | None = None
) -> int:
    """
    Serve a provider on a running event loop until it is asked to shut down, and return the exit code for the process.

    Configured by the environment; see the README. SIGTERM and SIGINT shut down gracefully (0). Configuration errors are all
    reported in plain lines (78); an unavailable endpoint or a removed socket too (69). `ready` is called when clients can
    connect.
    """
    settings = read_environment(os.environ, endpoint)
    logs.configure(settings.log_level)
    log = Log(logs.root)
    try:
        running = await start(provider, _options(settings))
    except StartError as error:
        for problem in error.problems:
            sys.stderr.write(f"{provider.name or 'provider'}: {problem}\n")
        return error.exit_code
    restore = _end_on_signals(running, log)
    facts = {"provider": provider.name, "version": provider.version, "address": running.address}
    log.info("Serving", extra=facts)
    if ready is not None:
        ready(running)
    try:
        return _UNAVAILABLE if await running.ended() else 0
    finally:
        # A cancellation ends the provider too.
        await running.close()
        restore()


def serve(
    provider: Provider, *, endpoint: str | None = None, ready: Callable[[RunningProvider], None] | None = None
) -> None:
    """Serve a provider as the main task of this process, and exit with the exit code of `serve_async`."""
    try:
        code = asyncio.run(serve_async(provider, endpoint=endpoint, ready=ready))
    except Exception as error:  # noqa: BLE001 - a bug is written where the other lines are
        logs.root.critical("The provider crashed", extra={"error": error})
        code = _CRASHED
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: a handler that hangs in a thread, or a library's thread, must not keep the process.
    os._exit(code)


def _options(settings: ServeSettings) -> ServeOptions:
    if settings.problems or settings.endpoint is None:
        raise StartError(settings.problems)
    return ServeOptions(
        endpoint=settings.endpoint,
        socket_group=settings.socket_group,
        tls=settings.tls,
        insecure_loopback=settings.insecure_loopback,
        http_address=settings.http_address,
    )


def _end_on_signals(running: RunningProvider, log: Log) -> Callable[[], None]:
    """
    Close on SIGTERM and SIGINT; a second one exits immediately, unless it is the same request.

    SIGUSR2 toggles debug lines.
    """
    loop = asyncio.get_running_loop()
    asked_at: list[float] = []
    closing: set[asyncio.Task[None]] = set()

    def end(name: str) -> None:
        if asked_at:
            if time.monotonic() - asked_at[0] >= _SAME_REQUEST:
                os._exit(_CRASHED)
            return
        asked_at.append(time.monotonic())
        log.info("Shutting down", extra={"signal": name})
        task = asyncio.ensure_future(running.close())
        closing.add(task)
        task.add_done_callback(closing.discard)

    for number in (signal.SIGTERM, signal.SIGINT):
        # Only the main thread of a process can handle signals.
        with suppress(ValueError, RuntimeError):
            loop.add_signal_handler(number, end, number.name)

    with suppress(ValueError, RuntimeError):
        loop.add_signal_handler(signal.SIGUSR2, logs.debug_switch(), log)

    def restore() -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR2):
            with suppress(ValueError, RuntimeError):
                loop.remove_signal_handler(number)

    return restore
