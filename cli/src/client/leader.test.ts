import { expect, test } from "vitest";
import { hostnameOf, type PodFacts, podsOfHost } from "./leader.ts";

const pod = (name: string, more: Partial<PodFacts> = {}): PodFacts => ({
  name,
  node: "node-1",
  hostname: "",
  isHostNetwork: false,
  isRunning: true,
  ...more,
});

const long = `cloud-controller-manager-with-a-name-that-goes-on-and-on-abcdefg-7d9f8b6c5d-x2x4z`;

test.each([
  ["a pod of that name", "ccm-0", pod("ccm-0"), true],
  ["another one", "ccm-0", pod("ccm-01"), false],
  ["a pod that has ended", "ccm-0", pod("ccm-0", { isRunning: false }), false],
  [
    "a name that is cut for a hostname",
    "cloud-controller-manager-with-a-name-that-goes-on-and-on-abcdef",
    pod(long),
    true,
  ],
  ["a pod with a hostname of its own", "leader", pod("ccm-0", { hostname: "leader" }), true],
  ["in the host's network by the Node's name", "node-1", pod("ccm-x", { isHostNetwork: true }), true],
  ["in the host's network by the machine's name with a domain", "node-1.lan", pod("x", { isHostNetwork: true }), true],
  ["on a Node whose name has the domain", "node-1", pod("x", { isHostNetwork: true, node: "node-1.lan" }), true],
  ["on another Node", "node-1", pod("x", { isHostNetwork: true, node: "node-10" }), false],
  ["not yet on a Node", "node-1", pod("x", { isHostNetwork: true, node: "" }), false],
  ["a pod with a network of its own on that Node", "node-1", pod("x"), false],
])("podsOfHost(): %s", (_what, hostname, facts, isFound) => {
  expect(podsOfHost(hostname, [facts])).toEqual(isFound ? [facts] : []);
});

test.each([
  ["ccm-0_1b2c-3d", "ccm-0"],
  ["my_host_1b2c", "my_host"],
  ["standby", "standby"],
])("hostnameOf(%s) is %s", (identity, hostname) => {
  expect(hostnameOf(identity)).toBe(hostname);
});
