"""Your cloud, as far as the provider calls it, in memory. It speaks HTTP, so that the real client is tested."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "test-token"


def machine(machine_id: str, **facts: Any) -> dict[str, Any]:
    """Return a machine with everything in its place."""
    return {
        "id": machine_id,
        "name": f"node-{machine_id}",
        "type": "small",
        "zone": "north-a",
        "region": "north",
        "privateIps": ["10.0.0.1"],
        "publicIps": [],
        "power": "on",
        **facts,
    }


class FakeCloud:
    """A cloud with machines and load balancers; `with FakeCloud() as cloud:`."""

    def __init__(self) -> None:
        self.machines: list[dict[str, Any]] = []
        self.balancers: dict[str, dict[str, Any]] = {}
        self.address: str | None = "192.0.2.1"
        """What load balancers get from now on; None makes them wait for one."""
        self.status = 200
        """HTTP status of the responses to requests for machines and load balancers; 200 serves them."""
        self.requests: list[str] = []
        """Paths of the requests for machines and load balancers."""
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> FakeCloud:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        cloud = self

        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length) or b"null")
                authorized = self.headers.get("authorization") == f"Bearer {TOKEN}"
                status, answer = cloud._answer(self.command, self.path, body) if authorized else (401, None)
                content = b"" if answer is None else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                # Who asked may have gone.
                with suppress(ConnectionError):
                    self.wfile.write(content)

            do_GET = do_PUT = do_DELETE = _serve

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        return Handler

    def _answer(self, method: str, target: str, body: Any) -> tuple[int, Any]:
        parts = urlsplit(target)
        query = {key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        with self._lock:
            if parts.path == "/account":
                return 200, {"id": "account-42"}
            self.requests.append(parts.path)
            if self.status != 200:
                return self.status, None
            if parts.path == "/machines":
                return 200, {"machines": self._find_machines(query)}
            if parts.path == "/load-balancers":
                return 200, {"loadBalancers": self._find_balancers(query)}
            return self._change_balancer(method, unquote(parts.path.removeprefix("/load-balancers/")), body)

    def _find_machines(self, query: dict[str, str]) -> list[dict[str, Any]]:
        if "ids" not in query:
            return self.machines
        ids, names = query["ids"].split(","), query["names"].split(",")
        return [found for found in self.machines if found["id"] in ids or found["name"] in names]

    def _find_balancers(self, query: dict[str, str]) -> list[dict[str, Any]]:
        if "name" in query:
            return [found for name, found in self.balancers.items() if name == query["name"]]
        key, _, value = query.get("tag", "").partition("=")
        return [found for found in self.balancers.values() if found["tags"].get(key) == value]

    def _change_balancer(self, method: str, name: str, body: Any) -> tuple[int, Any]:
        if method == "PUT":
            address = {} if self.address is None else {"ip": self.address}
            # As targets it takes those machines that there are.
            there = {found["id"] for found in self.machines}
            targets = [machine_id for machine_id in body["targetIds"] if machine_id in there]
            self.balancers[name] = {"id": f"lb-{name}", "name": name, **address, **body, "targetIds": targets}
            return 200, self.balancers[name]
        return (204, None) if self.balancers.pop(name, None) else (404, None)
