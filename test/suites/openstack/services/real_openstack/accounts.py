"""Who may do what in the cloud, and where its services are."""

import base64
import os

from real_openstack.api import Administrator
from real_openstack.settings import ACCOUNTS, REGION, Place

TYPES = {
    "keystone": ("identity", "/v3"),
    "placement": ("placement", ""),
    "glance": ("image", ""),
    "nova": ("compute", "/v2.1"),
    "neutron": ("network", ""),
    "octavia": ("load-balancer", ""),
    "cinder": ("block-storage", "/v3"),
}


def create_keys(place: Place) -> None:
    """What Keystone makes tokens and hides credentials with: a key that counts and one that will."""
    for keys in ("fernet", "receipts", "credential"):
        directory = place.state("keystone") / keys
        directory.mkdir(mode=0o700)
        for name in ("0", "1"):
            (directory / name).write_bytes(base64.urlsafe_b64encode(os.urandom(32)))


def create_catalog(place: Place, administrator: Administrator) -> None:
    administrator.make(f"{place.keystone}/regions", "region", id=REGION)
    for name, (kind, path) in TYPES.items():
        service = administrator.make(f"{place.keystone}/services", "service", type=kind, name=name)
        for interface in ("public", "internal"):
            administrator.make(
                f"{place.keystone}/endpoints",
                "endpoint",
                service_id=service["id"],
                interface=interface,
                region_id=REGION,
                url=f"{place.url(name)}{path}",
            )


def create_accounts(place: Place, administrator: Administrator) -> None:
    roles = _roles(place, administrator)
    project = administrator.make(f"{place.keystone}/projects", "project", name="service", domain_id="default")
    for name in ACCOUNTS:
        user = administrator.make(f"{place.keystone}/users", "user", name=name, password=name, domain_id="default")
        # Without the role of services, what one asks another in someone's name is refused.
        for role in ("admin", "service"):
            grant(place, administrator, project["id"], user["id"], roles[role])


def grant(place: Place, administrator: Administrator, project: str, user: str, role: str) -> None:
    administrator.ask("PUT", f"{place.keystone}/projects/{project}/users/{user}/roles/{role}")


def _roles(place: Place, administrator: Administrator) -> dict[str, str]:
    return {role["name"]: role["id"] for role in administrator.ask("GET", f"{place.keystone}/roles")["roles"]}
