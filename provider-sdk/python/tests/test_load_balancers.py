import threading
import time

import pytest

from cloudwire_provider import (
    LoadBalancerFeatures,
    NodeSets,
    absent,
    ingress,
    pending,
    unreachable,
    v1,
)
from cloudwire_provider.testing import CallFailedError, serving


@pytest.fixture
def seen(provider):
    """What the handlers were given; `answer` decides what they do."""
    seen = []
    handlers = provider.load_balancers

    @handlers.ensure
    def ensure(wanted, context):
        seen.append(wanted)
        return v1.LoadBalancer(id=wanted.key, ingress=ingress("192.0.2.1"))

    @handlers.update_nodes
    async def update_nodes(wanted, context):
        seen.append(wanted)
        return v1.LoadBalancer(id=wanted.key)

    handlers.delete(lambda ref, _context: seen.append(ref))
    handlers.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    return seen


def refused(client, request):
    with pytest.raises(CallFailedError) as failed:
        client.call(request)
    return failed.value


def reason(client, request):
    return refused(client, request).reason


def test_ensure_passes_the_whole_request(provider, seen):
    with serving(provider) as client:
        made = client.call(client.ensure(nodes=3)).load_balancer
    [wanted] = seen
    assert (wanted.service.uid, wanted.cluster.id, len(wanted.nodes)) == ("uid-1", "test-cluster", 3)
    assert (wanted.nodes_diff, wanted.spec.ports[0].port, wanted.adopt) == (None, 80, "")
    assert made.phase == v1.LOAD_BALANCER_PHASE_ACTIVE
    assert (made.service.uid, made.spec_fingerprint, made.nodes_fingerprint) == ("uid-1", "spec-1", "nodes-3")


# (case S-2)
def test_nodes_that_are_not_all_targets_are_never_acknowledged(provider):
    def partial(wanted, _context):
        node = v1.UnregisteredNode(name="node", reason="InstanceStopped")
        return v1.LoadBalancer(id=wanted.key, nodes_fingerprint="stored", unregistered_nodes=[node] * 101)

    provider.load_balancers.ensure(partial)
    provider.load_balancers.delete(lambda _ref, _context: None)
    provider.load_balancers.get(partial)
    with serving(provider) as client:
        made = client.call(client.ensure(nodes=3)).load_balancer
        read = client.call(v1.GetLoadBalancerRequest(service=client.service())).load_balancer
    for got in (made, read):
        assert (got.nodes_fingerprint, len(got.unregistered_nodes)) == ("", 100)


def test_pending_work_has_no_fingerprints_and_is_asked_about_again(provider):
    answers = [pending("lb-1", poll_after=90, stage="made"), pending("lb-1", updating=True)]
    provider.load_balancers.ensure(lambda _wanted, _context: answers.pop(0))
    provider.load_balancers.delete(lambda _ref, _context: pending("lb-1", remaining=["pool 1"]))
    provider.load_balancers.get(lambda _ref, _context: pending("lb-1"))
    with serving(provider) as client:
        request = client.ensure()
        made = client.call(request).load_balancer
        assert (made.phase, made.spec_fingerprint) == (v1.LOAD_BALANCER_PHASE_PROVISIONING, "")
        assert made.operation.poll_after.seconds == 60
        assert client.call(request).load_balancer.phase == v1.LOAD_BALANCER_PHASE_UPDATING
        deleted = client.call(v1.DeleteLoadBalancerRequest(service=client.service()))
        assert (deleted.done, list(deleted.remaining), deleted.operation.poll_after.seconds) == (False, ["pool 1"], 5)
        assert client.call(v1.GetLoadBalancerRequest(service=client.service())).load_balancer.HasField("operation")


