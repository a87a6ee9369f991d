"""What the services store things in and talk to each other with: MariaDB and RabbitMQ, of one's own."""

from real_openstack.processes import Processes, answers
from real_openstack.settings import Place

START_SECONDS = 120
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"


def start_rabbitmq(place: Place, processes: Processes) -> None:
    state = place.state("rabbitmq")
    epmd, distribution, port = (str(place.ports[name]) for name in ("epmd", "rabbitmq-nodes", "rabbitmq"))
    # Erlang would start one of its own that stays.
    processes.start("epmd", ["epmd", "-address", "127.0.0.1", "-port", epmd])
    processes.wait("epmd", START_SECONDS, lambda: answers(int(epmd)))
    processes.start(
        "rabbitmq",
        [RABBITMQ],
        {
            "HOME": str(state),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": epmd,
            "RABBITMQ_NODENAME": "rabbit@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": port,
            "RABBITMQ_DIST_PORT": distribution,
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_MNESIA_BASE": str(state / "mnesia"),
            "RABBITMQ_LOG_BASE": str(state),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(state / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        },
    )


def await_rabbitmq(place: Place, processes: Processes) -> None:
    processes.wait("RabbitMQ", START_SECONDS, lambda: answers(place.ports["rabbitmq"]))


def install_mariadb(place: Place, processes: Processes) -> None:
    """Makes an empty one."""
    directory = f"--datadir={place.database_directory}"
    processes.run(
        "mariadb-install", ["mariadb-install-db", "--no-defaults", "--user=root", directory, "--skip-test-db"]
    )


def start_mariadb(place: Place, processes: Processes) -> None:
    processes.start(
        "mariadb",
        [
            "mariadbd",
            "--no-defaults",
            "--user=root",
            f"--datadir={place.database_directory}",
            f"--socket={place.socket}",
            f"--pid-file={place.directory / 'mariadb.pid'}",
            # Only over the socket, which is in a directory that is ours alone.
            "--skip-networking",
            "--skip-grant-tables",
            "--max-connections=1000",
            "--innodb-flush-log-at-trx-commit=0",
        ],
    )
    processes.wait("MariaDB", START_SECONDS, place.socket.exists)
