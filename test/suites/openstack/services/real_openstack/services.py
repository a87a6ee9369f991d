"""The services of OpenStack: what they run as."""

from real_openstack.processes import Processes
from real_openstack.settings import Place

APIS = {
    "keystone": "keystone.wsgi.api",
    "placement": "placement.wsgi.api",
    "glance": "glance.wsgi.api",
    "nova": "nova.wsgi.osapi_compute",
    "neutron": "neutron.wsgi.api",
    "octavia": "octavia.wsgi.api",
    "cinder": "cinder.wsgi.api",
}

WORKERS = {
    "nova": ("nova-conductor", "nova-scheduler", "nova-compute"),
    "octavia": ("octavia-worker",),
    "cinder": ("cinder-scheduler", "cinder-volume"),
}


def create_authority(place: Place, processes: Processes) -> None:
    """Octavia signs certificates of what it would start."""
    state = place.state("octavia")
    output = ["-keyout", str(state / "ca-key.pem"), "-out", str(state / "ca.pem")]
    subject = ["-subj", "/CN=octavia", "-days", "2"]
    processes.run("openssl", ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *output, *subject])


def start_api(place: Place, processes: Processes, service: str) -> None:
    port = str(place.ports[service])
    command = [
        program_of(place, "python"),
        "-m",
        "real_openstack.serve",
        service,
        APIS[service],
        str(place.config(service)),
        port,
    ]
    processes.start(f"{service}-api", command)


def start_workers(place: Place, processes: Processes) -> None:
    for service, programs in WORKERS.items():
        for program in programs:
            processes.start(program, [program_of(place, program), f"--config-file={place.config(service)}"])


def program_of(place: Place, name: str) -> str:
    return str(place.venv / "bin" / name)