# (case A-5)
def test_texts_for_people_are_cut_to_the_limits_of_the_contract(provider):
    text = "\x1b[31m" + "allow tcp|80|80|10.0.0.0/16, " * 400

    def delete(_ref, context):
        context.add_diagnostic(v1.Diagnostic(reason="Any", summary=text, detail=text))
        context.add_planned_change(v1.PlannedChange(resource_type="rule", summary=text))
        return pending("lb-1", stage=text, message=text, remaining=[text])

    provider.load_balancers.ensure(lambda _wanted, _context: pending("lb-1"))
    provider.load_balancers.delete(delete)
    provider.load_balancers.get(lambda _ref, _context: pending("lb-1"))
    with serving(provider) as client:
        got = client.call(v1.DeleteLoadBalancerRequest(service=client.service()))
    said, planned = got.diagnostics[0], got.planned_changes[0]
    for short in (got.operation.stage, *got.remaining):
        assert (len(short.encode()) <= 253, short[:10]) == (True, "\ufffd[31mallow")
    for long in (got.operation.message, said.summary, said.detail, planned.summary):
        assert (len(long.encode()) <= 1024, long[:10]) == (True, "\ufffd[31mallow")


def test_repeated_change_is_answered_from_memory_and_an_superseded_one_refused(provider, seen):
    with serving(provider) as client:
        request = client.ensure()
        assert client.call(request) == client.call(request)
        assert len(seen) == 1
        newer = client.ensure()
        newer.change.request_id, newer.change.sequence = "newer", 9
        client.call(newer)
        older = client.ensure()
        older.change.request_id, older.change.sequence = "older", 8
        late = refused(client, older)
        assert (late.reason, late.metadata) == ("STALE_GENERATION", {"applied_sequence": "9"})
        assert client.call(client.ensure(uid="uid-2")).load_balancer.id != newer.service.uid


@pytest.mark.parametrize(
    ("spec", "field", "wanted"),
    [
        ({"class": "other"}, "spec.class", "CLASS_UNSUPPORTED"),
        ({"ip_families": [v1.IP_FAMILY_IPV6]}, "spec.ip_families[0]", "FEATURE_UNSUPPORTED"),
        ({"ip_families": [9]}, "spec.ip_families[0]", "FIELD_INVALID"),
        ({"source_ranges": v1.SourceRanges(cidrs=["10.0.0.0/8"])}, "spec.source_ranges", "FEATURE_UNSUPPORTED"),
        ({"source_ranges": v1.SourceRanges(cidrs=["10.0.0.0/33"])}, "spec.source_ranges.cidrs[0]", None),
        ({"requested_ips": ["192.0.2.1"]}, "spec.requested_ips", "FEATURE_UNSUPPORTED"),
        ({"session_affinity": v1.SessionAffinity()}, "spec.session_affinity", "FEATURE_UNSUPPORTED"),
        ({"deletion_protection": True}, "spec.deletion_protection", "FEATURE_UNSUPPORTED"),
        ({"external_traffic_policy": 2}, "spec.external_traffic_policy", "FEATURE_UNSUPPORTED"),
        ({"external_traffic_policy": 7}, "spec.external_traffic_policy", "FIELD_INVALID"),
        ({"health_check": v1.HealthCheck(port=1)}, "spec.health_check.kind", "FIELD_MISSING"),
        ({"ports": []}, "spec.ports", "FIELD_MISSING"),
        ({"ports": [v1.ServicePort(protocol=2, port=1)]}, "spec.ports[0].protocol", "PORT_PROTOCOL_UNSUPPORTED"),
        ({"ports": [v1.ServicePort(protocol=8, port=1)]}, "spec.ports[0].protocol", "FIELD_INVALID"),
        ({"ports": [v1.ServicePort(protocol=1, port=70_000)]}, "spec.ports[0].port", "FIELD_INVALID"),
        ({"ports": [v1.ServicePort(protocol=1, port=1)] * 2}, "spec.ports[1]", "FIELD_INVALID"),
        (
            {"annotations": {"acme.example.com/size": "huge"}},
            'spec.annotations["acme.example.com/size"]',
            "ANNOTATION_INVALID",
        ),
        ({"name_hint": "x" * 33}, "spec.name_hint", "FIELD_TOO_LARGE"),
    ],
)
def test_what_was_not_declared_is_refused_with_its_path(provider, seen, spec, field, wanted):
    kinds = ["small", "large"]
    provider.annotations = [
        v1.AnnotationSchema(
            key="acme.example.com/size", type=v1.ANNOTATION_TYPE_ENUM, allowed_values=kinds, description="Size."
        )
    ]
    with serving(provider) as client:
        error = refused(client, client.ensure(**spec))
        client.call(client.ensure(annotations={"acme.example.com/size": "small", "acme.example.com/other": "x"}))
    assert field in error.fields
    assert wanted in {error.reason, None}
    assert len(seen) == 1


