"""`python -m real_openstack DIRECTORY`: starts OpenStack there; ends it when its input ends, or at SIGTERM.

Says `ready {…}` when everything answers; the rest of what there is to say is in the directory's logs.
"""

import json
import os
import select
import signal
import sys
from pathlib import Path

import requests

from real_openstack import accounts, databases, foundations, services, settings
from real_openstack.api import Administrator
from real_openstack.processes import Processes, ProgramError, free_ports

START_SECONDS = 300
STEP_SECONDS = 0.5
PASSWORD = "admin"  # noqa: S105 - of a cloud that ends with this program


def main() -> None:
    directory = Path(sys.argv[1]).resolve()
    venv = Path(sys.prefix)
    names = [*services.APIS, "epmd", "rabbitmq", "rabbitmq-nodes"]
    place = settings.Place(directory, venv, dict(zip(names, free_ports(len(names)), strict=True)))
    environment = {
        **os.environ,
        "PATH": f"{venv / 'bin'}:{os.environ['PATH']}",
        "PYTHONWARNINGS": "ignore",
        "OCTAVIA_NOOP_DATABASE": str(directory / "octavia-noop.db"),
    }
    processes = Processes(directory / "logs", environment)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    try:
        _start(place, processes)
        print(f"ready {json.dumps(_about(place))}", flush=True)
        while not select.select([sys.stdin], [], [], STEP_SECONDS)[0] or sys.stdin.readline() != "":
            processes.check()
    except ProgramError as failure:
        sys.exit(str(failure))
    finally:
        processes.end()


def _start(place: settings.Place, processes: Processes) -> None:
    settings.write_all(place)
    foundations.start_rabbitmq(place, processes)
    accounts.create_keys(place)
    databases.provide_databases(place, processes, PASSWORD)
    services.create_authority(place, processes)
    services.start_api(place, processes, "keystone")
    foundations.await_rabbitmq(place, processes)
    _await_api(place, processes, "keystone")
    administrator = Administrator(place.keystone, PASSWORD)
    accounts.create_catalog(place, administrator)
    accounts.create_accounts(place, administrator)
    for service in services.APIS:
        if service != "keystone":
            services.start_api(place, processes, service)
    services.start_workers(place, processes)
    for service in services.APIS:
        _await_api(place, processes, service)
    hypervisors = f"{place.url('nova')}/v2.1/os-hypervisors"
    processes.wait(
        "nova-compute to be known", START_SECONDS, lambda: len(administrator.ask("GET", hypervisors)["hypervisors"]) > 0
    )


def _await_api(place: settings.Place, processes: Processes, service: str) -> None:
    def answers() -> bool:
        try:
            return requests.get(place.url(service), timeout=5).status_code < 500
        except requests.RequestException:
            return False

    processes.wait(f"the API of {service}", START_SECONDS, answers)


def _about(place: settings.Place) -> dict[str, object]:
    return {
        "authUrl": place.keystone,
        "region": settings.REGION,
        "zone": settings.ZONE,
        "urls": {service: place.url(service) for service in services.APIS},
        "adminPassword": PASSWORD,
    }


main()
