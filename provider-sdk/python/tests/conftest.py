import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from cloudwire_provider import Provider

SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
settings.register_profile("short", max_examples=150, deadline=None, suppress_health_check=SLOW, derandomize=True)
settings.register_profile("long", max_examples=20_000, deadline=None, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))


@pytest.fixture
def provider() -> Provider:
    """A provider that has everything but handlers."""
    made = Provider(name="acme.example.com", version="1.0.0", id_prefixes=["acme://"], scope="account-42")
    made.check(lambda _context: None)
    return made


class FakeCloud:
    """An HTTP server whose answers a test decides."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, bytes]] = {}
        """By method and path; everything else is 404."""
        self.once: dict[str, list[tuple[int, bytes]]] = {}
        """Answers given one after the other, before those above."""
        self.requests: list[str] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                asked = f"{self.command} {self.path}"
                fake.requests.append(asked)
                first = fake.once.get(asked)
                status, body = first.pop(0) if first else fake.answers.get(asked, (404, b"[]"))
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT = do_DELETE = do_POST = do

            def log_message(self, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def cloud() -> Iterator[FakeCloud]:
    fake = FakeCloud()
    thread = Thread(target=fake.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield fake
    fake.server.shutdown()
    fake.server.server_close()
    thread.join()
