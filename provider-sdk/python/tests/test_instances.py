import threading
import time

import pytest

from cloudwire_provider import (
    InstanceFeatures,
    ProviderError,
    VolumeFeatures,
    absent,
    cached,
    not_owned,
    unreachable,
    v1,
)
from cloudwire_provider.testing import CallFailedError, serving


def ask(client, *nodes, **fields):
    return client.call(v1.BatchGetInstancesRequest(nodes=nodes, **fields))


def node(number, name="web"):
    return v1.NodeRef(name=name, provider_id=f"acme://i-{number}")


def outcomes(answer):
    return [result.WhichOneof("outcome") for result in answer.results]


def test_each_node_gets_its_own_outcome(provider):
    def get(ref, context):
        match provider.cloud_id(ref.provider_id):
            case "i-1":
                return v1.Instance(provider_id="i-1", name="one")
            case "i-2":
                return absent("TERMINATED", strongly_consistent=True)
            case "i-3":
                raise ProviderError("RATE_LIMITED", "too fast")
            case "i-4":
                raise RuntimeError("secret detail")
            case "i-5":
                return not_owned("elsewhere")
            case "i-6":
                return v1.Instance(provider_id="i-7", name="another")
            case "i-8":
                return None
            case "i-9":
                raise ProviderError("CIDR_CONFLICT", "no reason of a machine")
        return v1.Instance(provider_id="i-by-name", name=ref.name)

    provider.instances.get(get)
    with serving(provider) as client:
        nodes = [node(n) for n in (1, 2, 3, 4, 5, 6, 8, 9)] + [v1.NodeRef(name="web"), node(1)]
        nodes += [v1.NodeRef(name="x", provider_id="gce://a/b"), v1.NodeRef(name="x", provider_id="acme://")]
        answer = ask(client, *nodes)
    assert outcomes(answer) == [
        *[
            "instance",
            "absent",
            "unknown",
            "unknown",
            "not_owned",
            "unknown",
            "unknown",
            "unknown",
            "instance",
            "instance",
        ],
        *["not_owned", "unknown"],
    ]
    reasons = {
        index: result.unknown.reason for index, result in enumerate(answer.results) if result.HasField("unknown")
    }
    assert reasons == {
        2: "RATE_LIMITED",
        3: "UNMAPPED_ERROR",
        5: "INVARIANT_BROKEN",
        6: "INVARIANT_BROKEN",
        7: "INVARIANT_BROKEN",
        11: "PROVIDER_ID_MALFORMED",
    }
    assert answer.results[2].unknown.retry_after.seconds == 5
    assert "secret" not in answer.results[3].unknown.message
    assert answer.results[8].instance.provider_id == "acme://i-by-name"
    assert answer.scope_id == "account-42"
    assert answer.stats.throttled


@pytest.mark.parametrize("status", [401, 403, 500, 503])
@pytest.mark.parametrize("basis", ["LOOKUP_MISS", "COMPLETE_LIST_MISS"])
def test_absence_after_an_error_of_the_cloud_is_unknown(provider, status, basis):
    @provider.instances.get
    def get(_ref, context):
        context.record_cloud_call(status=status)
        return absent(basis)

    with serving(provider) as client:
        answer = ask(client, node(1))
    assert outcomes(answer) == ["unknown"]


def test_error_of_one_item_does_not_forbid_the_absence_of_another(provider):
    @provider.instances.get
    async def get(ref, context):
        if ref.provider_id == "acme://i-1":
            context.record_cloud_call(status=503)
        return absent("LOOKUP_MISS")

    with serving(provider) as client:
        assert outcomes(ask(client, node(1), node(2))) == ["unknown", "absent"]


def test_any_error_in_get_many_forbids_absences_of_the_same_call(provider):
    @provider.instances.get_many
    def get_many(refs, context):
        return [absent("LOOKUP_MISS"), ProviderError("CLOUD_UNAVAILABLE", "zone b is away")]

    with serving(provider) as client:
        assert outcomes(ask(client, node(1), node(2))) == ["unknown", "unknown"]


def test_get_many_that_answers_too_few_fails_the_call(provider):
    provider.instances.get_many(lambda _refs, _context: [])
    with serving(provider) as client, pytest.raises(CallFailedError) as failed:
        ask(client, node(1))
    assert failed.value.reason == "INVARIANT_BROKEN"


