"""`python -m real_openstack.serve SERVICE MODULE CONFIG PORT`: a service's API, over HTTP."""

import importlib
import os
import sys
from pathlib import Path

import waitress

THREADS = 8
SINGLE = {"keystone"}
"""Served by one thread: with eight, on a busy machine, a token came with a role that its user did not have."""
TOLD = {"nova", "neutron", "octavia", "cinder"}
"""They are told their configuration on the command line, and where the description of their API is by the environment."""


def main() -> None:
    service, module, config, port = sys.argv[1:]
    is_told = service in TOLD
    # The services read the command line of who serves them.
    sys.argv = [service, *([f"--config-file={config}"] if is_told else [])]
    directory = Path(sys.prefix) / "etc" / service if is_told else Path(config).parent
    os.environ[f"OS_{service.upper()}_CONFIG_DIR"] = str(directory)
    application = importlib.import_module(module).application
    threads = 1 if service in SINGLE else THREADS
    waitress.serve(application, host="127.0.0.1", port=int(port), threads=threads)


main()
