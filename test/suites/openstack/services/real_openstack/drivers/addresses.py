"""Load balancers of Octavia that are nowhere, at addresses that Neutron has given them."""

import functools
import os

import sqlalchemy
from octavia.compute.drivers.noop_driver import driver as compute
from octavia.network.drivers.neutron.allowed_address_pairs import AllowedAddressPairsDriver
from octavia.network.drivers.noop_driver import driver as network


def _own_engine(_url, **options):
    """Octavia's drivers that do nothing remember what they did in a file in /tmp that all clouds of a machine share."""
    return sqlalchemy.create_engine(f"sqlite:///{os.environ['OCTAVIA_NOOP_DATABASE']}", **options)


network.create_engine = _own_engine
compute.create_engine = _own_engine


@functools.cache
def _neutron():
    """One for all requests: Octavia makes a driver for each, and this one logs in and asks Neutron for its extensions."""
    return AllowedAddressPairsDriver()


class NeutronAddresses(network.NoopNetworkDriver):
    """Does nothing, but for the address and port of the load balancer: these are Neutron's, so that floating IPs can be had."""

    def allocate_vip(self, loadbalancer):
        return _neutron().allocate_vip(loadbalancer)

    def deallocate_vip(self, vip):
        _neutron().deallocate_vip(vip)

    def get_network(self, network_id, context=None):
        return _neutron().get_network(network_id, context)

    def get_subnet(self, subnet_id, context=None):
        return _neutron().get_subnet(subnet_id, context)

    def get_port(self, port_id, context=None):
        return _neutron().get_port(port_id, context)
