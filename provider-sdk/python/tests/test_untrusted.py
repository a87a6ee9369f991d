"""After what nothing may be called absent, and no list complete."""

import pytest

from cloudwire_provider import Provider, absent, v1
from cloudwire_provider.testing import serving

NODE = v1.NodeRef(name="a", provider_id="acme://i-1")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"status": 401}, "CLOUD_CREDENTIALS_INVALID"),
        ({"status": 403}, "CLOUD_PERMISSION_DENIED"),
        ({"status": 407}, "INCOMPLETE_ANSWER"),
        ({"status": 408}, "CLOUD_TIMEOUT"),
        ({"status": 429}, "RATE_LIMITED"),
        ({"status": 500}, "CLOUD_UNAVAILABLE"),
        ({"error": RuntimeError("what is this?")}, "INCOMPLETE_ANSWER"),
    ],
)
def test_absence_after_an_unanswered_request_is_unknown(provider, said, reason):
    @provider.instances.get
    def get(node, context):
        context.record_cloud_call(**said)
        return absent("LOOKUP_MISS")

    with serving(provider) as client:
        [result] = client.call(v1.BatchGetInstancesRequest(nodes=[NODE])).results
    assert (result.WhichOneof("outcome"), result.unknown.reason) == ("unknown", reason)


@pytest.mark.parametrize("status", [400, 404, 410])
def test_absence_after_an_answer_stands(provider, status):
    @provider.instances.get
    def get(node, context):
        context.record_cloud_call(status=status)
        return absent("LOOKUP_MISS")

    with serving(provider) as client:
        [result] = client.call(v1.BatchGetInstancesRequest(nodes=[NODE])).results
    assert result.WhichOneof("outcome") == "absent"


def fetching(provider: Provider, url: str) -> None:
    @provider.instances.get
    def get(node, context):
        found = context.fetch(f"{url}/machine")
        return absent("LOOKUP_MISS") if found.status == 404 else v1.Instance(provider_id="i-1", name=found.json())


def test_fetch_repeats_what_failed_for_a_moment_and_forgets_it(provider, cloud):
    fetching(provider, cloud.url)
    cloud.once["GET /machine"] = [(503, b""), (200, b'"a"')]
    with serving(provider) as client:
        answer = client.call(v1.BatchGetInstancesRequest(nodes=[NODE]))
        ready = client.call(v1.GetProviderStatusRequest()).ready
    assert answer.results[0].WhichOneof("outcome") == "instance"
    assert (answer.stats.cloud_calls, answer.stats.cloud_retries, ready) == (2, 1, True)


def test_not_found_after_a_retried_failure_is_no_absence(provider, cloud):
    fetching(provider, cloud.url)
    cloud.once["GET /machine"] = [(503, b""), (404, b"")]
    with serving(provider) as client:
        [result] = client.call(v1.BatchGetInstancesRequest(nodes=[NODE])).results
    assert (result.WhichOneof("outcome"), result.unknown.reason) == ("unknown", "CLOUD_UNAVAILABLE")


def test_fetch_retries_a_post_only_on_request(provider, cloud):
    statuses = []

    @provider.instances.get
    def get(node, context):
        for retry in (None, True):
            cloud.once["POST /machine"] = [(503, b""), (200, b"")]
            statuses.append(context.fetch(f"{cloud.url}/machine", method="POST", retry=retry).status)
        return absent("LOOKUP_MISS")

    with serving(provider) as client:
        client.call(v1.BatchGetInstancesRequest(nodes=[NODE]))
    assert statuses == [503, 200]


@pytest.mark.parametrize("status", [403, 429, 503])
def test_list_that_swallowed_a_refusal_is_not_complete(provider, status):
    provider.instances.get(lambda _node, _context: absent("LOOKUP_MISS"))

    @provider.instances.list
    def list_machines(context):
        yield v1.Instance(provider_id="i-1", name="a")
        context.record_cloud_call(status=status)

    with serving(provider) as client:
        page = client.call(v1.ListInstancesRequest())
    assert (page.complete, len(page.instances), len(page.unreachable)) == (False, 1, 1)


@pytest.mark.parametrize("answer", ["", "x" * 254, None])
def test_scope_that_names_nothing_fails_the_check_and_leaves_what_is_known(provider, answer):
    answers = ["account-42"]
    provider.learn_scope(lambda _context: answers[0])
    provider.instances.get(lambda _node, _context: absent("LOOKUP_MISS"))
    from cloudwire_provider import CheckIntervals

    with serving(provider, check_intervals=CheckIntervals(good=0.05, bad=0.05, timeout=5)) as client:
        answers[0] = answer
        for _ in range(500):
            status = client.call(v1.GetProviderStatusRequest())
            if not status.ready:
                break
        assert (status.ready, status.scope_id) == (False, "account-42")
