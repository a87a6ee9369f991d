import { expect, test } from "vitest";
import { wanted } from "../test/desired.ts";
import { reportFixed } from "./fixed.ts";
import type { Balancer } from "./octavia.ts";

const balancer: Balancer = {
  id: "lb",
  name: "k8s-1",
  provisioning_status: "ACTIVE",
  operating_status: "ONLINE",
  vip_address: "10.0.0.9",
  vip_port_id: "port-1",
  vip_subnet_id: "subnet-1",
  vip_network_id: "network-1",
  flavor_id: null,
  availability_zone: "zone-1",
  listeners: [],
  pools: [],
  tags: [],
};

const fieldsOf = (
  annotations: Readonly<Record<string, string>>,
  requestedIps: readonly string[] = [],
  floating = false,
) => {
  const fields: unknown[] = [];
  reportFixed(balancer, wanted(annotations, { requestedIps }), floating, {
    addDiagnostic: ({ field }) => fields.push(field),
  });
  return fields;
};

test.each([
  ["subnet-id", "subnet-1", "subnet-2"],
  ["network-id", "network-1", "network-2"],
  ["port-id", "port-1", "port-2"],
  ["availability-zone", "zone-1", "zone-2"],
])("%s cannot change, with a diagnostic (case S-6)", (name, present, other) => {
  expect(fieldsOf({ [name]: present })).toEqual([]);
  expect(fieldsOf({ [name]: other })).toEqual([`spec.annotations["loadbalancer.openstack.org/${name}"]`]);
});

test("a flavor cannot be added, with a diagnostic (case S-6)", () => {
  expect(fieldsOf({ "flavor-id": "big" })).toHaveLength(1);
});

test("a subnet has no effect besides a port", () => {
  expect(fieldsOf({ "port-id": "port-1", "subnet-id": "subnet-2" })).toEqual([]);
});

test("an own address cannot change, in any spelling, and a floating IP can (case S-6)", () => {
  expect(fieldsOf({}, ["10.0.0.9"])).toEqual([]);
  expect(fieldsOf({}, ["10.0.0.8"])).toEqual(["spec.requested_ips[0]"]);
  expect(fieldsOf({}, ["10.0.0.8"], true)).toEqual([]);
});
