import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { IpMode, Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import {
  type EnsureLoadBalancerResponse,
  ExternalTrafficPolicy,
  LoadBalancerPhase,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { afterEach, describe, expect, test } from "vitest";
import type { FaultSpec } from "../../api/admin.ts";
import type { Instance } from "../../api/instances.ts";
import { loadBalancerCalls, nodePort, selection, service, type EnsureOptions } from "../../test/load-balancer-calls.ts";
import { poll } from "../../test/poll.ts";
import { soon } from "../../test/test-cloud.ts";
import { failureOf, type TestProvider } from "../../test/test-provider.ts";

let provider: TestProvider;
let nodes: readonly Instance[];
const { ensure, get, inCloud, countCalls } = loadBalancerCalls((started) => {
  ({ provider, nodes } = started);
});

let servers: Server[] = [];
afterEach(() => {
  for (const server of servers) server.close();
  servers = [];
});

async function startServers(): Promise<void> {
  for (const { name, internalAddresses } of nodes) {
    const server = createServer((_, response) => response.setHeader("connection", "close").end(name));
    server.listen(nodePort, internalAddresses[0]);
    await once(server, "listening");
    servers.push(server);
  }
}

describe("EnsureLoadBalancer", () => {
  test("makes a load balancer that works, with two calls of the cloud", async () => {
    await startServers();
    const { result, total, mutating } = await countCalls(async () => ensure());
    expect({ total, mutating }).toEqual({ total: 2, mutating: 1 });
    const [made] = await inCloud();
    expect(result.loadBalancer).toMatchObject({
      id: made?.id,
      service,
      phase: LoadBalancerPhase.ACTIVE,
      ingress: { items: [{ ip: made?.address, ports: [{ port: 8080, protocol: Protocol.TCP }] }] },
      nodesFingerprint: selection(nodes).fingerprint,
      registeredNodes: 2,
      operation: undefined,
    });
    const answers = await Promise.all([1, 2].map(async () => (await fetch(`http://${made?.address}:8080`)).text()));
    expect(answers.toSorted()).toEqual(["node-0", "node-1"]);
  });

  test("finds nothing to do the second time: one read, no change", async () => {
    const first = await ensure();
    const { result, total, mutating } = await countCalls(async () => ensure());
    expect({ total, mutating }).toEqual({ total: 1, mutating: 0 });
    expect({ ...result.loadBalancer }).toEqual({ ...first.loadBalancer });
  });

  test("leaves exactly one load balancer when it runs many times at once", async () => {
    await Promise.all(Array.from({ length: 8 }, async () => failureOf(ensure())));
    await ensure();
    expect(await inCloud()).toHaveLength(1);
  });

  test("looks for many Services with few lists", async () => {
    await provider.cloud.admin.change({ latency: { "loadBalancers.list": { fixedMs: 300, jitterMs: 0 } } });
    const uids = Array.from({ length: 20 }, (_, index) => `uid-${index}`);
    const ensureAll = async () => countCalls(async () => Promise.all(uids.map(async (uid) => ensure({ uid }))));
    const idsOf = (answers: readonly EnsureLoadBalancerResponse[]) => answers.map((answer) => answer.loadBalancer?.id);
    const made = await ensureAll();
    const found = await ensureAll();
    // Two lists each, or some more on a machine that is busy.
    expect(made.total - made.mutating).toBeLessThan(10);
    expect(found.total - found.mutating).toBeLessThan(10);
    expect([made.mutating, found.mutating]).toEqual([20, 0]);
    expect(new Set(idsOf(made.result)).size).toBe(20);
    expect(idsOf(found.result)).toEqual(idsOf(made.result));
  });

  test("applies the whole spec, each time", async () => {
    const spec = {
      ports: [
        { protocol: Protocol.TCP, port: 8081, nodePort: 30_081 },
        { protocol: Protocol.TCP, port: 8080, nodePort },
      ],
      sourceRanges: { cidrs: ["127.5.0.0/16", "127.1.0.0/16"] },
      sessionAffinity: {},
      annotations: { "simulated.cloudwire.dev/idle-timeout-seconds": "5" },
      tags: { team: "a" },
      deletionProtection: true,
    };
    await ensure({ spec });
    expect(await inCloud()).toMatchObject([
      {
        listeners: [
          { port: 8080, targetPort: nodePort },
          { port: 8081, targetPort: 30_081 },
        ],
        sourceRanges: ["127.1.0.0/16", "127.5.0.0/16"],
        sessionAffinity: "clientIp",
        idleTimeoutMs: 5000,
        protected: true,
        tags: { team: "a" },
      },
    ]);
    const { result, mutating } = await countCalls(async () => ensure({ on: nodes.slice(1) }));
    const [changed] = await inCloud();
    expect(mutating).toBe(2);
    expect(result.loadBalancer).toMatchObject({ registeredNodes: 1 });
    expect(changed).toMatchObject({
      listeners: [{ port: 8080 }],
      sourceRanges: [],
      sessionAffinity: "none",
      idleTimeoutMs: 60_000,
      protected: true,
      targetCount: 1,
    });
    expect(changed?.tags).not.toHaveProperty("team");
  });

  test("reports the IP mode that an annotation requests", async () => {
    const withMode = async (mode: string) => {
      const { loadBalancer } = await ensure({ spec: { annotations: { "simulated.cloudwire.dev/ip-mode": mode } } });
      return loadBalancer?.ingress?.items.map(({ ipMode }) => ipMode);
    };
    expect([await withMode("VIP"), await withMode("Proxy")]).toEqual([[IpMode.VIP], [IpMode.PROXY]]);
  });

  test("honors the policy Local with the nodes' own health checks, and leaves them out with Cluster", async () => {
    const healthCheck = { port: 30_090, kind: { $case: "http" as const, value: { path: "/healthz" } } };
    await ensure({ spec: { externalTrafficPolicy: ExternalTrafficPolicy.LOCAL, healthCheck } });
    expect(await inCloud()).toMatchObject([{ healthCheck: { protocol: "http", port: 30_090, path: "/healthz" } }]);
    await ensure({ spec: { healthCheck } });
    const [changed] = await inCloud();
    expect(changed).not.toHaveProperty("healthCheck");
  });

  test("sees what was changed by hand, and repairs it", async () => {
    const { loadBalancer: before } = await ensure();
    await provider.cloud.client.patchLoadBalancer(before?.id ?? "", { sourceRanges: ["10.0.0.0/8"] }, soon());
    await provider.cloud.client.changeTargets(before?.id ?? "", { remove: [nodes[0]?.id ?? ""] }, soon());
    const drifted = await get();
    expect(drifted).toMatchObject({ $case: "loadBalancer", value: { registeredNodes: 1 } });
    expect(drifted).not.toMatchObject({ value: { observedFingerprint: before?.observedFingerprint } });
    await ensure();
    expect(await get()).toMatchObject({
      value: { observedFingerprint: before?.observedFingerprint, registeredNodes: 2 },
    });
    expect(await inCloud()).toMatchObject([{ sourceRanges: [], targetCount: 2 }]);
  });

  test.each<[FaultSpec, string]>([
    [{ kind: "reset", phase: "after", operation: "loadBalancers.create", count: 1 }, "CLOUD_UNAVAILABLE"],
    [{ kind: "internalError", phase: "after", operation: "loadBalancers.create", count: 1 }, "CLOUD_UNAVAILABLE"],
    [{ kind: "hang", phase: "after", operation: "loadBalancers.create", count: 1 }, "CLOUD_TIMEOUT"],
  ])("finds what an attempt made whose answer was lost: %j", async (fault, reason) => {
    await provider.cloud.admin.addFault(fault);
    expect(await failureOf(ensure())).toBe(reason);
    expect(await failureOf(ensure())).toBe("OK");
    expect(await inCloud()).toHaveLength(1);
  });

  test("answers before the cloud is done, and says when to ask again", async () => {
    await provider.cloud.admin.change({ delays: { loadBalancerCreateMs: 700 } });
    const { loadBalancer } = await ensure();
    expect(loadBalancer).toMatchObject({
      phase: LoadBalancerPhase.PROVISIONING,
      specFingerprint: "",
      nodesFingerprint: "",
    });
    const pollAfter = loadBalancer?.operation?.pollAfter;
    expect(Number(pollAfter?.seconds) * 1000 + (pollAfter?.nanos ?? 0) / 1e6).toBeGreaterThanOrEqual(500);
    const done = await poll("the load balancer", async () => {
      const found = await get();
      return found?.$case === "loadBalancer" && found.value.phase === LoadBalancerPhase.ACTIVE
        ? found.value
        : undefined;
    });
    expect(done).toMatchObject({ nodesFingerprint: selection(nodes).fingerprint });
  });

  test("says what is wrong with a port that cannot be had", async () => {
    const { loadBalancer } = await ensure();
    const ip = loadBalancer?.ingress?.items[0]?.ip ?? "";
    const squatter = createServer().listen(8081, ip);
    await once(squatter, "listening");
    servers.push(squatter);
    const failed = await ensure({
      spec: { ports: [{ protocol: Protocol.TCP, port: 8081, nodePort }] },
    });
    expect(failed).toMatchObject({
      loadBalancer: {
        phase: LoadBalancerPhase.FAILED,
        ingress: { items: [{ ports: [{ port: 8081, error: "PortInUse" }] }] },
        specFingerprint: "",
      },
      diagnostics: [{ reason: "LoadBalancerFailed", summary: `PortInUse: another process listens on ${ip}:8081` }],
    });
  });

  test.each<[string, EnsureOptions, string]>([
    ["a class of another provider", { spec: { class: "acme.example.com/nlb" } }, "CLASS_UNSUPPORTED"],
    [
      "an annotation with a wrong value",
      { spec: { annotations: { "simulated.cloudwire.dev/flavor": "gold" } } },
      "ANNOTATION_INVALID",
    ],
    [
      "a Service of another controller",
      { spec: { annotations: { "simulated.cloudwire.dev/served": "false" } } },
      "NOT_RESPONSIBLE",
    ],
    ["UDP", { spec: { ports: [{ protocol: Protocol.UDP, port: 53, nodePort }] } }, "PORT_PROTOCOL_UNSUPPORTED"],
    ["an address outside the pool", { spec: { requestedIps: ["192.0.2.1"] } }, "FIELD_INVALID"],
    ["an unknown load balancer to adopt", { adopt: "lb-nope" }, "FIELD_INVALID"],
  ])("refuses %s", async (_, options, reason) => {
    expect(await failureOf(ensure(options))).toBe(reason);
    expect(await inCloud()).toEqual([]);
  });

  test("takes the address asked for, and says who has it", async () => {
    const { loadBalancer } = await ensure();
    const taken = loadBalancer?.ingress?.items[0]?.ip ?? "";
    expect(await failureOf(ensure({ uid: "uid-2", spec: { requestedIps: [taken] } }))).toBe("ADDRESS_IN_USE");
    const free = taken.replace(/\d+$/, "200");
    const made = await ensure({ uid: "uid-2", spec: { requestedIps: [free] } });
    expect(made.loadBalancer?.ingress?.items).toMatchObject([{ ip: free }]);
    const kept = await ensure({ uid: "uid-2", spec: { requestedIps: [free.replace(/\d+$/, "201")] } });
    expect(kept).toMatchObject({
      loadBalancer: { ingress: { items: [{ ip: free }] } },
      diagnostics: [{ reason: "AddressKept" }],
    });
  });

  test("reports nodes that it leaves out, and does not acknowledge those that may become targets (case S-2)", async () => {
    const [first, second] = nodes;
    await provider.cloud.client.terminateInstances([second?.id ?? ""], soon());
    const foreign = first && { ...first, name: "elsewhere", zone: "not a zone" };
    const { loadBalancer, diagnostics } = await ensure({ on: [...nodes, ...(foreign ? [foreign] : [])] });
    expect(loadBalancer).toMatchObject({
      registeredNodes: 1,
      nodesFingerprint: "",
      unregisteredNodes: [{ name: second?.name, reason: "InstanceNotFound" }],
    });
    expect(diagnostics.map(({ reason }) => reason)).toEqual(["NodesOfOtherProviders"]);
    expect(await get()).toMatchObject({ value: { nodesFingerprint: "" } });
  });

  test("accepts a load balancer without nodes", async () => {
    await ensure();
    expect((await ensure({ on: [] })).loadBalancer).toMatchObject({
      phase: LoadBalancerPhase.ACTIVE,
      registeredNodes: 0,
    });
  });

  test("with validate_only changes nothing and says what it would", async () => {
    const plan = async (options: EnsureOptions) =>
      countCalls(async () => ensure({ ...options, change: { validateOnly: true } }));
    const create = await plan({});
    expect([create.mutating, create.result.loadBalancer, create.result.plannedChanges.length]).toEqual([
      0,
      undefined,
      1,
    ]);
    expect(await inCloud()).toEqual([]);
    await ensure();
    const nothing = await plan({});
    expect([nothing.mutating, nothing.result.plannedChanges]).toEqual([0, []]);
    const change = await plan({ on: [], spec: { sourceRanges: { cidrs: ["10.0.0.0/8"] } } });
    expect([change.mutating, change.result.plannedChanges.map(({ resourceType }) => resourceType)]).toEqual([
      0,
      ["load balancer", "targets"],
    ]);
  });
});