def test_all_problems_of_a_request_are_reported_together(provider, seen):
    with serving(provider) as client:
        request = client.ensure(ports=[v1.ServicePort(protocol=2, port=0)])
        request.service.name = "x" * 64
        request.spec_fingerprint = ""
        request.nodes.ClearField("source")
        error = refused(client, request)
    assert set(error.fields) == {
        *{"spec.ports[0].protocol", "nodes.source", "service.name", "spec.ports[0].port", "spec_fingerprint"},
    }
    assert seen == []


def test_hints_never_make_a_call_fail(provider, seen):
    with serving(provider) as client:
        hints = {"class": "x" * 400, "annotations": {"k": "v" * 20_000}}
        client.call(v1.GetLoadBalancerRequest(service=client.service(), **hints))
        assert client.call(v1.DeleteLoadBalancerRequest(service=client.service(), **hints)).done


def test_scope_is_checked_before_the_handlers_run(provider, seen):
    with serving(provider) as client:
        client.context.scope_id = "another"
        error = refused(client, client.ensure())
    assert (error.reason, error.metadata) == ("SCOPE_MISMATCH", {"expected": "another", "actual": "account-42"})
    assert seen == []


def test_validate_only_changes_nothing_and_is_refused_where_it_is_not_offered(provider, seen):
    with serving(provider) as client:
        request = client.ensure()
        request.change.validate_only = True
        assert reason(client, request) == "VALIDATE_ONLY_UNSUPPORTED"
    provider.load_balancers.features = LoadBalancerFeatures(validate_only=True)
    with serving(provider) as client:
        request = client.ensure()
        request.change.validate_only = True
        checked = client.call(request).load_balancer
        assert (checked.spec_fingerprint, checked.nodes_fingerprint) == ("", "")
        unchanged = v1.NodeSelection(fingerprint="nodes-2", count=2, unchanged=v1.UnchangedNodes())
        following = client.ensure()
        following.nodes.CopyFrom(unchanged)
        assert reason(client, following) == "NODES_FINGERPRINT_MISMATCH"


def test_nodes_arrive_whole_however_they_travel(provider, seen):
    with serving(provider) as client:
        unchanged = v1.NodeSelection(fingerprint="nodes-2", count=2, unchanged=v1.UnchangedNodes())
        update = v1.UpdateLoadBalancerNodesRequest(service=client.service(), nodes=unchanged)
        assert reason(client, update) == "NODES_FINGERPRINT_MISMATCH"
        client.call(client.ensure(nodes=2))
        client.call(v1.UpdateLoadBalancerNodesRequest(service=client.service(), nodes=unchanged))
        assert [node.name for node in seen[-1].nodes] == ["node-0", "node-1"]
        assert (seen[-1].nodes_diff.added, seen[-1].nodes_diff.removed) == ([], [])
        client.call(v1.UpdateLoadBalancerNodesRequest(service=client.service(), nodes=client.nodes(4)))
        assert [node.name for node in seen[-1].nodes_diff.added] == ["node-2", "node-3"]
        none = client.nodes(0)
        client.call(v1.UpdateLoadBalancerNodesRequest(service=client.service(), nodes=none))
        assert (len(seen[-1].nodes), len(seen[-1].nodes_diff.removed)) == (0, 4)
        wrong = client.nodes(3)
        wrong.count = 2
        lost = v1.UpdateLoadBalancerNodesRequest(service=client.service(), nodes=wrong)
        assert reason(client, lost) == "NODE_SET_INTEGRITY"
        twice = client.nodes(2)
        twice.inline.nodes[1].provider_id = twice.inline.nodes[0].provider_id
        double = v1.UpdateLoadBalancerNodesRequest(service=client.service(), nodes=twice)
        assert refused(client, double).fields.keys() == {"nodes.inline.nodes[1].provider_id"}


