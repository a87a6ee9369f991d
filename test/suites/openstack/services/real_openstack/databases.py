"""The services' databases as they are before there is anything in them: filled once, and kept from run to run."""

import hashlib
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pymysql

from real_openstack import foundations
from real_openstack.processes import Processes
from real_openstack.services import program_of
from real_openstack.settings import DATABASES, Place

Command = tuple[str, ...]

"""As Nova's processes find them from their own configuration: places change from run to run."""
CELL0 = "mysql+pymysql://root@localhost/nova_cell0?{query}"
CELL1 = "{scheme}://{username}@{hostname}/{path}?{query}"
MESSAGES = "{scheme}://{username}:{password}@{hostname}:{port}//"


def provide_databases(place: Place, processes: Processes, password: str) -> None:
    """Starts MariaDB with them."""
    key = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    kept = place.venv / f"databases-{key}"
    if kept.exists():
        shutil.copytree(kept, place.database_directory)
        foundations.start_mariadb(place, processes)
        return
    foundations.install_mariadb(place, processes)
    foundations.start_mariadb(place, processes)
    _create(place)
    _fill(place, processes, password)
    # A copy of what is written at this moment would be none.
    processes.stop("mariadb")
    unfinished = place.venv / f"databases-{key}-unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(place.database_directory, unfinished)
    unfinished.rename(kept)
    foundations.start_mariadb(place, processes)


def _create(place: Place) -> None:
    connection = pymysql.connect(unix_socket=str(place.socket), user="root")
    with connection, connection.cursor() as cursor:
        for name in DATABASES:
            cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb3")


def _fill(place: Place, processes: Processes, password: str) -> None:
    """Each chain of commands beside the others."""
    cells = ("nova", "nova-manage", "cell_v2")
    chains: Sequence[Sequence[Command]] = (
        (
            ("nova", "nova-manage", "api_db", "sync"),
            (*cells, "map_cell0", f"--database_connection={CELL0}"),
            ("nova", "nova-manage", "db", "sync"),
            (*cells, "create_cell", "--name=cell1", f"--database_connection={CELL1}", f"--transport-url={MESSAGES}"),
        ),
        (("neutron", "neutron-db-manage", "upgrade", "heads"),),
        (
            ("cinder", "cinder-manage", "db", "sync"),
            ("octavia", "octavia-db-manage", "upgrade", "head"),
            ("glance", "glance-manage", "db_sync"),
            ("placement", "placement-manage", "db", "sync"),
        ),
        (
            ("keystone", "keystone-manage", "db_sync"),
            ("keystone", "keystone-manage", "bootstrap", f"--bootstrap-password={password}"),
        ),
    )

    def run_all(chain: Sequence[Command]) -> None:
        for service, program, *arguments in chain:
            command = [program_of(place, program), f"--config-file={place.config(service)}", *arguments]
            processes.run(f"{service}-manage", command)

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(run_all, chain) for chain in chains]:
            done.result()