@pytest.mark.parametrize(
    ("age", "delay", "answered", "outcome"),
    [
        (5, None, absent("LOOKUP_MISS"), "unknown"),
        (65, None, absent("LOOKUP_MISS"), "absent"),
        (5, 1.0, absent("LOOKUP_MISS"), "absent"),
        (5, None, absent("TERMINATED"), "absent"),
        (5, None, absent("LOOKUP_MISS", strongly_consistent=True), "absent"),
    ],
)
def test_absence_of_a_young_machine_means_nothing_yet(provider, age, delay, answered, outcome):
    provider.instances.features = InstanceFeatures(existence_consistency_delay=delay)
    provider.instances.get(lambda _ref, _context: answered)
    young = node(1)
    young.create_time.seconds = int(time.time()) - age
    with serving(provider) as client:
        [result] = ask(client, young).results
    assert result.WhichOneof("outcome") == outcome
    assert result.unknown.reason == ("NOT_YET_CONSISTENT" if outcome == "unknown" else "")


def test_equal_questions_are_asked_once_over_all_calls_if_their_data_is_young_enough(provider):
    asked, release = [], threading.Event()

    @provider.instances.get
    def get(ref, context):
        asked.append(ref.provider_id)
        release.wait(10)
        return v1.Instance(provider_id="i-1", name="one")

    with serving(provider) as client:
        requests = [v1.BatchGetInstancesRequest(nodes=[node(1), node(1)], context=client.context) for _ in range(2)]
        calls = [client.stub.BatchGetInstances.future(request, timeout=10) for request in requests]
        fresh = v1.BatchGetInstancesRequest(nodes=[node(1)], context=client.context)
        fresh.max_data_age.seconds = 0
        while not asked:
            time.sleep(0.01)
        calls.append(client.stub.BatchGetInstances.future(fresh, timeout=10))
        while len(asked) < 2:
            time.sleep(0.01)
        release.set()
        assert [len(call.result().results) for call in calls] == [2, 2, 1]
    assert asked == ["acme://i-1"] * 2


def test_single_look_ups_run_beside_each_other_up_to_a_bound(provider):
    lock, running, most = threading.Lock(), [0], [0]

    @provider.instances.get
    def get(ref, context):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        context.sleep(0.02)
        with lock:
            running[0] -= 1
        return v1.Instance(provider_id=ref.provider_id, name="one")

    with serving(provider) as client:
        assert len(ask(client, *(node(n) for n in range(100))).results) == 100
    assert 1 < most[0] <= 16


def test_known_answers_carry_the_time_of_reading(provider):
    from datetime import datetime, timezone

    read_time = datetime(2026, 1, 2, tzinfo=timezone.utc)
    provider.instances.get(lambda _ref, _context: cached(v1.Instance(provider_id="i-1", name="one"), read_time))
    with serving(provider) as client:
        [result] = ask(client, node(1)).results
    assert result.read_time.ToDatetime(timezone.utc) == read_time


def test_batches_keep_to_their_bounds(provider):
    provider.instances.features = InstanceFeatures(max_batch_size=2, lookup_by_name=False)
    provider.instances.get(lambda ref, _context: v1.Instance(provider_id=ref.provider_id, name="one"))
    with serving(provider) as client:
        assert len(ask(client, node(1), node(2)).results) == 2
        [by_name] = ask(client, v1.NodeRef(name="x")).results
        assert by_name.unknown.reason == "FEATURE_UNSUPPORTED"
        with pytest.raises(CallFailedError) as empty:
            ask(client)
        with pytest.raises(CallFailedError) as large:
            ask(client, node(1), node(2), node(3))
    assert (empty.value.reason, large.value.reason, large.value.metadata) == (
        "BATCH_EMPTY",
        "BATCH_TOO_LARGE",
        {"limit": "2"},
    )


