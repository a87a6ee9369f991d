import { expect, test } from "vitest";
import { nodeObject, readyNodeObject } from "./node-object.ts";

const machine = {
  id: "i-000000000001",
  zone: "north-a",
  region: "north",
  type: "standard-2",
  hostname: "n-1.example.com",
  internalAddresses: ["127.0.0.1"],
};

test("nodeObject() is the same for the same name, but for the time", () => {
  const withoutTimes = (node: object): string => JSON.stringify(node).replaceAll(/"\d{4}-[^"]+Z"/g, '""');
  expect(withoutTimes(nodeObject("n-1"))).toBe(withoutTimes(nodeObject("n-1")));
  expect(withoutTimes(nodeObject("n-1"))).not.toBe(withoutTimes(nodeObject("n-2")));
});

// What the API server adds (managed fields, UID) makes it some 12 kB.
test.each([
  ["nodeObject()", nodeObject("n-0001")],
  ["readyNodeObject()", readyNodeObject("n-0001", machine)],
])("%s is as large as those of real clusters", (_name, node) => {
  const sizeBytes = JSON.stringify(node).length;
  expect(sizeBytes).toBeGreaterThan(9000);
  expect(sizeBytes).toBeLessThan(12_000);
});

test("readyNodeObject() has no taint, and what a cloud controller gives", () => {
  expect(readyNodeObject("n-1", machine)).toMatchObject({
    metadata: { labels: { "topology.kubernetes.io/zone": "north-a", "kubernetes.io/hostname": "n-1" } },
    spec: { providerID: "sim://north-a/i-000000000001" },
    status: { addresses: [{ type: "InternalIP" }, { type: "InternalDNS" }, { type: "Hostname" }] },
  });
});
