import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EnsureLoadBalancerResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { BatchEnsureRoutesResponse } from "@cloudwire/proto/cloudprovider/v1/route";
import { Ajv } from "ajv";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { auditSchema } from "../../../scripts/schemas/audit-schema.ts";
import { ClientHarness, ensureInput, SERVICE } from "../../../test/support/provider/client-harness.ts";
import { contractFailure, providerInfo } from "../../../test/support/provider/scripted-provider.ts";
import { doWork } from "../../observe/work.ts";
import { AuditLog, auditMetrics } from "../../telemetry/audit-log.ts";
import { systemClock } from "../../util/clock.ts";

const CLOSE_MS = 10_000;
const ROUTE = {
  id: "",
  nameHint: "",
  targetProviderId: "acme://1",
  targetNodeName: "n1",
  destinationCidr: "10.1.0.0/24",
  targetAddresses: [],
  blackhole: false,
};
const WORK = {
  controller: "service-lb-controller",
  key: "default/web",
  provider: "acme",
  reconcileID: "reconcile-1",
  version: { resourceVersion: "42", generation: 7 },
  note: () => undefined,
  stop: () => {
    throw new Error("it is not stopped");
  },
};

const ajv = new Ajv({ allErrors: true });
const isLine = ajv.compile(auditSchema());

let world: ClientHarness;
let audit: AuditLog;
let path: string;
beforeEach(async () => {
  world = await ClientHarness.create();
  path = join(world.harness.directory, "audit.log");
  const { log, metrics } = world.harness;
  const limits = { path, maxBytes: 0, backups: 1 };
  audit = new AuditLog({ ...limits, metrics: auditMetrics(metrics), log, clock: systemClock() });
});
afterEach(() => world[Symbol.asyncDispose]());

const options = () => ({ signal: world.harness.signal });

async function lines(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  await audit.close(CLOSE_MS);
  const all = readFileSync(path, "utf8").trimEnd().split("\n");
  return all.map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
}

describe("the audit log of calls to a provider", () => {
  test("has a line, which the schema takes, for each change that the provider saw, and none for reads", async () => {
    let isDown = false;
    await world.start(
      {
        getProviderInfo: () =>
          providerInfo({ capabilities: { loadBalancers: { validateOnly: true }, routes: { maxBatchSize: 1000 } } }),
        ensureLoadBalancer: () => {
          if (isDown) throw contractFailure("CLOUD_UNAVAILABLE", "down, with key=hunter2");
          return EnsureLoadBalancerResponse.fromPartial({
            loadBalancer: { id: "lb-1", service: SERVICE, phase: 2 },
            stats: { cloudCalls: 3, cloudMutations: 1, cloudRequestIds: ["c-1"] },
          });
        },
        batchEnsureRoutes: ({ routes }) =>
          BatchEnsureRoutesResponse.fromPartial({
            results: routes.map((value) => ({ outcome: { $case: "route", value } })),
          }),
      },
      { audit },
    );
    const { client } = world.sidecar;
    await doWork(WORK, () => client.ensureLoadBalancer(ensureInput(), { ...options(), trigger: "service created" }));
    await client.getLoadBalancer({ service: SERVICE, annotations: {} }, options()).catch(() => undefined);
    await client.ensureLoadBalancer(ensureInput(), { ...options(), validateOnly: true });
    isDown = true;
    await expect(client.ensureLoadBalancer(ensureInput(), options())).rejects.toMatchObject({
      reason: "CLOUD_UNAVAILABLE",
    });
    await client.ensureRoutes([ROUTE], options());
    await client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, options()).catch(() => undefined);

    const written = await lines();
    expect(written.map((line) => (isLine(line) ? undefined : ajv.errorsText(isLine.errors)))).toEqual(
      written.map(() => undefined),
    );
    const seen = world.provider.calls.filter(({ method }) =>
      /^(ensure|delete|update|apply|batch(Ensure|Delete))/.test(method),
    );
    expect(written.map(({ requestID }) => [requestID])).toEqual(
      seen.map(({ metadata }) => metadata.get("x-request-id")),
    );
    expect(written).toMatchObject([
      {
        line: 1,
        method: "EnsureLoadBalancer",
        controller: "service-lb-controller",
        key: "default/web",
        reconcileID: "reconcile-1",
        resourceVersion: "42",
        generation: 7,
        trigger: "service created",
        validateOnly: false,
        loadBalancerID: "lb-1",
        code: "OK",
        cloudMutations: 1,
        cloudRequestIDs: ["c-1"],
      },
      { line: 2, method: "EnsureLoadBalancer", validateOnly: true, code: "OK" },
      { line: 3, method: "EnsureLoadBalancer", code: "UNAVAILABLE", reason: "CLOUD_UNAVAILABLE" },
      { line: 4, method: "BatchEnsureRoutes", routes: [{ node: "n1", destinationCidr: "10.1.0.0/24", code: "OK" }] },
      { line: 5, method: "DeleteLoadBalancer" },
    ]);
    expect(readFileSync(path, "utf8")).not.toContain("hunter2");
    expect(new Set(written.slice(0, 3).map(({ requestDigest }) => requestDigest)).size).toBe(1);
  });

  test("loses a line rather than a call", async () => {
    const failing = {
      write: () => {
        throw new Error("broken");
      },
      drop: (error: unknown) => void lost.push(error),
    };
    const lost: unknown[] = [];
    await world.start(
      {
        ensureLoadBalancer: () =>
          EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "lb-1", service: SERVICE, phase: 2 } }),
      },
      { audit: failing },
    );
    const { loadBalancer } = await world.sidecar.client.ensureLoadBalancer(ensureInput(), options());
    expect(loadBalancer?.id).toBe("lb-1");
    expect(lost).toEqual([new Error("broken")]);
  });
});