def test_node_sets_are_committed_whole_or_not_at_all(provider, seen):
    with serving(provider) as client:

        def chunk(index, nodes, *, of=2, count=4, base="", target="f-1", removed=()):
            upserts = [client.node(number) for number in nodes]
            return v1.ApplyNodeSetRequest(
                node_set_id="all",
                base_fingerprint=base,
                target_fingerprint=target,
                chunk_index=index,
                chunk_count=of,
                upserts=upserts,
                removed_provider_ids=removed,
                target_count=count,
            )

        def use(fingerprint, count):
            nodes = v1.NodeSelection(fingerprint=fingerprint, count=count, node_set_id="all")
            return v1.UpdateLoadBalancerNodesRequest(service=client.service(), nodes=nodes)

        assert not client.call(chunk(1, [2, 3])).committed
        assert not client.call(chunk(1, [2, 3])).committed
        assert reason(client, use("f-1", 4)) == "NODE_SET_UNKNOWN"
        assert client.call(chunk(0, [0, 1])).committed
        client.call(use("f-1", 4))
        assert {node.name for node in seen[-1].nodes} == {f"node-{number}" for number in range(4)}
        mismatch = refused(client, chunk(0, [5], of=1, base="f-0", target="f-2"))
        assert (mismatch.reason, mismatch.metadata) == ("NODE_SET_BASE_MISMATCH", {"fingerprint": "f-1"})
        assert reason(client, chunk(0, [5], of=1, base="f-1", target="f-2", count=9)) == "NODE_SET_INTEGRITY"
        delta = chunk(0, [5], of=1, base="f-1", target="f-2", count=4, removed=["acme://i-0"])
        assert client.call(delta) == v1.ApplyNodeSetResponse(fingerprint="f-2", count=4, committed=True)
        assert client.call(delta).committed
        assert reason(client, chunk(2, [], of=2, target="f-9")) == "FIELD_INVALID"
    provider.load_balancers.features = LoadBalancerFeatures(node_sets=None)
    with serving(provider) as client:
        assert reason(client, chunk(0, [1], of=1, count=1)) == "CAPABILITY_ABSENT"
    assert NodeSets().max_sets == 64


def test_get_without_handler_is_found_in_the_list(provider):
    provider.load_balancers.ensure(lambda wanted, _context: v1.LoadBalancer(id=wanted.key))
    provider.load_balancers.delete(lambda _ref, _context: None)
    parts = []

    @provider.load_balancers.list
    def every(context):
        yield v1.LoadBalancer(id="lb-1", service=v1.ServiceRef(namespace="d", name="w", uid="uid-1"))
        yield from parts

    with serving(provider) as client:

        def get(uid):
            return v1.GetLoadBalancerRequest(service=client.service(uid))

        assert client.call(get("uid-1")).load_balancer.id == "lb-1"
        assert client.call(get("uid-2")).absent.basis == v1.ABSENCE_BASIS_COMPLETE_LIST_MISS
        parts.append(unreachable("zone-b"))
        assert reason(client, get("uid-2")) == "ZONE_UNREACHABLE"
        page = client.call(v1.ListLoadBalancersRequest())
        assert ([found.id for found in page.load_balancers], page.complete) == (["lb-1"], False)


def test_answer_that_breaks_the_contract_is_an_error(provider):
    answers = [None, v1.LoadBalancer(id=""), "nonsense"]
    provider.load_balancers.ensure(lambda _wanted, _context: answers.pop())
    provider.load_balancers.delete(lambda _ref, _context: None)
    provider.load_balancers.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    with serving(provider) as client:
        assert [reason(client, client.ensure(uid=f"u-{n}")) for n in range(3)] == ["INVARIANT_BROKEN"] * 3


def test_slow_change_of_one_does_not_hold_up_others(provider):
    release = threading.Event()

    @provider.load_balancers.ensure
    def ensure(wanted, context):
        if wanted.service.uid == "slow":
            release.wait(20)
        return v1.LoadBalancer(id=wanted.key)

    provider.load_balancers.delete(lambda _ref, _context: None)
    provider.load_balancers.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    with serving(provider) as client:
        slow = client.ensure(uid="slow")
        slow.context.CopyFrom(client.context)
        slow.change.request_id = "slow"
        call = client.stub.EnsureLoadBalancer.future(slow, timeout=20)
        time.sleep(0.05)
        assert client.call(client.ensure(uid="fast")).load_balancer.id
        assert not call.done()
        release.set()
        assert call.result().load_balancer.id
