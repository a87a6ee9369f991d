"""What a provider may rely on when it serves routes."""

import pytest

from cloudwire_provider import (
    ProviderError,
    RouteFeatures,
    pending,
    v1,
)
from cloudwire_provider.testing import CallFailedError, serving


def test_routes_are_changed_one_by_one(provider):
    made = {}

    @provider.routes.ensure
    def ensure(route, context):
        if route.destination_cidr == "10.2.0.0/24":
            raise ProviderError("CIDR_CONFLICT", "taken", metadata={"cidr": route.destination_cidr})
        context.report_quota(limit=10, used=len(made) + 1)
        made[route.destination_cidr] = route
        return v1.Route(id=f"r-{len(made)}", destination_cidr=route.destination_cidr)

    @provider.routes.delete
    async def delete(route, context):
        if made.pop(route.destination_cidr, None) is None:
            return pending("r", poll_after=1)
        return None

    @provider.routes.list
    def every(context):
        for cidr, route in made.items():
            yield v1.Route(
                id="r", destination_cidr=cidr, target_provider_id=provider.cloud_id(route.target_provider_id)
            )

    def route(number, target="acme://i-1"):
        return v1.Route(destination_cidr=f"10.{number}.0.0/24", target_provider_id=target, name_hint="hint")

    with serving(provider) as client:
        wanted = [route(1), route(2), route(3, "gce://x")]
        answer = client.call(v1.BatchEnsureRoutesRequest(routes=wanted))
        assert [result.WhichOneof("outcome") for result in answer.results] == ["route", "error", "error"]
        assert [result.error.reason for result in answer.results[1:]] == ["CIDR_CONFLICT", "ROUTE_TARGET_NOT_FOUND"]
        assert (answer.results[0].route.target_provider_id, answer.results[0].route.name_hint) == ("acme://i-1", "hint")
        assert (answer.quota.limit, answer.quota.used) == (10, 1)
        page = client.call(v1.ListRoutesRequest())
        assert ([found.target_provider_id for found in page.routes], page.complete) == (["acme://i-1"], True)
        gone = client.call(v1.BatchDeleteRoutesRequest(routes=[route(1), route(2)]))
        assert [result.WhichOneof("outcome") for result in gone.results] == ["route", "operation"]
        # Of an instance that is gone: its route is listed without target.
        dropped = client.call(v1.BatchDeleteRoutesRequest(routes=[v1.Route(destination_cidr="10.1.0.0/24")]))
        assert [result.WhichOneof("outcome") for result in dropped.results] == ["operation"]
        bad = v1.Route(destination_cidr="10.0.0.1/24")
        with pytest.raises(CallFailedError) as failed:
            client.call(v1.BatchEnsureRoutesRequest(routes=[bad]))
        error = failed.value
        assert error.fields.keys() == {"routes[0].target_provider_id", "routes[0].destination_cidr"}
        late = v1.BatchEnsureRoutesRequest(routes=[route(1)])
        late.change.request_id, late.change.sequence = "late", 1
        [result] = client.call(late).results
        assert result.error.reason == "STALE_GENERATION"
    assert RouteFeatures().max_batch_size == 200
