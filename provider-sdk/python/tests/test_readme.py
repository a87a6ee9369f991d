"""The providers of the README, as they stand there."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cloudwire_provider import v1
from cloudwire_provider.testing import Client

README = (Path(__file__).parent.parent / "README.md").read_text()


def snippet(name: str) -> str:
    match = re.search(rf"<!-- snippet: {name} -->\n```python\n(.*?)```", README, re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture
def start(tmp_path, cloud):
    processes = []

    def run(source: str) -> Client:
        program, path = tmp_path / "provider.py", tmp_path / "p.sock"
        program.write_text(source)
        cloud.answers["GET /ping"] = (200, b"[]")
        environment = {**os.environ, "ACME_URL": cloud.url, "CLOUD_PROVIDER_ENDPOINT": f"unix://{path}"}
        process = subprocess.Popen([sys.executable, program], env=environment, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stderr is not None
        assert '"Serving"' in process.stderr.readline()
        client = Client(f"unix://{path}")
        client.context.scope_id = "account-42"
        return client

    yield run
    for process in processes:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 0, said


def test_smallest_provider_has_at_most_forty_lines():
    assert len(snippet("smallest-provider").splitlines()) <= 40


def test_smallest_provider_serves_machines_and_load_balancers(start, cloud):
    client = start(snippet("smallest-provider"))
    machine = b'[{"id": "i-1", "name": "web-1", "size": "large", "zone": "a", "ips": ["10.0.0.7"], "on": true}]'
    cloud.answers["GET /machines?id=i-1"] = (200, machine)
    cloud.answers["GET /machines?id=i-2"] = (200, b"[]")
    cloud.answers["GET /machines?id=i-3"] = (503, b"")
    nodes = [v1.NodeRef(name="web", provider_id=f"acme://i-{number}") for number in (1, 2, 3)]
    answer = client.call(v1.BatchGetInstancesRequest(nodes=nodes))
    assert [result.WhichOneof("outcome") for result in answer.results] == ["instance", "absent", "unknown"]
    assert answer.results[0].instance.provider_id == "acme://i-1"
    assert answer.results[0].instance.state == v1.INSTANCE_STATE_RUNNING
    assert answer.results[2].unknown.reason == "CLOUD_UNAVAILABLE"
    # The one that met 503 was repeated three times.
    assert (answer.stats.cloud_calls, answer.stats.cloud_retries) == (6, 3)

    request = client.ensure()
    key = "k8s-dda896a47603e4067e12880b65ca"
    cloud.answers[f"PUT /lbs/{key}"] = (200, b'{"id": "lb-1"}')
    working = client.call(request).load_balancer
    assert working.HasField("operation")
    assert working.spec_fingerprint == ""
    cloud.answers[f"PUT /lbs/{key}"] = (200, b'{"id": "lb-1", "ip": "192.0.2.1"}')
    request.ClearField("change")
    made = client.call(request).load_balancer
    assert made.ingress.items[0].ip == "192.0.2.1"
    assert (made.spec_fingerprint, made.nodes_fingerprint) == ("spec-1", "nodes-2")
    cloud.answers[f"DELETE /lbs/{key}"] = (200, b"{}")
    assert client.call(v1.DeleteLoadBalancerRequest(service=client.service())).done
    cloud.answers[f"GET /lbs?name={key}"] = (200, b"[]")
    assert client.call(v1.GetLoadBalancerRequest(service=client.service())).WhichOneof("outcome") == "absent"
    client.close()


def test_asyncio_provider_serves_machines(start, cloud):
    client = start(snippet("asyncio-provider"))
    cloud.answers["GET /machines?id=i-1"] = (200, b'[{"id": "i-1", "name": "web-1"}]')
    cloud.answers["GET /machines?id=i-2"] = (401, b"")
    nodes = [v1.NodeRef(name="web", provider_id=f"acme://i-{number}") for number in (1, 2)]
    answer = client.call(v1.BatchGetInstancesRequest(nodes=nodes))
    assert answer.results[0].instance.name == "web-1"
    assert answer.results[1].unknown.reason == "CLOUD_CREDENTIALS_INVALID"
    client.close()


def test_test_of_a_provider_passes():
    namespace: dict[str, object] = {}
    exec(snippet("test-of-a-provider"), namespace)
    test = namespace["test_a_machine_that_the_cloud_does_not_know_is_absent"]
    assert callable(test)
    test()
