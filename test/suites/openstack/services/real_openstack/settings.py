"""Configuration files of the services."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

Section = Mapping[str, str | int]

REGION = "RegionOne"
"""Of machines and volumes."""
ZONE = "zone-a"
DATABASES = ("keystone", "placement", "glance", "nova_api", "nova", "nova_cell0", "neutron", "octavia", "cinder")
ACCOUNTS = ("placement", "glance", "nova", "neutron", "octavia", "cinder")
"""Accounts of services, whose passwords are their names."""


@dataclass(frozen=True)
class Place:
    """Where everything is."""

    directory: Path
    """Of the environment that the services are installed in."""
    venv: Path
    ports: Mapping[str, int]

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.ports[service]}"

    @property
    def keystone(self) -> str:
        return f"{self.url('keystone')}/v3"

    @property
    def socket(self) -> Path:
        return self.directory / "mariadb.sock"

    @property
    def database_directory(self) -> Path:
        return self.directory / "state" / "mariadb"

    def config(self, service: str) -> Path:
        # Glance knows its file by this name alone.
        return self.directory / ("glance-api.conf" if service == "glance" else f"{service}.conf")

    def state(self, service: str) -> Path:
        path = self.directory / "state" / service
        path.mkdir(parents=True, exist_ok=True)
        return path

    def database(self, name: str) -> Section:
        return {"connection": f"mysql+pymysql://root@localhost/{name}?unix_socket={self.socket}&charset=utf8mb3"}

    def account(self, name: str) -> Section:
        """How the service presents itself to the others."""
        return {
            "auth_type": "password",
            "auth_url": self.keystone,
            "username": name,
            "password": name,
            "project_name": "service",
            "user_domain_id": "default",
            "project_domain_id": "default",
            "region_name": REGION,
        }


def write_all(place: Place) -> None:
    for service, sections in _all(place).items():
        common = {} if service in {"keystone", "placement"} else _common(place, service)
        text = "\n".join(_section(name, {**common.get(name, {}), **own}) for name, own in sections.items())
        rest = "\n".join(_section(name, own) for name, own in common.items() if name not in sections)
        place.config(service).write_text(f"{text}\n{rest}\n")


def _section(name: str, settings: Section) -> str:
    return "\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in settings.items())])


def _common(place: Place, service: str) -> Mapping[str, Section]:
    state = place.state(service)
    return {
        "DEFAULT": {
            "transport_url": f"rabbit://guest:guest@127.0.0.1:{place.ports['rabbitmq']}//",
            "state_path": state,
            "my_ip": "127.0.0.1",
        },
        "keystone_authtoken": {
            **place.account(service),
            "www_authenticate_uri": place.keystone,
            # Services take a token that ended for as long, five minutes by default.
            "token_cache_time": 10,
            "service_token_roles": "service",
            "service_token_roles_required": "true",
        },
        "oslo_concurrency": {"lock_path": state},
        "oslo_messaging_notifications": {"driver": "noop"},
    }


def _all(place: Place) -> Mapping[str, Mapping[str, Section]]:
    return {
        "keystone": _keystone(place),
        "placement": {
            "DEFAULT": {},
            "placement_database": place.database("placement"),
            "api": {"auth_strategy": "keystone"},
            "keystone_authtoken": {**place.account("placement"), "www_authenticate_uri": place.keystone},
        },
        "glance": _glance(place),
        "nova": _nova(place),
        "neutron": _neutron(place),
        "octavia": _octavia(place),
        "cinder": _cinder(place),
    }


def _keystone(place: Place) -> Mapping[str, Section]:
    state = place.state("keystone")
    return {
        "DEFAULT": {},
        "database": place.database("keystone"),
        "token": {"provider": "fernet"},
        # The passwords need no protection from guessing here, and each login takes less time.
        "identity": {"password_hash_rounds": 4},
        "fernet_tokens": {"key_repository": state / "fernet"},
        "fernet_receipts": {"key_repository": state / "receipts"},
        "credential": {"key_repository": state / "credential"},
    }


def _glance(place: Place) -> Mapping[str, Section]:
    state = place.state("glance")
    return {
        "DEFAULT": {"enabled_backends": "file:file", "node_staging_uri": f"file://{state}/staging"},
        "database": place.database("glance"),
        "glance_store": {"default_backend": "file"},
        "file": {"filesystem_store_datadir": state / "images"},
        "os_glance_tasks_store": {"filesystem_store_datadir": state / "tasks"},
        "os_glance_staging_store": {"filesystem_store_datadir": state / "staging"},
        "paste_deploy": {"flavor": "keystone", "config_file": place.venv / "etc/glance/glance-api-paste.ini"},
    }


def _nova(place: Place) -> Mapping[str, Section]:
    return {
        "DEFAULT": {
            "compute_driver": "fake.FakeDriverWithoutFakeNodes",
            "host": "compute-1",
            "default_availability_zone": ZONE,
            # No agent says that a port was plugged.
            "vif_plugging_timeout": 0,
            "vif_plugging_is_fatal": "false",
        },
        "api_database": place.database("nova_api"),
        "database": place.database("nova"),
        "wsgi": {"api_paste_config": place.venv / "etc/nova/api-paste.ini"},
        "placement": place.account("placement"),
        "neutron": place.account("neutron"),
        "glance": {"endpoint_override": place.url("glance")},
        "cinder": {"catalog_info": "block-storage:cinder:public", "os_region_name": REGION},
        "service_user": {**place.account("nova"), "send_service_user_token": "true"},
        "filter_scheduler": {"enabled_filters": "ComputeFilter"},
        "scheduler": {"workers": 1, "discover_hosts_in_cells_interval": 2},
        "conductor": {"workers": 1},
    }


def _neutron(place: Place) -> Mapping[str, Section]:
    return {
        "DEFAULT": {
            "core_plugin": "ml2",
            "service_plugins": "router,tag",
            "api_paste_config": place.venv / "etc/neutron/api-paste.ini",
            "notify_nova_on_port_status_changes": "false",
            "notify_nova_on_port_data_changes": "false",
        },
        "database": place.database("neutron"),
        "nova": place.account("nova"),
        "ml2": {
            "type_drivers": "local",
            "tenant_network_types": "local",
            "mechanism_drivers": "always",
            "extension_drivers": "port_security",
        },
    }


def _octavia(place: Place) -> Mapping[str, Section]:
    state = place.state("octavia")
    authority, key = state / "ca.pem", state / "ca-key.pem"
    return {
        "DEFAULT": {},
        "database": place.database("octavia"),
        "api_settings": {
            "auth_strategy": "keystone",
            "enabled_provider_drivers": "amphora:The Octavia Amphora driver",
            "default_provider_driver": "amphora",
        },
        "oslo_messaging": {"topic": "octavia_prov"},
        "service_auth": place.account("octavia"),
        "neutron": place.account("octavia"),
        "certificates": {
            "ca_certificate": authority,
            "ca_private_key": key,
            "server_certs_key_passphrase": "insecure-key-do-not-use-this-key",
        },
        "controller_worker": {
            # Without it every load balancer ends in ERROR.
            "client_ca": authority,
            "amphora_driver": "amphora_noop_driver",
            "compute_driver": "compute_noop_driver",
            "network_driver": "neutron_addresses",
            "image_driver": "image_noop_driver",
            "volume_driver": "volume_noop_driver",
            "loadbalancer_topology": "SINGLE",
            "workers": 1,
        },
        "health_manager": {"heartbeat_key": "insecure"},
    }


def _cinder(place: Place) -> Mapping[str, Section]:
    return {
        "DEFAULT": {
            "auth_strategy": "keystone",
            "enabled_backends": "none",
            "storage_availability_zone": ZONE,
            "api_paste_config": place.venv / "etc/cinder/api-paste.ini",
            "resource_query_filters_file": place.venv / "etc/cinder/resource_filters.json",
            "glance_api_servers": place.url("glance"),
            "host": "storage-1",
        },
        "database": place.database("cinder"),
        "none": {"volume_driver": "real_openstack.drivers.volumes.NoBytes", "volume_backend_name": "none"},
        "coordination": {"backend_url": f"file://{place.state('cinder')}"},
    }
