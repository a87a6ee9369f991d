"""`python -m real_openstack.serve SERVICE MODULE CONFIG PORT`: a service's API, over HTTP."""

import importlib
import os
import sys
from pathlib import Path

import waitress

THREADS = 8
SINGLE = {"keystone"}
"""Served by one thread: with eight, on a busy machine, a token came with a role that its user did not have."""
CONFIGURED_BY_ARGUMENT = {"nova", "neutron", "octavia", "cinder"}
"""They read the path of their configuration from the command line, and where their API is described from the environment."""


def main() -> None:
    service, module, config, port = sys.argv[1:]
    by_argument = service in CONFIGURED_BY_ARGUMENT
    # The services read the command line of who serves them.
    sys.argv = [service, *([f"--config-file={config}"] if by_argument else [])]
    directory = Path(sys.prefix) / "etc" / service if by_argument else Path(config).parent
    os.environ[f"OS_{service.upper()}_CONFIG_DIR"] = str(directory)
    application = importlib.import_module(module).application
    threads = 1 if service in SINGLE else THREADS
    waitress.serve(application, host="127.0.0.1", port=int(port), threads=threads)


main()
