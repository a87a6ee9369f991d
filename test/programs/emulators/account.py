"""An account of the emulated AWS as a cluster's owner prepares it, and what is in it, as JSON."""

from __future__ import annotations

import ipaddress
from typing import Any

import boto3
from moto.core import DEFAULT_ACCOUNT_ID
from moto.ec2 import ec2_backends

REGION = "us-east-1"
CLUSTER = "emulated"
INSTANCE_TYPE = "m5.large"
# One of the images that moto brings.
IMAGE = "ami-12c6146b"

State = dict[str, Any]

_CLUSTER_TAG = {"Key": f"kubernetes.io/cluster/{CLUSTER}", "Value": "owned"}
_SUBNETS = {f"{REGION}a": "10.0.1.0/24", f"{REGION}b": "10.0.2.0/24"}


class Account:
    """Talks to the emulator as anyone does, over its API."""

    def __init__(self, url: str, access_key: str) -> None:
        session = boto3.Session(access_key, "none", region_name=REGION)
        self._ec2 = session.client("ec2", endpoint_url=url)
        self._elb = session.client("elbv2", endpoint_url=url)
        self._subnets: dict[str, str] = {}
        self._security_group = ""
        self._route_table = ""
        self._vpc = ""
        self._named: dict[str, str] = {}

    def prepare(self) -> State:
        """A VPC with a public subnet in each of two zones, tagged for the cluster; answers the ids."""
        ec2 = self._ec2
        vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16", AmazonProvidedIpv6CidrBlock=True)["Vpc"]
        self._vpc = vpc["VpcId"]
        ipv6_block = ipaddress.ip_network(vpc["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlock"])
        ec2.modify_vpc_attribute(VpcId=self._vpc, EnableDnsHostnames={"Value": True})
        for (zone, block), ipv6 in zip(_SUBNETS.items(), ipv6_block.subnets(new_prefix=64), strict=False):
            blocks = {"CidrBlock": block, "Ipv6CidrBlock": str(ipv6)}
            subnet = ec2.create_subnet(VpcId=self._vpc, AvailabilityZone=zone, **blocks)
            self._subnets[zone] = subnet["Subnet"]["SubnetId"]
        gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=self._vpc)
        tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [self._vpc]}])["RouteTables"]
        self._route_table = tables[0]["RouteTableId"]
        ec2.create_route(RouteTableId=self._route_table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
        group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=self._vpc)
        self._security_group = group["GroupId"]
        ec2.create_tags(Resources=[self._route_table, self._security_group], Tags=[_CLUSTER_TAG])
        role = {"Key": "kubernetes.io/role/elb", "Value": "1"}
        ec2.create_tags(Resources=list(self._subnets.values()), Tags=[_CLUSTER_TAG, role])
        return {
            "region": REGION,
            "cluster": CLUSTER,
            "vpc": self._vpc,
            "subnet": self._subnets[f"{REGION}a"],
            "routeTable": self._route_table,
        }

    def run_instance(self, zone: str) -> State:
        """A machine of the cluster in the zone."""
        tags = [{"ResourceType": "instance", "Tags": [_CLUSTER_TAG]}]
        answer = self._ec2.run_instances(
            ImageId=IMAGE,
            InstanceType=INSTANCE_TYPE,
            MinCount=1,
            MaxCount=1,
            SubnetId=self._subnets[zone],
            SecurityGroupIds=[self._security_group],
            TagSpecifications=tags,
        )
        return _instance(answer["Instances"][0])

    def run_many(self, subnet: str, count: int) -> State:
        """Machines without tags; not over the API, which takes several times as long to report thousands."""
        backend = ec2_backends[DEFAULT_ACCOUNT_ID][REGION]
        settings = {
            "instance_type": INSTANCE_TYPE,
            "is_instance_type_default": False,
            "region_name": REGION,
            "nics": [],
        }
        reservation = backend.run_instances(IMAGE, count, None, [], subnet_id=subnet, **settings)
        return {"machines": [{"id": machine.id, "name": machine.private_dns_name} for machine in reservation.instances]}

    def call(self, service: str, method: str, params: dict[str, Any]) -> State:
        """Any call of the API, by boto3's names."""
        client = {"ec2": self._ec2, "elbv2": self._elb}[service]
        answer: State = getattr(client, method)(**params)
        return answer

    def named_instance(self, name: str, action: str) -> State:
        """Starts a machine that is then known by the name, and by its Node's, or does something to it."""
        if action == "create":
            made = self.run_instance(f"{REGION}a")
            self._named[name] = self._named[made["name"]] = made["id"]
            return {"providerId": f"aws:///{made['zone']}/{made['id']}", "nodeName": made["name"]}
        # One that is not there needs no end.
        if name in self._named or action != "terminate":
            getattr(self._ec2, f"{action}_instances")(InstanceIds=[self._named[name]])
        return {}

    def terminate(self, instance_id: str) -> None:
        """Ends the machine for good."""
        self._ec2.terminate_instances(InstanceIds=[instance_id])

    def stop(self, instance_id: str) -> None:
        """Shuts the machine down."""
        self._ec2.stop_instances(InstanceIds=[instance_id])

    def state(self) -> State:
        """What the provider has to do with."""
        return {"instances": self._instances(), "routes": self._routes(), "loadBalancers": self._load_balancers()}

    def _instances(self) -> list[State]:
        reservations = self._ec2.describe_instances()["Reservations"]
        return [_instance(instance) for reservation in reservations for instance in reservation["Instances"]]

    def _routes(self) -> list[State]:
        table = self._ec2.describe_route_tables(RouteTableIds=[self._route_table])["RouteTables"][0]
        return [
            {"destination": route["DestinationCidrBlock"], "instance": route["InstanceId"], "state": route["State"]}
            for route in table["Routes"]
            if "InstanceId" in route
        ]

    def _load_balancers(self) -> list[State]:
        found = self._elb.describe_load_balancers()["LoadBalancers"]
        groups = self._elb.describe_target_groups()["TargetGroups"]
        balancers = [self._load_balancer(balancer, groups) for balancer in found]
        # A target group that outlives its load balancer is a leak, which must not go unseen.
        orphans = [group["TargetGroupName"] for group in groups if not group["LoadBalancerArns"]]
        return [*balancers, *({"name": "", "address": "", "targetGroup": name} for name in orphans)]

    def _load_balancer(self, balancer: State, groups: list[State]) -> State:
        arn = balancer["LoadBalancerArn"]
        listeners = self._elb.describe_listeners(LoadBalancerArn=arn)["Listeners"]
        return {
            "name": balancer["LoadBalancerName"],
            "address": balancer["DNSName"],
            "type": balancer["Type"],
            "ports": sorted(listener["Port"] for listener in listeners),
            "targets": sorted(
                {
                    (health["Target"]["Id"], health["Target"]["Port"])
                    for group in groups
                    if arn in group["LoadBalancerArns"]
                    for health in self._elb.describe_target_health(TargetGroupArn=group["TargetGroupArn"])[
                        "TargetHealthDescriptions"
                    ]
                }
            ),
        }


def _instance(instance: State) -> State:
    return {
        "id": instance["InstanceId"],
        "name": instance["PrivateDnsName"],
        "zone": instance["Placement"]["AvailabilityZone"],
        "type": instance["InstanceType"],
        "address": instance.get("PrivateIpAddress", ""),
        "state": instance["State"]["Name"],
        "forwards": not instance.get("SourceDestCheck", True),
    }