def test_list_is_served_in_pages_that_can_be_asked_for_again(provider):
    pulled = []

    @provider.instances.list
    def every(context):
        for number in range(150):
            pulled.append(number)
            yield v1.Instance(provider_id=f"i-{number}", name=f"m-{number}")

    provider.instances.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    with serving(provider) as client:
        first = client.call(v1.ListInstancesRequest(page_size=10))
        assert len(pulled) <= 64
        again = client.call(v1.ListInstancesRequest(page_size=10, page_token=first.next_page_token))
        repeated = client.call(v1.ListInstancesRequest(page_size=10, page_token=first.next_page_token))
        assert again.instances == repeated.instances
        assert (first.complete, first.instances[9].name, again.instances[0].name) == (False, "m-9", "m-10")
        names, token = [], ""
        while True:
            page = client.call(v1.ListInstancesRequest(page_size=60, page_token=token))
            names += [instance.name for instance in page.instances]
            token = page.next_page_token
            if not token:
                break
        assert page.complete
        assert names == [f"m-{number}" for number in range(150)]
        for bad in ("nonsense", first.next_page_token[:-1] + "A" if first.next_page_token[-1] != "A" else "x"):
            with pytest.raises(CallFailedError) as invalid:
                client.call(v1.ListInstancesRequest(page_token=bad))
            assert invalid.value.reason == "PAGE_TOKEN_INVALID"
        with pytest.raises(CallFailedError) as negative:
            client.call(v1.ListInstancesRequest(page_size=-1))
        assert negative.value.reason == "PAGE_SIZE_INVALID"


def test_list_that_lacks_something_is_not_complete(provider):
    @provider.instances.list
    async def every(context):
        yield v1.Instance(provider_id="i-1", name="one")
        yield unreachable("zone-b")
        yield v1.Instance(provider_id="i-2", name="")
        yield "nonsense"

    provider.instances.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    with serving(provider) as client:
        page = client.call(v1.ListInstancesRequest())
    assert [instance.name for instance in page.instances] == ["one"]
    assert list(page.unreachable) == ["zone-b", "an object that breaks the contract in ListInstances"]
    assert not page.complete


def test_id_under_another_clouds_prefix_is_named(provider):
    provider.instances.get(lambda _ref, _context: v1.Instance(provider_id="aws:///i-1", name="one"))
    with serving(provider) as client:
        [result] = client.call(v1.BatchGetInstancesRequest(nodes=[v1.NodeRef(name="one")])).results
    assert result.unknown.reason == "INVARIANT_BROKEN"
    assert "acme://aws:///i-1 has a prefix that is not of this provider" in result.unknown.message


def test_id_may_have_what_looks_like_a_prefix_further_on(provider):
    provider.instances.get(lambda _ref, _context: v1.Instance(provider_id="zone/a://b", name="one"))
    with serving(provider) as client:
        [result] = client.call(v1.BatchGetInstancesRequest(nodes=[v1.NodeRef(name="one")])).results
    assert result.instance.provider_id == "acme://zone/a://b"


def test_list_that_raises_fails_the_call_and_starts_anew(provider):
    tries = []

    @provider.instances.list
    def every(context):
        tries.append(1)
        yield v1.Instance(provider_id="i-1", name="one")
        if len(tries) == 1:
            raise ProviderError("CLOUD_UNAVAILABLE", "away")

    provider.instances.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    with serving(provider) as client:
        with pytest.raises(CallFailedError) as failed:
            client.call(v1.ListInstancesRequest())
        assert failed.value.reason == "CLOUD_UNAVAILABLE"
        assert client.call(v1.ListInstancesRequest()).complete


def test_volumes_of_other_drivers_are_not_owned(provider):
    provider.volumes.features = VolumeFeatures(csi_drivers=["csi.acme.example.com"])
    provider.volumes.get(
        lambda ref, _context: (
            v1.Volume(id=ref.csi.volume_handle, zones=["b", "a"])
            if ref.csi.volume_handle != "gone"
            else absent("LOOKUP_MISS")
        )
    )

    def volume(driver, handle):
        return v1.VolumeRef(name="pv", csi=v1.CsiVolumeSource(driver=driver, volume_handle=handle))

    mine = "csi.acme.example.com"
    wanted = [volume(mine, "v-1"), volume("other", "v-1"), volume(mine, "gone"), v1.VolumeRef(name="pv")]
    with serving(provider) as client:
        answer = client.call(v1.BatchGetVolumesRequest(volumes=wanted))
    assert outcomes(answer) == ["volume", "not_owned", "absent", "unknown"]
    assert list(answer.results[0].volume.zones) == ["a", "b"]


# (case N-7)
@pytest.mark.parametrize("asked", ["acme:///AB", "ACME:///zone/AB", "acme:///zone/ab"])
def test_instance_is_answered_under_the_id_asked_for(provider, asked):
    provider.instances.get(lambda ref, context: v1.Instance(provider_id="acme:///zone/ab", name="n"))
    with serving(provider) as client:
        [result] = ask(client, v1.NodeRef(name="n", provider_id=asked)).results
    assert result.instance.provider_id == asked
