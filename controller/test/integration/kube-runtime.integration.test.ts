import { type ControlPlane, controlPlaneAvailability, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createInformer } from "../../src/kube/cache/informer.ts";
import { kubeconfigAccess } from "../../src/kube/connection/kubeconfig.ts";
import { HttpKubeClient } from "../../src/kube/http-client.ts";
import { informerMetrics } from "../../src/kube/cache/metrics.ts";
import { EVENTS } from "../../src/kube/resources/event.ts";
import { NODES } from "../../src/kube/resources/node.ts";
import { SERVICES } from "../../src/kube/resources/service.ts";
import { Transport } from "../../src/kube/connection/transport.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { NO_TRACING } from "../../src/telemetry/tracing.ts";
import { systemClock } from "../../src/util/clock.ts";
import { FakeLog } from "../support/fake-log.ts";
import { eventually } from "../support/poll.ts";
import { testRuntime } from "../support/kube/runtime-scenarios.ts";

const signal = new AbortController().signal;
const clock = systemClock();
const log = new FakeLog();
const availability = await controlPlaneAvailability();
const missing = availability.kind === "missing" && process.env["CI"] !== "true";

const reason = availability.kind === "missing" ? ` (skipped: ${availability.reason})` : "";

describe.skipIf(missing)(`the runtime on a real kube-apiserver${reason}`, () => {
  let controlPlane: ControlPlane;
  let transport: Transport;
  let client: HttpKubeClient;

  beforeAll(async () => {
    controlPlane = await startControlPlane();
    transport = new Transport({
      access: await kubeconfigAccess({ path: controlPlane.kubeconfigPath, clock }),
      clock,
      metrics: undefined,
      limiter: undefined,
    });
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

  testRuntime(() => client);

  test("does not talk to a server that its kubeconfig gives no authority for, and says what to check", async () => {
    const credentials = () => Promise.resolve({ headers: {}, tls: {} });
    const access = { server: controlPlane.server, description: "no authority", proxyUrl: undefined, credentials };
    const trusting = new Transport({ access, clock, metrics: undefined, limiter: undefined });
    const refused = new HttpKubeClient({
      transport: trusting,
      clock,
      metrics: undefined,
      userAgent: "cloudwire-test",
      tracing: NO_TRACING,
    });
    await expect(refused.list(NODES, { signal })).rejects.toMatchObject({
      code: "transient",
      message: expect.stringMatching(/certificate.*; check server and certificate-authority in the kubeconfig$/),
    });
    await trusting.close();
  });

  test("reports refused permissions with what to do", async () => {
    const { path } = await controlPlane.kubeconfigFor("no-permissions");
    const poor = new Transport({
      access: await kubeconfigAccess({ path, clock }),
      clock,
      metrics: undefined,
      limiter: undefined,
    });
    const refused = new HttpKubeClient({
      transport: poor,
      clock,
      metrics: undefined,
      userAgent: "cloudwire-test",
      tracing: NO_TRACING,
    });
    await expect(refused.list(NODES, { signal })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringMatching(
        /no-permissions.* cannot list resource "nodes".*; grant the permission in the ClusterRole of this controller$/,
      ),
    });
    await poor.close();
  });

  test("distinguishes a terminating namespace from a missing permission (case S-9)", async () => {
    await controlPlane.kubectl(["create", "namespace", "terminating"]);
    // No controller finishes the deletion: it stays terminating.
    await controlPlane.kubectl(["delete", "namespace", "terminating", "--wait=false"]);
    const event = {
      metadata: { name: "e", namespace: "terminating" },
      involvedObject: { kind: "Service", namespace: "terminating", name: "web" },
    };
    await expect(client.create(EVENTS, "terminating", event, { signal })).rejects.toMatchObject({
      code: "namespaceTerminating",
      httpStatus: 403,
    });
  });

  test("resumes after the API server was killed, missing nothing that happened meanwhile", async () => {
    const metrics = new Metrics();
    const informer = createInformer({
      resource: SERVICES,
      client,
      clock,
      random: Math.random,
      log,
      metrics: informerMetrics(metrics)("Service"),
    });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    await informer.whenSynced(AbortSignal.timeout(10_000));
    await controlPlane.stopApiServer("SIGKILL");
    await eventually("noticed", () => informer.lastFailure() !== undefined);
    await controlPlane.startApiServer();
    await client.create(
      SERVICES,
      "default",
      { metadata: { name: "after-restart" }, spec: { ports: [{ port: 80 }] } },
      { signal },
    );
    await eventually("seen", () => informer.lister.get("default/after-restart") !== undefined, 30_000);
    expect(informer.lastFailure()).toBeUndefined();
    stop.abort();
    await running;
  });
});
