import { type ControlPlane, controlPlaneAvailability, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Condition } from "../../src/api/meta.ts";
import type { Service } from "../../src/api/service.ts";
import {
  PROVISIONING,
  type Readiness,
  type StatusPatch,
  addFinalizerPatch,
  cleanedUpPatch,
  ingressPatch,
  readinessItems,
  withConditions,
} from "../../src/controllers/service/plan/status.ts";
import { kubeconfigAccess } from "../../src/kube/connection/kubeconfig.ts";
import { HttpKubeClient } from "../../src/kube/http-client.ts";
import { SERVICES } from "../../src/kube/resources/service.ts";
import { Transport } from "../../src/kube/connection/transport.ts";
import { NO_TRACING } from "../../src/telemetry/tracing.ts";
import { systemClock } from "../../src/util/clock.ts";
import { ingress } from "../support/builders.ts";

const clock = systemClock();
const signal = new AbortController().signal;
const availability = await controlPlaneAvailability();
const missing = availability.kind === "missing" && process.env["CI"] !== "true";
const reason = availability.kind === "missing" ? ` (skipped: ${availability.reason})` : "";

const T1_MS = Date.parse("2026-01-01T00:00:01Z");
const T2_MS = Date.parse("2026-01-01T00:00:02Z");
const ready: Readiness = { status: "True", reason: "Ready", message: "fine" };
const vip = ingress({ ip: "192.0.2.1", ipMode: "VIP" });

describe.skipIf(missing)(`the condition of a Service on a real kube-apiserver${reason}`, () => {
  let controlPlane: ControlPlane;
  let transport: Transport;
  let client: HttpKubeClient;

  beforeAll(async () => {
    controlPlane = await startControlPlane();
    const access = await kubeconfigAccess({ path: controlPlane.kubeconfigPath, clock });
    transport = new Transport({ access, clock, metrics: undefined, limiter: undefined });
    client = new HttpKubeClient({
      transport,
      clock,
      metrics: undefined,
      userAgent: "cloudwire-test",
      tracing: NO_TRACING,
    });
  });
  afterAll(async () => {
    await transport.close();
    await controlPlane.stop();
  });

  async function patch({ metadata: { namespace, name } }: Service, body: StatusPatch | undefined): Promise<Service> {
    const options = { signal, subresource: "status" };
    return client.patch(SERVICES, { namespace, name }, { kind: "strategic", body: body ?? {} }, options);
  }

  test("comes with the finalizer, changes with the address, and goes, beside those of others", async () => {
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
    const created = await client.create(SERVICES, "default", { metadata: { name: "web" }, spec }, { signal });
    const other = { type: "example.com/Other", status: "True", reason: "R", message: "m" };
    const foreign = { conditions: [{ ...other, lastTransitionTime: "2026-01-01T00:00:00Z" }] };
    const before = await patch(created, { metadata: {}, status: foreign });

    const provisioning = readinessItems(before, PROVISIONING, T1_MS);
    const taken = await patch(before, withConditions(before, addFinalizerPatch(before), provisioning));
    expect(taken.metadata.finalizers).toEqual(["service.kubernetes.io/load-balancer-cleanup"]);
    expect(byType(taken)).toEqual({
      "example.com/Other": ["True", "R", Date.parse("2026-01-01T00:00:00Z")],
      "cloudwire.dev/LoadBalancerReady": ["False", "Provisioning", T1_MS],
    });

    const items = readinessItems(taken, ready, T2_MS);
    const done = await patch(taken, withConditions(taken, ingressPatch(taken, [vip]), items));
    expect(done.status.loadBalancer.ingress).toEqual([vip]);
    expect(byType(done)["cloudwire.dev/LoadBalancerReady"]).toEqual(["True", "Ready", T2_MS]);
    expect([readinessItems(done, ready, T2_MS), ingressPatch(done, [vip])]).toEqual([undefined, undefined]);

    const again = await patch(done, withConditions(done, undefined, readinessItems(done, ready, T2_MS)));
    expect(again.metadata.resourceVersion).toBe(done.metadata.resourceVersion);

    const cleaned = await patch(done, cleanedUpPatch(done));
    expect(cleaned.metadata.finalizers).toEqual([]);
    expect(Object.keys(byType(cleaned))).toEqual(["example.com/Other"]);
    // A second process sends the same again.
    expect(Object.keys(byType(await patch(done, cleanedUpPatch(done))))).toEqual(["example.com/Other"]);
  });
});

function byType({ status }: Service): Readonly<Record<string, unknown>> {
  const entry = ({ type, status: value, reason: why, lastTransitionTimeMs }: Condition) =>
    [type, [value, why, lastTransitionTimeMs]] as const;
  return Object.fromEntries(status.conditions.map(entry));
}
