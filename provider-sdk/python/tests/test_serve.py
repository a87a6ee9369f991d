import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
import trustme

from cloudwire_provider import ProviderError, StartError, TcpEndpoint, TlsFiles, absent, v1
from cloudwire_provider._server.builtin import message_class
from cloudwire_provider._server.unix_socket import bind
from cloudwire_provider.testing import CallFailedError, Client, serving

PROGRAM = """
import sys
from cloudwire_provider import Provider, absent, serve, v1
provider = Provider(name="acme.example.com", version="1", id_prefixes=["acme://"], scope="account-42")
provider.check(lambda _context: None)

@provider.instances.get
def get(node, context):
    if node.name == "slow":
        sys.stderr.write("begun\\n")
        sys.stderr.flush()
        __import__("time").sleep(float(sys.argv[1]))
    return absent("LOOKUP_MISS")

serve(provider)
"""


class Process:
    """A provider in a process of its own."""

    def __init__(self, path: Path, *args: str, **environment: str) -> None:
        given = {"CLOUD_PROVIDER_ENDPOINT": f"unix://{path}", **environment}
        env = {key: value for key, value in os.environ.items() if not key.startswith("CLOUD_PROVIDER_")}
        self.path = path
        self.child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *args], env={**env, **given}, stderr=subprocess.PIPE, text=True
        )

    def until(self, text: str) -> str:
        assert self.child.stderr is not None
        for line in self.child.stderr:
            if text in line:
                return line
        pytest.fail(f"it never said {text}")

    def end(self) -> int:
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(30)


@pytest.fixture
def start(tmp_path):
    processes = []

    def run(*args: str, **environment: str) -> Process:
        processes.append(Process(tmp_path / "p.sock", *args, **environment))
        return processes[-1]

    yield run
    for process in processes:
        process.child.kill()
        process.child.communicate()


def test_socket_has_its_mode_and_goes_with_the_process(start):
    process = start()
    process.until('"Serving"')
    found = process.path.stat()
    assert stat.S_IMODE(found.st_mode) == 0o660
    assert [file.name for file in process.path.parent.iterdir()] == ["p.sock"]
    assert process.end() == 0
    assert not process.path.exists()


def test_stale_socket_is_replaced_and_a_live_one_left_alone(start):
    first = start()
    first.until('"Serving"')
    first.child.kill()
    first.child.wait()
    assert first.path.exists()
    second = start()
    second.until('"Serving"')
    third = start()
    code, said = third.child.wait(30), third.child.stderr.read()
    assert (code, said) == (
        69,
        f"acme.example.com: another process listens on {second.path}; stop it or give another endpoint\n",
    )
    client = Client(f"unix://{second.path}")
    assert client.call(v1.GetProviderInfoRequest()).name == "acme.example.com"
    client.close()
    assert second.end() == 0


@pytest.mark.parametrize(
    ("environment", "code", "problems"),
    [
        ({"CLOUD_PROVIDER_ENDPOINT": ""}, 78, ["CLOUD_PROVIDER_ENDPOINT is not set"]),
        ({"CLOUD_PROVIDER_ENDPOINT": "unix://@abstract.sock"}, 78, ["abstract sockets have no permissions"]),
        ({"CLOUD_PROVIDER_ENDPOINT": "unix://relative.sock"}, 78, ["the path must be absolute"]),
        ({"CLOUD_PROVIDER_ENDPOINT": "unix:///p"}, 78, ["must end in a name.sock"]),
        ({"CLOUD_PROVIDER_ENDPOINT": f"unix:///{'x' * 110}.sock"}, 78, ["the system takes 107"]),
        ({"CLOUD_PROVIDER_ENDPOINT": "http://x"}, 78, ["is neither unix"]),
        ({"CLOUD_PROVIDER_ENDPOINT": "tcp://127.0.0.1:0"}, 78, ["needs TLS with client certificates"]),
        ({"CLOUD_PROVIDER_ENDPOINT": "unix:///nowhere/p.sock"}, 69, ["the directory /nowhere does not exist"]),
        (
            {"CLOUD_PROVIDER_LOG_LEVEL": "loud", "CLOUD_PROVIDER_TLS_KEY_FILE": "k"},
            78,
            ["use debug, info", "TLS needs"],
        ),
        ({"CLOUD_PROVIDER_SOCKET_GROUP": "no-such-group"}, 78, ["no-such-group is not known"]),
        ({"CLOUD_PROVIDER_HTTP_ADDRESS": "nonsense"}, 78, ["use host:port"]),
    ],
)
def test_mistakes_of_the_operator_are_plain_lines(start, environment, code, problems):
    process = start(**environment)
    assert process.child.wait(30) == code
    lines = process.child.stderr.read().splitlines()
    assert len(lines) == len(problems)
    for line, problem in zip(lines, problems, strict=True):
        assert line.startswith("acme.example.com: ")
        assert problem in line


