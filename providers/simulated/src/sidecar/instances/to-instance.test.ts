import { expect, test } from "vitest";
import type { Instance } from "../../api/instances.ts";
import { toInstance } from "./to-instance.ts";

const instance: Instance = {
  id: "i-0123456789ab",
  name: "node-1",
  tags: { "node-label/team": "blue", "node-label/example.com/rack": "7", "cost-center": "12" },
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
  type: "small",
  region: "north",
  zone: "north-a",
  hostname: "node-1.north",
  state: "running",
  stateReason: "",
  internalAddresses: ["127.10.0.1"],
  externalAddresses: [],
  podCidrs: [],
  revision: 1,
};

test("toInstance() makes labels of the tags under node-label/ and of no others", () => {
  expect(toInstance(instance).labels).toEqual({ team: "blue", "example.com/rack": "7" });
});
