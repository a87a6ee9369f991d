import { at } from "../../../support/kube.ts";
import type { Scenario } from "../scenario.ts";
import { addressesOf, hasTaint, UNINITIALIZED } from "../stage.ts";

const PROVIDED_IP = "alpha.kubernetes.io/provided-node-ip";
const WRITES = ["N2"];
/** Longer than `--node-status-update-frequency`: both sides have looked again by then. */
const LOOKED_AGAIN_MS = 12_000;
const waiting = { key: UNINITIALIZED, value: "true", effect: "NoSchedule" };

export const nodeScenarios: readonly Scenario[] = [
  {
    name: "node: found by name",
    claims: WRITES,
    run: async (stage) => {
      await stage.join("a");
    },
  },
  {
    name: "node: found by its provider ID",
    claims: WRITES,
    run: async (stage) => {
      const { id } = await stage.machine("a", { name: "another-name" });
      await stage.node("a", { spec: { providerID: `sim://north-a/${id}`, taints: [waiting] } });
      await stage.initialized("a");
    },
  },
  {
    name: "node: the cloud reports an address twice",
    claims: [...WRITES, { id: "N24", explains: /^(?:Node |event: |waited without success|write: )/ }],
    run: async (stage) => {
      await stage.join("a", { internalAddresses: ["192.0.2.21", "192.0.2.21"] });
    },
  },
  {
    name: "node: external address",
    claims: WRITES,
    run: async (stage) => {
      await stage.join("a", { externalAddress: true, type: "large", zone: "south-b" });
    },
  },
  {
    name: "node: addresses of kubelet are replaced",
    claims: WRITES,
    run: async (stage) => {
      const addresses = [
        { type: "InternalIP", address: "192.0.2.7" },
        { type: "Hostname", address: "set-by-kubelet" },
      ];
      await stage.machine("a");
      await stage.node("a", { addresses });
      await stage.seeNode("a", "has the cloud's addresses", (node) => addressesOf(node).length === 3);
    },
  },
  {
    name: "node: provided IP chooses among addresses",
    claims: WRITES,
    run: async (stage) => {
      await stage.machine("a", { internalAddresses: ["192.0.2.11", "192.0.2.12", "192.0.2.13"] });
      await stage.node("a", { annotations: { [PROVIDED_IP]: "192.0.2.12" } });
      await stage.initialized("a");
    },
  },
  {
    name: "node: provided IPs of two families",
    claims: [...WRITES, { id: "N10", explains: /^write: patch nodes\/status$/ }],
    run: async (stage) => {
      await stage.machine("a", { internalAddresses: ["192.0.2.21", "192.0.2.22", "2001:db8::21", "2001:db8::22"] });
      await stage.node("a", { annotations: { [PROVIDED_IP]: "2001:db8::22,192.0.2.21" } });
      await stage.initialized("a");
      await stage.outlast(LOOKED_AGAIN_MS);
    },
  },
  {
    name: "node: provided IP is another machine's",
    claims: ["N4"],
    run: async (stage) => {
      await stage.machine("a");
      await stage.node("a", { annotations: { [PROVIDED_IP]: "192.0.2.99" } });
      await stage.quiet();
    },
  },
  {
    name: "node: provided IP is no address",
    claims: ["N4"],
    run: async (stage) => {
      await stage.machine("a");
      await stage.node("a", { annotations: { [PROVIDED_IP]: "the second one" } });
      await stage.quiet();
    },
  },
  {
    name: "node: labels of kubelet are overwritten",
    claims: WRITES,
    run: async (stage) => {
      await stage.machine("a", { type: "huge" });
      await stage.node("a", {
        labels: {
          "node.kubernetes.io/instance-type": "small-once",
          "beta.kubernetes.io/instance-type": "small-once",
          "topology.kubernetes.io/zone": "somewhere",
        },
      });
      await stage.initialized("a");
    },
  },
  {
    name: "node: further labels of the cloud",
    claims: ["N2", "N18"],
    run: async (stage) => {
      await stage.machine("a", {
        tags: {
          "node-label/team": "blue",
          "node-label/example.com/rack": "7",
          "node-label/app.k8snio/x": "kept",
          "node-label/a.k8s.io/x": "dropped",
          "node-label/kubernetes.io/os": "dropped",
          "node-label/topology.kubernetes.io/region": "dropped",
          "node-label/owner": "the cloud",
        },
      });
      await stage.node("a", { labels: { owner: "kubelet" } });
      await stage.initialized("a");
    },
  },
  {
    name: "node: a further label that cannot be",
    claims: [{ id: "N5", explains: /^(?:Node|write|event: .* Synced )/ }],
    run: async (stage) => {
      await stage.machine("a", { tags: { "node-label/team": "not a label value", "node-label/rack": "7" } });
      await stage.node("a");
      await stage.quiet();
    },
  },
  {
    name: "node: other taints, annotations and cordon stay",
    claims: WRITES,
    run: async (stage) => {
      await stage.machine("a");
      await stage.node("a", {
        annotations: { "example.com/note": "mine" },
        spec: { unschedulable: true, taints: [waiting, { key: "example.com/own", value: "x", effect: "NoExecute" }] },
      });
      await stage.initialized("a");
    },
  },
  {
    name: "node: the taint whatever its value and effect",
    claims: WRITES,
    run: async (stage) => {
      await stage.machine("a");
      const taints = [
        { key: UNINITIALIZED, effect: "PreferNoSchedule" },
        { key: UNINITIALIZED, value: "soon", effect: "NoExecute" },
      ];
      await stage.node("a", { spec: { taints } });
      await stage.initialized("a");
    },
  },
  {
    name: "node: its machine appears later",
    claims: WRITES,
    run: async (stage) => {
      await stage.node("a");
      await stage.quiet(2000);
      await stage.machine("a");
      await stage.initialized("a");
    },
  },
  {
    name: "node: no machine for long",
    claims: ["N4"],
    run: async (stage) => {
      await stage.node("a");
      // Reported after 15 s, with the next attempt: with a back-off that doubles from 5 ms that is after 20 s.
      await stage.outlast(24_000);
    },
  },
  {
    name: "node: provider ID of another provider",
    claims: [],
    run: async (stage) => {
      await stage.node("a", { spec: { providerID: "aws:///eu-west-1a/i-0123", taints: [waiting] } });
      await stage.quiet();
    },
  },
  {
    name: "node: provider ID malformed",
    claims: ["N4"],
    run: async (stage) => {
      await stage.node("a", { spec: { providerID: "sim://north-a", taints: [waiting] } });
      await stage.quiet();
    },
  },
  {
    name: "node: provider ID of another zone",
    claims: ["N4"],
    run: async (stage) => {
      const { id } = await stage.machine("a");
      await stage.node("a", { spec: { providerID: `sim://south-a/${id}`, taints: [waiting] } });
      await stage.quiet();
    },
  },
  {
    name: "node: provider ID of another machine",
    claims: [...WRITES, { id: "N20", explains: /^event: Node \S+ cloud-node-controller Warning ProviderIDMismatch / }],
    run: async (stage) => {
      const { id } = await stage.machine("b");
      await stage.machine("a");
      await stage.node("a", { spec: { providerID: `sim://north-a/${id}`, taints: [waiting] } });
      await stage.initialized("a");
      await stage.outlast(LOOKED_AGAIN_MS);
    },
  },
  {
    name: "node: two machines of one name",
    claims: ["N4"],
    run: async (stage) => {
      await stage.machine("a");
      await stage.machine("a");
      await stage.node("a");
      await stage.quiet();
    },
  },
  {
    name: "node: ambiguous name becomes clear",
    // The provider calls it final, so that it is tried again after half an hour.
    claims: ["N4", { id: "N17", explains: /^(?:Node|waited without success|write|event: .* Synced )/ }],
    run: async (stage) => {
      await stage.machine("a");
      const { id } = await stage.machine("a");
      await stage.node("a");
      await stage.quiet(2000);
      await stage.world.cloud.terminateInstances([id], AbortSignal.timeout(10_000));
      await stage.initialized("a");
    },
  },
  {
    name: "node: without the taint",
    claims: ["N18"],
    run: async (stage) => {
      await stage.machine("a");
      await stage.node("a", { spec: { taints: [] } });
      await stage.seeNode("a", "has the cloud's addresses", (node) => addressesOf(node).length > 1);
    },
  },
  {
    name: "node: recreated under the same name",
    claims: WRITES,
    run: async (stage) => {
      await stage.join("a");
      await stage.deleteNode("a");
      await stage.node("a");
      await stage.initialized("a");
    },
  },
  {
    name: "node: its machine is stopped",
    claims: WRITES,
    run: async (stage) => {
      const { id } = await stage.machine("a");
      await stage.world.cloud.stopInstance(id, AbortSignal.timeout(10_000));
      await stage.node("a");
      await stage.initialized("a");
    },
  },
  {
    name: "node: the taint is put on again",
    claims: WRITES,
    run: async (stage) => {
      await stage.join("a");
      await stage.patchNode("a", { spec: { taints: [waiting] } });
      await stage.seeNode("a", "has lost the taint again", (node) => !hasTaint(node, UNINITIALIZED));
    },
  },
  {
    name: "node: beta labels lead the others",
    claims: [],
    run: async (stage) => {
      await stage.node("a", {
        spec: { taints: [] },
        labels: {
          "beta.kubernetes.io/instance-type": "old-name",
          "failure-domain.beta.kubernetes.io/zone": "old-zone",
          "topology.kubernetes.io/zone": "new-zone",
          "topology.kubernetes.io/region": "region-without-beta",
        },
      });
      await stage.seeNode("a", "has the zone of the beta label", (node) => zoneOf(node) === "old-zone");
    },
  },
  {
    name: "node: a zone edited by hand",
    claims: [],
    run: async (stage) => {
      await stage.join("a");
      await stage.fromHere();
      await stage.patchNode("a", { metadata: { labels: { "topology.kubernetes.io/zone": "by-hand" } } });
      await stage.seeNode("a", "has its zone back", (node) => zoneOf(node) === "north-a");
    },
  },
  {
    name: "node: a beta zone edited by hand",
    claims: [{ id: "N19", explains: /^(?:Node \S+\.labels\.|waited without success)/ }],
    run: async (stage) => {
      await stage.join("a");
      await stage.fromHere();
      await stage.patchNode("a", { metadata: { labels: { "failure-domain.beta.kubernetes.io/zone": "by-hand" } } });
      await stage.seeNode("a", "has the zone of the beta label", (node) => zoneOf(node) === "by-hand");
    },
  },
];

function zoneOf(node: Parameters<typeof addressesOf>[0]): unknown {
  return at(node, "metadata", "labels", "topology.kubernetes.io/zone");
}