def test_directory_that_may_not_be_written_to_is_named_with_what_lets_it(monkeypatch, tmp_path):
    # File permissions do not restrict root, the user of many containers.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(StartError, match=f"cannot create a socket in {tmp_path}; grant it write permission") as raised:
        bind(str(tmp_path / "p.sock"), "", lambda: pytest.fail("it listens without permission"))
    assert raised.value.exit_code == 69


@pytest.mark.parametrize(("seconds", "reason"), [("0.5", None), ("60", "PROVIDER_DRAINING")])
def test_sigterm_lets_calls_end_but_not_for_ever(start, seconds, reason):
    process = start(seconds)
    process.until('"Serving"')
    client = Client(f"unix://{process.path}")
    client.context.scope_id = "account-42"
    request = v1.BatchGetInstancesRequest(context=client.context, nodes=[v1.NodeRef(name="slow")])
    call = client.stub.BatchGetInstances.future(request, timeout=30)
    process.until("begun")
    process.child.send_signal(signal.SIGTERM)
    error = call.exception(timeout=30)
    assert (None if error is None else CallFailedError("BatchGetInstances", error).reason) == reason
    client.close()
    assert process.child.wait(30) == 0
    assert not process.path.exists()


def test_provider_whose_socket_was_taken_away_says_so_and_ends(provider):
    provider.instances.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    import asyncio

    with serving(provider, socket_check=0.05) as client:
        path = client.address.removeprefix("unix://")
        Path(path).unlink()
        with socket.socket(socket.AF_UNIX) as foreign:
            foreign.bind(path)
            foreign.listen()
            ended = asyncio.run_coroutine_threadsafe(client.provider.ended(), client.provider.loop).result(30)
            assert ended
            # What another process put there stays.
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(path)


@pytest.fixture
def tls(tmp_path):
    """Files of a server and its callers' authority, and what callers need."""
    authority = trustme.CA()

    def issue() -> TlsFiles:
        files = TlsFiles(*(str(tmp_path / name) for name in ("cert.pem", "key.pem", "ca.pem")))
        server = authority.issue_cert("127.0.0.1", "localhost")
        Path(files.key).write_bytes(server.private_key_pem.bytes())
        Path(files.cert).write_bytes(b"".join(blob.bytes() for blob in server.cert_chain_pems))
        Path(files.client_ca).write_bytes(authority.cert_pem.bytes())
        return files

    def channel(address: str, *, with_certificate: bool = True) -> grpc.Channel:
        client = authority.issue_cert("client.example.com")
        own = (client.private_key_pem.bytes(), client.cert_chain_pems[0].bytes()) if with_certificate else (None, None)
        return grpc.secure_channel(address, grpc.ssl_channel_credentials(authority.cert_pem.bytes(), *own))

    return issue, channel


def handshake(channel: grpc.Channel) -> bytes:
    request = v1.GetProviderInfoRequest(client=v1.ClientInfo(name="t", version="1", contract_major=1))
    with channel:
        answer: bytes = channel.unary_unary("/cloudprovider.v1.CloudProvider/GetProviderInfo")(
            request.SerializeToString(), timeout=10
        )
    return answer


def test_tcp_is_served_to_callers_with_certificates_only_and_follows_its_files(provider, tls, caplog):
    issue, channel = tls
    provider.instances.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    from cloudwire_provider.testing import running

    endpoint = TcpEndpoint("127.0.0.1", 0)
    files = issue()
    with running(provider, endpoint=endpoint, tls=files, tls_reload=0.05) as provider_running:
        info = v1.GetProviderInfoResponse.FromString(handshake(channel(provider_running.address)))
        assert list(info.services) == ["cloudprovider.v1.CloudProvider", "grpc.health.v1.Health"]
        with pytest.raises(grpc.RpcError) as refused:
            handshake(channel(provider_running.address, with_certificate=False))
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        Path(files.key).write_text("-----BEGIN nonsense")
        until(lambda: "The TLS files are of no use" in caplog.text)
        assert handshake(channel(provider_running.address))
        caplog.set_level("INFO", "cloudwire_provider")
        issue()
        until(lambda: "New TLS files are in force" in caplog.text)
        assert handshake(channel(provider_running.address))


def until(holds) -> None:
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail("it did not come to pass")


def test_definition_with_mistakes_is_refused_with_all_of_them(provider):
    provider.id_prefixes = ["acme", "acme"]
    provider.scope = ""
    provider.checker = None
    provider.load_balancers.ensure(lambda _wanted, _context: None)
    with pytest.raises(StartError) as failed, serving(provider):
        pass
    assert [problem.split(":")[0].split(" ")[0] for problem in failed.value.problems] == [
        *["check", "scope", "id_prefixes", "id_prefixes", "id_prefixes", "load_balancers.delete", "load_balancers"],
    ]
    assert failed.value.exit_code == 78


