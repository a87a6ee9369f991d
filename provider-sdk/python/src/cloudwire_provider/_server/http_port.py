"""/livez, /readyz and /metrics on a port of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

_REQUEST_TIMEOUT = 5.0
_MAX_REQUEST = 8192


class HttpPort:
    """A server for probes and metrics."""

    def __init__(self, ready: Callable[[], bool], metrics: Callable[[], str]) -> None:
        self._ready = ready
        self._metrics = metrics
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port."""
        self._server = await asyncio.start_server(self._serve, host or None, port, limit=_MAX_REQUEST)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """End."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(
            OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError
        ):
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _REQUEST_TIMEOUT)
            method, target, *_ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
            status, text = self._answer(method, target.partition("?")[0])
            body = text.encode()
            writer.write(
                f"HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
            )
            writer.write(b"" if method == "HEAD" else body)
            await asyncio.wait_for(writer.drain(), _REQUEST_TIMEOUT)
        writer.close()

    def _answer(self, method: str, path: str) -> tuple[str, str]:
        if method not in {"GET", "HEAD"}:
            return "405 Method Not Allowed", "use GET\n"
        if path == "/livez":
            return "200 OK", "ok\n"
        if path == "/readyz":
            return ("200 OK", "ok\n") if self._ready() else ("503 Service Unavailable", "the cloud is not reached\n")
        if path == "/metrics":
            return "200 OK", self._metrics()
        return "404 Not Found", "there are /livez, /readyz and /metrics\n"
