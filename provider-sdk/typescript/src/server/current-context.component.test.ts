import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { describe, expect, test } from "vitest";
import type { BackgroundContext } from "../definition/call-context.ts";
import { absent, pending } from "../results/results.ts";
import { invokeOk, openStream } from "../../test/support/invoke.ts";
import { basics, context, eventually, serveForTest } from "../../test/support/serve-for-test.ts";
import { active, change, ensureRequest, inline, service } from "../../test/support/serve-load-balancers.ts";
import { currentContext } from "./current-context.ts";

const { methods } = CloudProviderDefinition;

/** Serves a provider each of whose handlers notes whether the current context is the one that it was given. */
const serveNoting = async () => {
  const noted: Record<string, boolean> = {};
  const note = async (name: string, given: BackgroundContext): Promise<void> => {
    // Also after a wait: the flow goes on.
    await Promise.resolve();
    const found = currentContext();
    noted[name] = found !== undefined && found.signal === given.signal && found.fetch === given.fetch;
  };
  const served = await serveForTest({
    ...basics,
    scope: async (given) => {
      await note("scope", given);
      return basics.scope;
    },
    check: (given) => note("check", given),
    instances: {
      get: async (_node, given) => {
        await note("instances.get", given);
        return absent("LOOKUP_MISS");
      },
      async *list(given) {
        await note("instances.list", given);
        yield { id: "i-1", name: "n1" };
        await note("instances.list, second item", given);
      },
      async *watch(_request, given) {
        await note("instances.watch", given);
        yield { kind: "bookmark" };
      },
    },
    loadBalancers: {
      get: async (lb, given) => {
        await note("loadBalancers.get", given);
        return active(lb);
      },
      ensure: async (wanted, given) => {
        await note("loadBalancers.ensure", given);
        return active(wanted);
      },
      updateNodes: async (wanted, given) => {
        await note("loadBalancers.updateNodes", given);
        return active(wanted);
      },
      delete: (_lb, given) => note("loadBalancers.delete", given),
    },
    routes: {
      async *list(given) {
        await note("routes.list", given);
        yield* [];
      },
      ensure: async (_route, given) => {
        await note("routes.ensure", given);
        return pending("r-1");
      },
      delete: (_route, given) => note("routes.delete", given),
    },
    volumes: {
      features: { csiDrivers: ["acme.example.com"] },
      getMany: async (volumes, given) => {
        await note("volumes.getMany", given);
        return volumes.map(() => absent("LOOKUP_MISS"));
      },
    },
  });
  await eventually(() => "check" in noted);
  return { ...served, noted };
};

const route = { targetProviderId: "acme://i-1", targetNodeName: "n1", destinationCidr: "10.1.0.0/24" };
const volume = {
  name: "pv-1",
  source: { $case: "csi" as const, value: { driver: "acme.example.com", volumeHandle: "v-1" } },
};

describe("currentContext()", () => {
  test("answers each handler its own context, and nothing outside of handlers", async () => {
    const { client, noted } = await serveNoting();
    await invokeOk(client, methods.batchGetInstances, { context, nodes: [{ name: "n1" }] });
    await invokeOk(client, methods.listInstances, { context });
    openStream(client, methods.watchInstances, { context }).on("error", () => undefined);
    await invokeOk(client, methods.getLoadBalancer, { context, service });
    await invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    const nodes = inline("nodes-2", 1);
    await invokeOk(client, methods.updateLoadBalancerNodes, { context, service, nodes, change: change() });
    await invokeOk(client, methods.deleteLoadBalancer, { context, service, change: change() });
    await invokeOk(client, methods.listRoutes, { context });
    await invokeOk(client, methods.batchEnsureRoutes, { context, change: change(), routes: [route] });
    await invokeOk(client, methods.batchDeleteRoutes, { context, change: change(), routes: [route] });
    await invokeOk(client, methods.batchGetVolumes, { context, volumes: [volume] });
    await eventually(() => "instances.watch" in noted);
    expect(Object.entries(noted).filter(([, isOwn]) => !isOwn)).toEqual([]);
    expect(Object.keys(noted).toSorted()).toEqual([
      "check",
      "instances.get",
      "instances.list",
      "instances.list, second item",
      "instances.watch",
      "loadBalancers.delete",
      "loadBalancers.ensure",
      "loadBalancers.get",
      "loadBalancers.updateNodes",
      "routes.delete",
      "routes.ensure",
      "routes.list",
      "scope",
      "volumes.getMany",
    ]);
    expect(currentContext()).toBeUndefined();
  });
});