def test_scope_is_learned_and_status_follows_the_cloud(provider):
    answers = [ProviderError("CLOUD_UNAVAILABLE", "away")] * 2 + ["account-1"]

    @provider.learn_scope
    def scope(context):
        answer = answers[0] if len(answers) == 1 else answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @provider.instances.get
    def get(ref, context):
        context.record_cloud_call(status=401)
        raise ProviderError("CLOUD_CREDENTIALS_INVALID", "expired")

    with serving(provider, wait_for_scope=False) as client:
        request = v1.BatchGetInstancesRequest(nodes=[v1.NodeRef(name="a")])
        client.context.scope_id = "account-1"
        with pytest.raises(CallFailedError) as early:
            client.call(request)
        assert (early.value.reason, client.call(v1.GetProviderInfoRequest()).scope_id) == ("PROVIDER_STARTING", "")
        until(lambda: client.call(v1.GetProviderStatusRequest()).ready)
        assert client.call(v1.GetProviderStatusRequest()).scope_id == "account-1"
        client.call(request)
        conditions = {found.type: found for found in client.call(v1.GetProviderStatusRequest()).conditions}
        assert conditions["CredentialsValid"].reason == "CredentialsRefused"
        until(lambda: client.call(v1.GetProviderStatusRequest()).ready)


def test_reflection_and_health_answer_from_a_closed_set(provider):
    provider.instances.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    with serving(provider) as client:
        for version in ("v1", "v1alpha"):
            package = f"grpc.reflection.{version}"
            request, response = (message_class(f"{package}.ServerReflection{kind}") for kind in ("Request", "Response"))
            call = client.channel.stream_stream(f"/{package}.ServerReflection/ServerReflectionInfo")
            asked = [
                request(list_services=""),
                request(file_containing_symbol="cloudprovider.v1.CloudProvider"),
                request(file_by_filename="nowhere.proto"),
                request(all_extension_numbers_of_type="google.protobuf.FieldOptions"),
                request(),
            ]
            answers = [
                response.FromString(raw) for raw in call(iter([one.SerializeToString() for one in asked]), timeout=10)
            ]
            assert [service.name for service in answers[0].list_services_response.service] == [
                "cloudprovider.v1.CloudProvider",
                "grpc.health.v1.Health",
                "grpc.reflection.v1.ServerReflection",
                "grpc.reflection.v1alpha.ServerReflection",
            ]
            assert len(answers[1].file_descriptor_response.file_descriptor_proto) >= 9
            assert answers[2].error_response.error_code == 5
            assert list(answers[3].all_extension_numbers_response.extension_number) == [50510]
            assert answers[4].error_response.error_code == 3
        health = {"service": "grpc.health.v1.Health"}
        assert client.raw("Check", b"", **health) == b"\x08\x01"
        with pytest.raises(CallFailedError) as unknown:
            client.raw("Check", b"\x0a\x01x", **health)
        assert unknown.value.code is grpc.StatusCode.NOT_FOUND


def test_request_ids_are_echoed_and_foreign_traces_ignored(provider):
    seen = []

    @provider.instances.get
    def get(ref, context):
        seen.append((context.request_id, context.traceparent))
        return absent("LOOKUP_MISS")

    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with serving(provider) as client:
        for parent in (trace, "nonsense"):
            request = v1.BatchGetInstancesRequest(context=client.context, nodes=[v1.NodeRef(name=parent[:5])])
            metadata = (("x-request-id", "id-1"), ("traceparent", parent))
            _, call = client.stub.BatchGetInstances.with_call(request, timeout=10, metadata=metadata)
            assert dict(call.trailing_metadata())["x-request-id"] == "id-1"
        with pytest.raises(CallFailedError) as failed:
            client.call(v1.BatchGetInstancesRequest(), metadata=(("x-request-id", "id-2"),))
        assert failed.value.trailers["x-request-id"] == "id-2"
    assert seen == [("id-1", trace), ("id-1", None)]


def test_http_port_serves_probes_and_figures(provider):
    import urllib.request

    provider.instances.get(lambda _ref, _context: absent("LOOKUP_MISS"))
    with serving(provider, http_address=("127.0.0.1", 0)) as client:
        client.call(v1.BatchGetInstancesRequest(nodes=[v1.NodeRef(name="a")]))

        def get(path: str) -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{client.provider.http_port}{path}") as answer:
                return str(answer.read().decode())

        assert (get("/livez"), get("/readyz")) == ("ok\n", "ok\n")
        metrics = get("/metrics")
        labels = 'method="BatchGetInstances",code="OK",reason=""'
        assert f"cloudwire_provider_call_duration_seconds_count{{{labels}}} 1" in metrics
        assert 'cloudwire_provider_build_info{name="acme.example.com",version="1.0.0",sdk=' in metrics
        with pytest.raises(urllib.error.HTTPError):
            get("/other")
