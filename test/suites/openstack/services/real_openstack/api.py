"""The cloud's administrator, who asks over HTTP."""

from collections.abc import Mapping
from typing import Any

import requests

CALL_SECONDS = 60


class Administrator:
    """Asks services with a token of the project `admin`."""

    def __init__(self, keystone: str, password: str):
        user = {"name": "admin", "domain": {"id": "default"}, "password": password}
        project = {"name": "admin", "domain": {"id": "default"}}
        identity = {"methods": ["password"], "password": {"user": user}}
        payload = {"auth": {"identity": identity, "scope": {"project": project}}}
        answer = requests.post(f"{keystone}/auth/tokens", json=payload, timeout=CALL_SECONDS)
        answer.raise_for_status()
        self._token = answer.headers["x-subject-token"]

    def ask(self, method: str, url: str, payload: Mapping[str, Any] | None = None) -> Any:
        answer = requests.request(
            method, url, json=payload, headers={"x-auth-token": self._token}, timeout=CALL_SECONDS
        )
        if not answer.ok:
            raise RuntimeError(f"{method} {url}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def make(self, url: str, kind: str, /, **payload: Any) -> Any:
        """Creates one object, as most services take and answer it: below its kind."""
        return self.ask("POST", url, {kind: payload})[kind]
