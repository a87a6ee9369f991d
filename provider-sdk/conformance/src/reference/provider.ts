import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  absent,
  createLogger,
  type InstanceBatchResult,
  type NodeRef,
  type ProviderDefinition,
  ProviderError,
  startProvider,
  unreachable,
} from "@cloudwire/provider-sdk";
import type { Fixtures } from "../suite/fixtures.ts";
import { referenceBalancers } from "./load-balancers.ts";
import { referenceRoutes } from "./routes.ts";
import { referenceVolumes } from "./volumes.ts";
import { type Guard, guardedBalancers, guardedRoutes, guardedVolumes } from "./guarded.ts";
import { ReferenceControl } from "./control.ts";

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

const lookUp = ({ id, name }: NodeRef, control: ReferenceControl): InstanceBatchResult => {
  if (id !== undefined && (id === "m-terminated" || control.isTerminated(id)))
    return absent("TERMINATED", { stronglyConsistent: true });
  const machine = [...machines, ...control.machines].find((candidate) =>
    id === undefined ? candidate.name === name : candidate.id === id,
  );
  if (!control.isDark(machine?.zone)) return machine ?? absent("LOOKUP_MISS");
  return new ProviderError("ZONE_UNREACHABLE", `zone ${machine?.zone} cannot be read`, {
    metadata: { zone: machine?.zone ?? "" },
  });
};

/** A correct provider of everything, over a cloud of five machines and its own state, which `control` can break. */
export const referenceDefinition = (control: ReferenceControl = new ReferenceControl()): ProviderDefinition => {
  const guard: Guard = (callScope, isCreation) => control.ask(callScope, isCreation);
  const snapshot = () => [...machines, ...control.machines].map((instance) => ({ kind: "upsert", instance }) as const);
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
    check: (context) => guard(context).then(() => undefined),
    instances: {
      features: { podCidrs: true, list: { maxPageSize: 3 }, watch: { expectedLatencyMs: 100 } },
      getMany: async (nodes, context) => {
        await guard(context);
        context.recordCloudCall({ requestId: "request-1" });
        return nodes.map((node) => lookUp(node, control));
      },
      async *list(context) {
        await guard(context);
        context.recordCloudCall({});
        if (control.isDark("zone-1")) yield unreachable("zone-1");
        else yield* [...machines, ...control.machines];
      },
      watch: (request, { signal }) => control.feed.watch({ request, signal, snapshot }),
    },
    loadBalancers: guardedBalancers(referenceBalancers(isMachine), guard),
    routes: guardedRoutes(referenceRoutes(isMachine), guard),
    volumes: guardedVolumes(referenceVolumes, guard),
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
  scale: { instances: 5, nodes: 300, loadBalancers: 4 },
};

/** A provider served on a socket of its own until it is closed. */
export const serveReference = async () => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-test-"));
  const path = join(directory, "provider.sock");
  const log = createLogger({ level: "error", write: () => undefined, now: () => new Date() });
  const control = new ReferenceControl();
  const provider = await startProvider(referenceDefinition(control), {
    endpoint: { kind: "unix", path },
    log,
    drainMs: 100,
  });
  return {
    path,
    directory,
    endpoint: `unix://${path}`,
    /** What is known of its cloud, and what can be done to it. */
    fixtures: { ...referenceFixtures, hooks: control.hooks },
    close: async () => {
      await provider.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
