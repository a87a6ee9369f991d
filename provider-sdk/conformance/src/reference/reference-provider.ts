import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  absent,
  createLogger,
  type InstanceAnswer,
  type InstanceEvent,
  type NodeRef,
  type ProviderDefinition,
  startProvider,
} from "@cloudwire/provider-sdk";
import type { Fixtures } from "../check/fixtures.ts";
import { referenceBalancers } from "./reference-cloud.ts";
import { referenceRoutes } from "./reference-routes.ts";
import { referenceVolumes } from "./reference-volumes.ts";
import { ReferenceFeed } from "./reference-feed.ts";

const machines = Array.from({ length: 5 }, (_, index) => ({
  id: `m-${index}`,
  name: `node-${index}`,
  type: "small",
  zone: "zone-1",
  region: "region-1",
  addresses: { InternalIP: [`192.0.2.${index + 1}`], Hostname: [`node-${index}`] },
  state: index === 3 ? ("STOPPED" as const) : ("RUNNING" as const),
  podCidrs: [`10.64.${index}.0/24`],
}));

const isMachine = (id: string): boolean => machines.some((machine) => machine.id === id);

const lookUp = ({ id, name }: NodeRef): InstanceAnswer => {
  if (id === "m-terminated") return absent("TERMINATED", { stronglyConsistent: true });
  const machine = machines.find((candidate) => (id === undefined ? candidate.name === name : candidate.id === id));
  return machine ?? absent("LOOKUP_MISS");
};

/** A correct provider of everything, over a cloud of five machines and its own state. */
export const referenceDefinition = (): ProviderDefinition => {
  const feed = new ReferenceFeed<InstanceEvent>();
  const snapshot = () => machines.map((instance) => ({ kind: "upsert", instance }) as const);
  return {
    name: "acme.example.com",
    version: "1.0.0",
    idPrefix: "acme://",
    scope: "account-1",
    annotations: [
      {
        key: "acme.example.com/size",
        type: "enum",
        allowedValues: ["small", "large"],
        description: "How large the load balancer is.",
      },
    ],
    check: () => undefined,
    instances: {
      features: { podCidrs: true, list: { maxPageSize: 3 } },
      getMany: (nodes, { recordCloudCall }) => {
        recordCloudCall({ requestId: "request-1" });
        return nodes.map(lookUp);
      },
      async *list({ recordCloudCall }) {
        recordCloudCall({});
        yield* machines;
      },
      watch: (request, { signal }) => feed.watch({ request, signal, snapshot }),
    },
    loadBalancers: referenceBalancers(isMachine),
    routes: referenceRoutes(isMachine),
    volumes: referenceVolumes,
  };
};

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
  otherInstance: { providerId: "acme://m-2", nodeName: "node-2" },
  stoppedProviderId: "acme://m-3",
  terminatedProviderId: "acme://m-terminated",
  absentProviderId: "acme://m-99",
  volume: { handle: "vol-1", zones: ["zone-1", "zone-2"], region: "region-1" },
  absentVolumeHandle: "vol-99",
  malformedVolumeHandle: "?",
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
