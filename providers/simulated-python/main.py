"""Serves the contract cloudprovider.v1 for a simulated cloud: `python main.py`, configured by environment variables."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cloudwire_provider import Provider, RunningProvider, serve

from balancers import serve_load_balancers
from cloud import Cloud
from machines import PREFIX, serve_instances
from routes import serve_routes

MAX_CALL_TIMEOUT_MS = 600_000


def make_provider(cloud: Cloud) -> Provider:
    """Make the provider of a cloud."""
    provider = Provider(name="simulated.cloudwire.dev", version="0.1.0", id_prefixes=[PREFIX])
    # The account: another one behind the same key is another world, in which all our nodes are missing.
    provider.learn_scope(cloud.scope)
    # Nothing more to ask: the scope is read with every check and proves as much.
    provider.check(lambda _context: None)
    serve_instances(provider, cloud)
    serve_load_balancers(provider, cloud)
    serve_routes(provider, cloud)
    return provider


def say_ready(running: RunningProvider) -> None:
    """Write one line that a parent process waits for."""
    sys.stdout.write(f"provider ready {running.address}\n")
    sys.stdout.flush()


def main() -> None:
    """Serve until the process is asked to end."""
    url = os.environ.get("SIMCLOUD_URL", "http://127.0.0.1:7070")
    key, key_file = os.environ.get("SIMCLOUD_API_KEY", ""), os.environ.get("SIMCLOUD_API_KEY_FILE", "")
    timeout_text = os.environ.get("SIMCLOUD_CALL_TIMEOUT_MS", "10000")
    problems = []
    if not url.startswith(("http://", "https://")):
        problems.append(f"SIMCLOUD_URL {url}: must be a URL, such as http://127.0.0.1:7070")
    if bool(key) == bool(key_file):
        problems.append("give either SIMCLOUD_API_KEY_FILE or SIMCLOUD_API_KEY, the key of an account of the cloud")
    if not timeout_text.isdecimal() or not 1 <= int(timeout_text) <= MAX_CALL_TIMEOUT_MS:
        limits = f"must be a whole number of milliseconds, 1 to {MAX_CALL_TIMEOUT_MS}"
        problems.append(f"SIMCLOUD_CALL_TIMEOUT_MS {timeout_text}: {limits}")
    if problems:
        sys.stderr.writelines(f"provider-simulated-python: {problem}\n" for problem in problems)
        sys.exit(78)
    read_key = (lambda: Path(key_file).read_text().strip()) if key_file else (lambda: key)
    cloud = Cloud(url.rstrip("/"), read_key, int(timeout_text) / 1000)
    serve(make_provider(cloud), ready=say_ready)


if __name__ == "__main__":
    main()
