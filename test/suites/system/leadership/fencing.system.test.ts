import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import { LEASE } from "../support/lease.ts";
import { SlowLink } from "../support/slow-link.ts";
import { Harness } from "../support/harness.ts";

const WEB = "/api/v1/namespaces/default/services/web";
const REFUSED = /A call failed.*STALE_GENERATION/;
const SHORT_LEASE = [
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
] as const;

let controlPlane: ControlPlane;
let harness: Harness;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  harness = await Harness.start(controlPlane);
}, 60 * 60_000);
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await controlPlane.stop();
});

/** Asks for another port in the place of the one that is. */
async function requestService(port: number): Promise<void> {
  const ports = [{ $patch: "replace" }, { name: `port-${port}`, port, protocol: "TCP" }];
  await harness.kube.patch(WEB, { spec: { ports } });
}

async function ports(): Promise<readonly number[]> {
  const balancers = await harness.loadBalancers();
  return balancers.flatMap(({ listeners }) => listeners.map(({ port }) => port));
}

async function cloudHas(port: number): Promise<void> {
  const ask = async () => ((await ports()).join() === String(port) ? true : undefined);
  await eventually(`the load balancer to have port ${port}`, 30_000, ask, () => harness.outputs());
}

const epoch = async () =>
  Number(at(await harness.kube.get(LEASE), "metadata", "annotations", "cloudwire.dev/change-epoch"));

test("a paused leader's change that arrives late is refused, and a restart goes on without refusals", async () => {
  const sidecar = await harness.startSidecar({ env: { CLOUD_PROVIDER_LOG_LEVEL: "debug" } });
  await using link = await SlowLink.start(`${harness.socket}.slow.sock`, harness.socket);
  const first = harness.startController({
    provider: [`--provider=simulated=unix://${link.socketPath}`],
    args: SHORT_LEASE,
  });
  await first.said(/Became leader/);
  const second = harness.startController({ args: SHORT_LEASE });
  await second.said(/Waiting for leadership/);
  await harness.createService("web", 8181);
  await harness.addressed("web");
  const before = await epoch();

  link.hold();
  await requestService(8182);
  await link.carries("port-8182");
  first.signal("SIGSTOP");
  await second.said(/Became leader/, 60_000);
  expect(await epoch()).toBeGreaterThan(before);
  await requestService(8183);
  await cloudHas(8183);
  expect(sidecar.output).not.toMatch(REFUSED);

  link.release();
  await sidecar.said(REFUSED);
  expect(await ports()).toEqual([8183]);

  first.signal("SIGCONT");
  expect(await first.exit(60_000)).toEqual({ code: 1, signal: null });
  await second.stop("SIGTERM");
  const refusals = sidecar.output.split(REFUSED).length;
  const third = harness.startController({ args: SHORT_LEASE });
  await third.said(/Became leader/, 60_000);
  await requestService(8184);
  await cloudHas(8184);
  expect(sidecar.output.split(REFUSED)).toHaveLength(refusals);
});
