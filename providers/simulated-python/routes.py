"""How this provider serves routes to pod CIDRs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cloudwire_provider import Provider, ProviderError, RouteContext, RouteFeatures, RouteResult, v1

from cloud import CLUSTER_TAG, OWNERSHIP_PREFIX, Cloud, cluster_tags, item_error, ownership_problem, require_complete
from machines import PREFIX, machine_id

NODE_TAG = f"{OWNERSHIP_PREFIX}node-name"
PATH = "/v1/routes"

Found = Mapping[str, Any]


def serve_routes(provider: Provider, cloud: Cloud) -> None:
    """Register the handlers."""
    served, handlers = _Routes(provider, cloud), provider.routes
    # Destinations travel in the query: 200 of them stay below the limits of a URL.
    handlers.features = RouteFeatures(
        max_batch_size=200, max_page_size=1000, blackhole=True, ip_families=["IPv4", "IPv6"]
    )
    handlers.list(served.list)
    handlers.ensure_many(served.ensure)
    handlers.delete_many(served.delete)


class _Routes:
    """At most three requests a batch: what is there, what has to go, what has to come."""

    def __init__(self, provider: Provider, cloud: Cloud) -> None:
        self._provider = provider
        self._cloud = cloud

    def list(self, context: RouteContext) -> Iterator[v1.Route]:
        yield from map(to_route, self._read(context, tag=f"{CLUSTER_TAG}={context.cluster.id}"))

    def ensure(self, routes: Sequence[v1.Route], context: RouteContext) -> Sequence[RouteResult | Exception]:
        existing = self._by_destination(routes, context)
        planned = [self._plan(route, existing.get(route.destination_cidr), context) for route in routes]
        specs = [spec for spec in planned if isinstance(spec, dict)]
        replaced = [existing[spec["destination"]]["id"] for spec in specs if spec["destination"] in existing]
        if replaced:
            self._cloud.ask(context, "POST", f"{PATH}/delete", {"ids": replaced})
        made = iter(self._change(context, PATH, {"items": specs}) if specs else [])
        return [_made(next(made)) if isinstance(plan, dict) else plan for plan in planned]

    def delete(self, routes: Sequence[v1.Route], context: RouteContext) -> Sequence[Exception | None]:
        existing = self._by_destination(routes, context)
        found = [existing.get(route.destination_cidr) for route in routes]
        # Another route took the place of the one that was listed: that one is gone.
        mine = [
            item if item and asked.id in {"", item["id"]} else None for asked, item in zip(routes, found, strict=True)
        ]
        answers = [_foreign(item, context) if item else None for item in mine]
        doomed = {item["id"]: None for item, problem in zip(mine, answers, strict=True) if item and problem is None}
        results = self._change(context, f"{PATH}/delete", {"ids": list(doomed)}) if doomed else []
        refused = dict(zip(doomed, map(_deleted, results), strict=True))
        return [
            problem or (refused.get(item["id"]) if item else None) for item, problem in zip(mine, answers, strict=True)
        ]

    def _plan(
        self, route: v1.Route, found: Found | None, context: RouteContext
    ) -> RouteResult | Exception | dict[str, Any]:
        """Return the answer for a route, or what has to be made."""
        target = machine_id(self._provider, route.target_provider_id)
        if not target:
            text = f"route to {route.destination_cidr}: {route.target_provider_id} is not an instance of this cloud"
            return ProviderError("ROUTE_TARGET_NOT_FOUND", text)
        if found and ownership_problem("route", found, context.cluster):
            text = f"route {found['id']} to {found['destination']} was not created by this cluster"
            return ProviderError("CIDR_CONFLICT", text, metadata={"cidr": found["destination"]})
        if found and found["instanceId"] == target and found["state"] == "active":
            return to_route(found)
        return _spec(route, target, context)

    def _read(self, context: RouteContext, **query: Any) -> Iterator[Found]:
        for page in self._cloud.read_all(context, PATH, **query):
            require_complete(page)
            context.report_quota(**page["quota"])
            yield from page["items"]

    def _by_destination(self, routes: Sequence[v1.Route], context: RouteContext) -> dict[str, Found]:
        """Return the routes to these destinations, of any owner."""
        wanted = sorted({route.destination_cidr for route in routes})
        return {found["destination"]: found for found in self._read(context, destination=wanted)}

    def _change(self, context: RouteContext, path: str, body: dict[str, Any]) -> Sequence[Found]:
        answer = self._cloud.ask(context, "POST", path, body)
        context.report_quota(**answer["quota"])
        results: Sequence[Found] = answer["results"]
        return results


def _made(result: Found) -> RouteResult | Exception:
    return to_route(result["route"]) if "route" in result else item_error(result["error"])


def _deleted(result: Found) -> Exception | None:
    refusal = result.get("error")
    return None if not refusal or refusal["code"] == "RouteNotFound" else item_error(refusal)


def _foreign(found: Found, context: RouteContext) -> Exception | None:
    """Reject a route of another owner; one without ownership tags belongs to a user."""
    if ownership_problem("route", found, context.cluster) is None:
        return None
    text = f"route {found['id']} to {found['destination']} was not created by this cluster"
    return ProviderError("OWNED_BY_ANOTHER_CLUSTER", text, metadata={"id": found["id"]})


def _spec(route: v1.Route, target: str, context: RouteContext) -> dict[str, Any]:
    node = {NODE_TAG: route.target_node_name} if route.target_node_name else {}
    return {
        "destination": route.destination_cidr,
        "instanceId": target,
        "label": route.name_hint,
        "tags": {**cluster_tags(context.cluster), **node},
    }


def to_route(found: Found) -> v1.Route:
    """Return a route in the form of the contract."""
    return v1.Route(
        id=found["id"],
        name_hint=found["label"],
        target_provider_id=f"{PREFIX}{found['instanceZone']}/{found['instanceId']}",
        target_node_name=found["tags"].get(NODE_TAG, ""),
        destination_cidr=found["destination"],
        blackhole=found["state"] == "blackhole",
    )
