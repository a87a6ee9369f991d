"""Emulate AWS on loopback, for the end-to-end tests of a bridged provider.

Says `ready {"url": …, …}` on standard output and ends when its standard input does. Beside the API of AWS it serves,
under /emulator/, what the tests arrange and look at.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from account import Account
from corrections import correct
from front import ADMIN_KEY, Application, Environ, Front, StartResponse
from speed import hasten

CONTROL = "/emulator/"


class Emulator:
    """The WSGI application: the tests' own paths, and AWS for all others."""

    def __init__(self) -> None:
        self._models = threading.Lock()
        self.front = Front(one_by_one(self._models, DomainDispatcherApplication(create_backend_app)))
        self.account: Account | None = None

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = str(environ["PATH_INFO"])
        if not path.startswith(CONTROL) or self.account is None:
            return self.front(environ, start_response)
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        try:
            answer = self._control(self.account, path.removeprefix(CONTROL), json.loads(body or b"{}"))
        except ClientError as error:
            # What AWS refuses its administrator is an answer, too.
            start_response("409 Conflict", [("Content-Type", "text/plain")])
            return [str(error).encode()]
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(answer, default=str).encode()]

    def _control(self, account: Account, what: str, command: dict[str, Any]) -> Any:
        controls: dict[str, Callable[[], Any]] = {
            "state": account.state,
            "calls": self.front.summary,
            "callCount": lambda: {"calls": self.front.summary()["all"]},
            "fail": lambda: self.front.fault("fail", active=command["failing"]),
            "fault": lambda: self.front.fault(command["kind"], active=True),
            "run": lambda: account.run_instance(command["zone"]),
            "runMany": lambda: self._run_many(account, command),
            "stop": lambda: account.stop(command["id"]),
            "terminate": lambda: account.terminate(command["id"]),
            "clear": self.front.clear,
            "named": lambda: account.named_instance(command["name"], command["action"]),
            "deny": lambda: self.front.fault("deny", active=command["denying"]),
            "rotate": lambda: self._rotate(command),
            "throttle": lambda: self.front.throttle(command["rate"], command["burst"]),
            "admin": lambda: account.call(command["service"], command["method"], command["params"]),
        }
        return controls[what]()

    def _run_many(self, account: Account, command: dict[str, Any]) -> Any:
        with self._models:
            return account.run_many(command["subnet"], command["count"])

    def _rotate(self, command: dict[str, str]) -> None:
        """Give the provider another access key, in its file, and make all others invalid."""
        self.front.accept(command["key"])
        self.front.fault("deny", active=False)
        file = Path(command["file"])
        draft = file.with_suffix(".new")
        draft.write_text(
            f"[default]\naws_access_key_id = {command['key']}\naws_secret_access_key = {command['secret']}\n"
        )
        draft.replace(file)


class WholeAnswers(WSGIRequestHandler):
    """Sends head and body at once.

    A client that reads the head before its own write of the request has returned may close the connection, and loses a body that
    comes later: Go's does, on a busy machine. It then repeats a change that was made.
    """

    wbufsize = -1


def one_by_one(lock: threading.Lock, cloud: Application) -> Application:
    """Let one call in at a time: moto's models are not made for several threads."""

    def serve(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        with lock:
            return cloud(environ, start_response)

    return serve


def main() -> None:
    """Serves until standard input ends."""
    # The administrator's client must not look at the machine's own AWS settings.
    os.environ.update({"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.devnull})
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    correct()
    hasten()
    emulator = Emulator()
    server = make_server("127.0.0.1", 0, emulator, threaded=True, request_handler=WholeAnswers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    account = Account(url, ADMIN_KEY)
    about = account.prepare()
    emulator.account = account
    print("ready", json.dumps({"url": url, **about}), flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
