"""
The client of your cloud.

The API here is made up: put your cloud's in its place, or its own SDK, and keep what the rest of the provider calls.
Nothing but this module knows how the cloud is spoken to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from cloudwire_provider import BackgroundContext


@dataclass(frozen=True)
class Machine:
    """A machine as the cloud describes it."""

    id: str
    name: str
    type: str
    zone: str
    region: str
    private_ips: Sequence[str]
    public_ips: Sequence[str]
    power: str
    """on, off or terminated."""


@dataclass(frozen=True)
class Port:
    """One port of a load balancer and where it leads on the nodes."""

    port: int
    node_port: int


@dataclass(frozen=True)
class Balancer:
    """A load balancer as the cloud describes it. It is ready once it has an address."""

    id: str
    name: str
    ip: str
    target_ids: Sequence[str]
    tags: Mapping[str, str] = field(default_factory=dict)


class Cloud:
    """
    The cloud of one account.

    The context of a call sends the requests: it cancels them with the call, counts them, and notices when the cloud is
    down. With another HTTP client, report each request to the context with `record_cloud_call`.
    """

    def __init__(self, url: str, token: Callable[[], str]) -> None:
        """`token` is asked for at each request, so that a new one is used as soon as it is there."""
        self._url = url
        self._token = token

    def account_id(self, context: BackgroundContext) -> str:
        """Return which account the credentials belong to."""
        return str(self._send(context, "GET", "/account")["id"])

    def machines(self, context: BackgroundContext, *, ids: Sequence[str], names: Sequence[str]) -> list[Machine]:
        """Return those of the machines asked for that there are."""
        query = urlencode({"ids": ",".join(ids), "names": ",".join(names)})
        return [_machine(raw) for raw in self._send(context, "GET", f"/machines?{query}")["machines"]]

    def all_machines(self, context: BackgroundContext) -> Iterator[Machine]:
        """Yield all machines of the account, page by page."""
        token: str | None = ""
        while token is not None:
            page = self._send(context, "GET", f"/machines?{urlencode({'page': token})}")
            yield from map(_machine, page["machines"])
            token = page.get("nextPage")

    def balancer(self, context: BackgroundContext, name: str) -> Balancer | None:
        """Return the load balancer of that name, if there is one."""
        # A list with one entry at most: a 404 could as well come from a wrong URL, and would be no proof.
        balancers = self._balancers(context, {"name": name})
        return balancers[0] if balancers else None

    def balancers_with_tag(self, context: BackgroundContext, key: str, value: str) -> list[Balancer]:
        """Return all load balancers that have the tag."""
        return self._balancers(context, {"tag": f"{key}={value}"})

    def put_balancer(
        self,
        context: BackgroundContext,
        name: str,
        *,
        ports: Sequence[Port],
        target_ids: Sequence[str],
        tags: Mapping[str, str],
    ) -> Balancer:
        """Make the load balancer of that name, or change it."""
        spec = {
            "ports": [{"port": port.port, "nodePort": port.node_port} for port in ports],
            "targetIds": list(target_ids),
            "tags": dict(tags),
        }
        return _balancer(self._send(context, "PUT", f"/load-balancers/{quote(name, safe='')}", spec))

    def delete_balancer(self, context: BackgroundContext, name: str) -> None:
        """Remove the load balancer of that name."""
        self._send(context, "DELETE", f"/load-balancers/{quote(name, safe='')}")

    def _balancers(self, context: BackgroundContext, query: Mapping[str, str]) -> list[Balancer]:
        answer = self._send(context, "GET", f"/load-balancers?{urlencode(query)}")
        return [_balancer(raw) for raw in answer["loadBalancers"]]

    def _send(self, context: BackgroundContext, method: str, path: str, body: Any = None) -> Any:
        headers = {"authorization": f"Bearer {self._token()}"}
        answer = context.fetch(self._url + path, method=method, json=body, headers=headers)
        # The SDK knows what HTTP's status and Retry-After mean.
        answer.raise_for_status()
        return answer.json() if answer.body else None


def _machine(raw: Mapping[str, Any]) -> Machine:
    return Machine(
        id=raw["id"],
        name=raw["name"],
        type=raw["type"],
        zone=raw["zone"],
        region=raw["region"],
        private_ips=raw["privateIps"],
        public_ips=raw["publicIps"],
        power=raw["power"],
    )


def _balancer(raw: Mapping[str, Any]) -> Balancer:
    return Balancer(id=raw["id"], name=raw["name"], ip=raw.get("ip", ""), target_ids=raw["targetIds"], tags=raw["tags"])
