import { readFile } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { makeStatusPage } from "../../../support/bundles.ts";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import { PageEvents } from "../../../support/page-events.ts";
import { type Credentials, fetchPage, freePort } from "../../../support/secure-page.ts";
import { eachHarness } from "../support/each-harness.ts";
import type { Harness } from "../support/harness.ts";

const SOON_MS = 30_000;
const LOOPBACK = "--status-page-bind-address=127.0.0.1:0";

let harness: Harness;

eachHarness((fresh) => {
  harness = fresh;
});

/** Waits until the stream has reported the object's state. */
async function reported(events: PageEvents, object: string, wanted: string | undefined): Promise<void> {
  await eventually(
    `${object} to be ${wanted ?? "gone"}`,
    SOON_MS,
    () => (events.stateOf(object) === wanted ? true : undefined),
    () => JSON.stringify([...events.rows.values()], undefined, 1),
  );
}

describe("rows follow reality", () => {
  test("from a Node's registration to its end, through a Service's life, with a provider that goes and comes back", async () => {
    const sidecar = await harness.startSidecar();
    const controller = harness.startController({ args: [LOOPBACK, "--cluster-cidr=10.120.0.0/16"] });
    const [, page = ""] = await controller.said(/statusPage=(http:\S+)/);
    await controller.said(/Became leader/);
    using events = PageEvents.of(page);
    await reported(events, "provider/simulated", "ok");
    expect(events.names.slice(0, 3)).toEqual(["overview", "rows", "complete"]);

    await harness.createMachines([{ name: "seen-1", zone: "north-a" }]);
    await harness.registerNode("seen-1");
    await reported(events, "node/seen-1", "ok");
    await reported(events, "route/seen-1", "waiting NoPodCIDR");
    await harness.registerNode("machineless-1");
    await reported(events, "node/machineless-1", "blocked InstanceNotFound");

    await harness.createService("web", 8283);
    await harness.createService("odd", 8284, { loadBalancerClass: "example.com/unserved" });
    await reported(events, "service/default/web", "ok");
    await reported(events, "service/default/odd", "unmanaged LoadBalancerClassNotServed");
    expect(events.rows.get("service/default/web")).toMatchObject({
      provider: "simulated",
      creationTime: expect.any(String),
    });
    expect(events.rows.has("service/default/kubernetes")).toBe(false);
    await eventually("the overview to count them", SOON_MS, () =>
      at(events.overview, "counts", "service", "ok") === 1 &&
      at(events.overview, "counts", "service", "unmanaged") === 1
        ? true
        : undefined,
    );
    expect(events.overview).toMatchObject({
      cluster: "kubernetes",
      replica: { isLeader: true },
      observing: false,
      providers: [
        {
          name: "simulated",
          connection: "ready",
          ready: true,
          deletionCircuitBreaker: { open: false, absentNodes: 0 },
        },
      ],
      alarms: [],
    });
    expect(at(events.overview, "providers", 0, "calls")).toBeGreaterThan(0);

    await sidecar.stop("SIGKILL");
    await reported(events, "provider/simulated", "waiting ProviderUnavailable");
    await eventually("an alarm", SOON_MS, () =>
      listOf(events.overview["alarms"]).some(({ object }) => object === "provider/simulated") ? true : undefined,
    );
    await harness.startSidecar();
    await reported(events, "provider/simulated", "ok");

    await harness.kube.delete("/api/v1/namespaces/default/services/odd");
    await harness.kube.delete("/api/v1/namespaces/default/services/web");
    await harness.kube.delete("/api/v1/nodes/machineless-1");
    await reported(events, "service/default/odd", undefined);
    await reported(events, "service/default/web", undefined);
    await reported(events, "node/machineless-1", undefined);
    await reported(events, "route/machineless-1", undefined);

    await controller.stop();
    await events.ended;
  });

  test("a standby knows the objects, who leads, and that it does not", async () => {
    await harness.startSidecar();
    const leader = harness.startController();
    await leader.said(/Became leader/);
    const standby = harness.startController({ args: [LOOPBACK] });
    const [, page = ""] = await standby.said(/statusPage=(http:\S+)/);
    await harness.createMachines([{ name: "watched-1", zone: "north-a" }]);
    await harness.registerNode("watched-1");
    await harness.initialized("watched-1");
    using events = PageEvents.of(page);
    await reported(events, "node/watched-1", "waiting NotLeader");
    await harness.reportReady("watched-1", "True");
    await reported(events, "node/watched-1", "ok");
    await eventually("the leader to be named", SOON_MS, () =>
      at(events.overview, "replica", "leaderIdentity") === undefined ? undefined : true,
    );
    expect(events.overview).toMatchObject({ replica: { isLeader: false } });
    await harness.kube.delete("/api/v1/nodes/watched-1");
    await reported(events, "node/watched-1", undefined);
  });
});

describe("the page over TLS", () => {
  let port: number;

  beforeEach(async () => {
    await makeStatusPage();
    await harness.startSidecar();
    port = await freePort();
    const controller = harness.startController({ args: [`--secure-port=${port}`, "--bind-address=127.0.0.1"] });
    await controller.said(/Became leader/);
  });

  async function certificateOf(name: string, ...groups: readonly string[]): Promise<Credentials> {
    const { client } = await harness.controlPlane.kubeconfigFor(name, groups);
    return { certificate: client.certificate, key: client.key };
  }

  test("is for who may read it, by the role that the manifests have", async () => {
    const paths = ["/status/", "/status/app.js", "/debug/overview", "/debug/objects?kind=node", "/debug/controllers"];
    const role = await readFile(
      new URL("../../../../deploy/manifests/rbac-status-reader.yaml", import.meta.url),
      "utf8",
    );
    await harness.controlPlane.kubectl(["apply", "-f", "-"], { input: role });
    await harness.kube.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "operators-read-status" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cloudwire:status-reader" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "operators" }],
    });
    const operator = await certificateOf("olga", "operators");
    const stranger = await certificateOf("stranger");
    await eventually("client certificates to be believed", 60_000, async () =>
      (await fetchPage(port, "/debug/overview", operator)).status === 200 ? true : undefined,
    );
    const statuses = async (credentials: Credentials, asked: readonly string[]): Promise<readonly number[]> => {
      const pages = await Promise.all(asked.map((path) => fetchPage(port, path, credentials)));
      return pages.map(({ status }) => status);
    };
    expect(await statuses(operator, paths)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(operator, ["/metrics", "/configz", "/debug/pprof/heap"])).toEqual([403, 403, 403]);
    expect(await statuses(stranger, [...paths, "/debug/stream"])).toEqual([403, 403, 403, 403, 403, 403]);
    expect(await statuses({}, [...paths, "/debug/stream"])).toEqual([403, 403, 403, 403, 403, 403]);
  });
});

test.each([
  { address: "0.0.0.0:10269", says: /--status-page-bind-address: "0\.0\.0\.0:10269" is not a loopback address/ },
  { address: "10269", says: /--status-page-bind-address: "10269" is not an IP address and a port/ },
])("an address $address for the page ends the start, with the reason", async ({ address, says }) => {
  const controller = harness.startController({ args: [`--status-page-bind-address=${address}`] });
  expect((await controller.exit()).code).toBe(64);
  expect(controller.output).toMatch(says);
});
