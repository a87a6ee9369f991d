import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { absent, createLogger, type ProviderDefinition, startProvider } from "@cloudwire/provider-sdk";
import type { Fixtures } from "../check/fixtures.ts";
import { referenceBalancers, referenceRoutes } from "./reference-cloud.ts";

const machines = Array.from({ length: 5 }, (_, index) => ({
  id: `m-${index}`,
  name: `node-${index}`,
  type: "small",
  zone: "zone-1",
  region: "region-1",
  addresses: { InternalIP: [`192.0.2.${index + 1}`], Hostname: [`node-${index}`] },
  state: "RUNNING" as const,
}));

const isMachine = (id: string): boolean => machines.some((machine) => machine.id === id);

/** A correct provider of everything, over a cloud of five machines and its own state. */
export const referenceDefinition = (): ProviderDefinition => ({
  name: "acme.example.com",
  version: "1.0.0",
  idPrefix: "acme://",
  scope: "account-1",
  check: () => undefined,
  instances: {
    get: ({ id, name }) => {
      const machine = machines.find((candidate) => (id === undefined ? candidate.name === name : candidate.id === id));
      return machine ?? absent("LOOKUP_MISS");
    },
    async *list() {
      yield* machines;
    },
  },
  loadBalancers: referenceBalancers(isMachine),
  routes: referenceRoutes(isMachine),
  volumes: {
    features: { csiDrivers: ["csi.acme.example.com"] },
    get: () => absent("LOOKUP_MISS"),
  },
});

/** What is known of the reference provider's cloud. */
export const referenceFixtures: Fixtures = {
  instance: {
    providerId: "acme://m-1",
    nodeName: "node-1",
    type: "small",
    zone: "zone-1",
    region: "region-1",
    addresses: ["192.0.2.2"],
  },
  absentProviderId: "acme://m-99",
  malformedIds: [],
  loadBalancer: { timeoutMs: 300 },
  canarySecret: "canary-secret-4711",
};

/** A provider served on a socket of its own until it is closed. */
export const serveReference = async () => {
  const folder = await mkdtemp(join(tmpdir(), "conformance-test-"));
  const path = join(folder, "provider.sock");
  const log = createLogger({ level: "error", write: () => undefined, now: () => new Date() });
  const provider = await startProvider(referenceDefinition(), { endpoint: { kind: "unix", path }, log, drainMs: 100 });
  return {
    path,
    folder,
    endpoint: `unix://${path}`,
    close: async () => {
      await provider.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
