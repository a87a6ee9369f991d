import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { status as grpc } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import type { DesiredLoadBalancer } from "../../definition/requests.ts";
import { pending } from "../../results/results.ts";
import { ProviderError } from "../../results/errors.ts";
import { invoke, invokeOk } from "../../../test/support/invoke.ts";
import { context } from "../../../test/support/serve-for-test.ts";
import { active, change, ensureRequest, served, service } from "../../../test/support/serve-load-balancers.ts";

const { methods } = CloudProviderDefinition;

describe("EnsureLoadBalancer", () => {
  test("passes the whole desired state to the provider, and returns the fingerprints of the request", async () => {
    const otherRefusals: DesiredLoadBalancer[] = [];
    const { client } = await served({
      ensure: (wanted) => {
        otherRefusals.push(wanted);
        return active(wanted);
      },
    });
    const { loadBalancer } = await invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    expect(loadBalancer).toMatchObject({
      phase: LoadBalancerPhase.ACTIVE,
      service: { uid: "uid-1" },
      specFingerprint: "spec-1",
      nodesFingerprint: "nodes-1",
      operation: undefined,
    });
    expect(otherRefusals).toEqual([
      {
        key: expect.stringMatching(/^k8s-[0-9a-f]{28}$/),
        cluster: { id: "cluster-1", name: "test" },
        service: { namespace: "default", name: "web", uid: "uid-1" },
        annotations: {},
        ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }],
        ipFamilies: ["IPv4"],
        sourceRanges: [],
        externalTrafficPolicy: "Cluster",
        requestedIps: [],
        tags: {},
        nodes: [1, 2].map((index) => ({
          name: `n${index}`,
          providerId: `acme://i-${index}`,
          id: `i-${index}`,
          ip: `10.0.0.${index}`,
          addresses: [{ type: "InternalIP", address: `10.0.0.${index}` }],
          labels: {},
        })),
        nodesFingerprint: "nodes-1",
        specFingerprint: "spec-1",
      },
    ]);
  });

  test("answers pending work as an operation, without fingerprints in force", async () => {
    const { client } = await served({ ensure: ({ key }) => pending(key, { pollAfterMs: 1_500, stage: "booting" }) });
    const { loadBalancer } = await invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    expect(loadBalancer).toMatchObject({
      phase: LoadBalancerPhase.PROVISIONING,
      specFingerprint: "",
      nodesFingerprint: "",
      operation: { stage: "booting", pollAfter: { seconds: 1n, nanos: 500_000_000 } },
    });
  });

  test("passes on diagnostics, costs and planned changes", async () => {
    const { client } = await served({
      features: { validateOnly: true },
      ensure: (_wanted, changing) => {
        changing.addPlannedChange({ action: "create", resourceType: "load balancer" });
        changing.addDiagnostic({ reason: "IdleTimeoutIgnored", summary: "The idle timeout is fixed" });
        changing.recordCloudCall({ status: 200, requestId: "req-1" });
        return undefined;
      },
    });
    const answer = await invokeOk(client, methods.ensureLoadBalancer, {
      ...ensureRequest,
      change: { requestId: "r-dry", validateOnly: true },
    });
    expect(answer).toMatchObject({
      loadBalancer: undefined,
      diagnostics: [{ severity: 2, reason: "IdleTimeoutIgnored" }],
      plannedChanges: [{ action: 1, resourceType: "load balancer" }],
      stats: { cloudCalls: 1, cloudRequestIds: ["req-1"] },
    });
  });

  test("refuses a dry run that the provider does not offer, before its code runs", async () => {
    let called = 0;
    const { client } = await served({
      ensure: (wanted) => {
        called += 1;
        return active(wanted);
      },
    });
    const outcome = await invoke(client, methods.ensureLoadBalancer, {
      ...ensureRequest,
      change: { requestId: "r-dry", validateOnly: true },
    });
    expect(outcome).toMatchObject({ code: grpc.UNIMPLEMENTED, reason: "VALIDATE_ONLY_UNSUPPORTED" });
    expect(called).toBe(0);
  });

  test("reports every violation in a spec, with field paths", async () => {
    const { client } = await served();
    const outcome = await invoke(client, methods.ensureLoadBalancer, {
      ...ensureRequest,
      change: change(),
      specFingerprint: "",
      spec: {
        class: "other",
        ports: [
          { protocol: 1 as const, port: 80 },
          { protocol: 1 as const, port: 80 },
          { protocol: 3 as const, port: 99_999 },
        ],
        sourceRanges: { cidrs: ["10.0.0.0/33"] },
      },
      nodes: { fingerprint: "nodes-1", count: 0 },
    });
    expect(outcome).toMatchObject({ code: grpc.INVALID_ARGUMENT, details: ["ErrorInfo", "BadRequest"] });
    expect(outcome.kind === "error" && outcome.fields.toSorted()).toEqual([
      "nodes.source",
      "spec.class",
      "spec.ports",
      "spec.ports[1]",
      "spec.ports[2].port",
      "spec.ports[2].protocol",
      "spec.source_ranges",
      "spec.source_ranges.cidrs[0]",
      "spec_fingerprint",
    ]);
  });

  test("calls a reason that is not Ensure's an invariant broken, with its text", async () => {
    const { client } = await served({
      ensure: () => {
        throw new ProviderError("CIDR_CONFLICT", "no such thing here");
      },
    });
    const outcome = await invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    expect(outcome).toMatchObject({
      reason: "INVARIANT_BROKEN",
      message: "CIDR_CONFLICT is no reason of EnsureLoadBalancer: no such thing here",
    });
  });

  test("calls an answer that breaks the contract an invariant broken, with the path", async () => {
    const { client } = await served({ ensure: () => ({ id: "lb-1", ingress: [{ ip: "not an address" }] }) });
    const outcome = await invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    expect(outcome).toMatchObject({
      code: grpc.INTERNAL,
      reason: "INVARIANT_BROKEN",
      message: expect.stringContaining("ingress.items[0].ip"),
    });
  });

  test("refuses changes that were superseded on their way, a deletion too, and after one", async () => {
    const { client } = await served();
    const as = (sequence: bigint) => ({ ...change(), sequence });
    const ensure = (sequence: bigint) =>
      invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: as(sequence) });
    const remove = (sequence: bigint) =>
      invoke(client, methods.deleteLoadBalancer, { context, service, change: as(sequence) });
    const stale = { code: grpc.ABORTED, reason: "STALE_GENERATION" };
    expect((await ensure(5n)).kind).toBe("ok");
    expect(await ensure(4n)).toMatchObject(stale);
    expect(await remove(4n)).toMatchObject(stale);
    expect((await ensure(0n)).kind).toBe("ok");
    expect((await remove(6n)).kind).toBe("ok");
    expect(await ensure(5n)).toMatchObject(stale);
    expect((await ensure(7n)).kind).toBe("ok");
  });

  test("refuses a change that was superseded by one that failed, which may have reached the cloud", async () => {
    const { client } = await served({
      delete: () => {
        throw new ProviderError("CLOUD_TIMEOUT", "no answer");
      },
    });
    const as = (sequence: bigint) => ({ ...change(), sequence });
    const removal = await invoke(client, methods.deleteLoadBalancer, { context, service, change: as(20n) });
    expect(removal).toMatchObject({ reason: "CLOUD_TIMEOUT" });
    const late = await invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: as(10n) });
    expect(late).toMatchObject({ code: grpc.ABORTED, reason: "STALE_GENERATION" });
  });
});

/** Sends bytes as they are. */
const rawCodec = {
  fromPartial: (value: Buffer) => value,
  encode: (value: Buffer) => ({ finish: () => value }),
};

describe("a spec with unknown values", () => {
  test("is rejected instead of applied as another", async () => {
    const { client } = await served();
    const { requestType } = methods.ensureLoadBalancer;
    const request = requestType.fromPartial({ ...ensureRequest, change: change() });
    // Field 4 (spec), 2 bytes: field 5 (external_traffic_policy) is 77. Messages given twice are merged.
    const bytes = Buffer.concat([requestType.encode(request).finish(), Buffer.from([0x22, 0x02, 0x28, 77])]);
    const outcome = await invoke(client, { ...methods.ensureLoadBalancer, requestType: rawCodec }, bytes);
    expect(outcome).toMatchObject({
      reason: "FIELD_INVALID",
      fields: expect.arrayContaining(["spec.external_traffic_policy"]),
    });
  });
});
