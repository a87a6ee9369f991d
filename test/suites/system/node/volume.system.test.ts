import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { Harness } from "../support/harness.ts";

const VOLUMES = "/api/v1/persistentvolumes";
const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const DRIVER = "csi.simulated.cloudwire.dev";
const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const WAIT_MS = 60_000;

let controlPlane: ControlPlane;
let harness: Harness;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane({ audit: { users: ["cloudwire"] } });
}, 60 * 60_000);
beforeEach(async () => {
  harness = await Harness.start(controlPlane);
});
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") controlPlane.keepFiles();
  await harness.kube.delete(WEBHOOKS);
  await removeVolumes();
  await harness[Symbol.asyncDispose]();
});
afterAll(() => controlPlane.stop());

/** The API server protects them by a finalizer, which the controller-manager would take off. */
async function removeVolumes(): Promise<void> {
  for (const pv of await harness.kube.items(VOLUMES)) {
    await harness.kube.patch(`${VOLUMES}/${String(at(pv, "metadata", "name"))}`, { metadata: { finalizers: null } });
  }
  await harness.kube.delete(VOLUMES);
}

const persistentVolume = (name: string, source: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name, ...metadata },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: "Retain",
    storageClassName: "",
    ...source,
  },
});
const csi = (volumeHandle: string, driver = DRIVER) => ({ csi: { driver, volumeHandle } });

async function createVolume(zone: string): Promise<string> {
  const { id } = await harness.cloud.createVolume({ name: "data", zone, sizeGiB: 1 }, AbortSignal.timeout(10_000));
  return id;
}

/** By kubectl, as a user does. */
const create = (object: object) =>
  controlPlane.kubectl(["create", "-f", "-"], { input: JSON.stringify(object), timeoutMs: WAIT_MS });

const read = (name: string): Promise<Json> => harness.kube.get(`${VOLUMES}/${name}`);

async function facts(name: string) {
  const pv = await read(name);
  return { labels: at(pv, "metadata", "labels"), affinity: at(pv, "spec", "nodeAffinity") };
}

const expressionsOf = (zone: string, region: string) => [
  { key: ZONE, operator: "In", values: [zone] },
  { key: REGION, operator: "In", values: [region] },
];
const affinityOf = (zone: string, region: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: expressionsOf(zone, region) }] },
});

/** A port on which no server listens at this moment. */
async function freePort(): Promise<number> {
  const probe = createServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  probe.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = probe.address();
  await new Promise((closed) => probe.close(closed));
  return typeof address === "object" && address !== null ? address.port : 0;
}

interface Webhook {
  readonly program: Program;
  readonly url: string;
}

/** A replica with the webhook, registered as the documentation says. */
async function startWebhook(args: readonly string[] = []): Promise<Webhook> {
  const port = await freePort();
  const program = harness.startController({
    args: ["--webhooks=*", "--webhook-bind-address=127.0.0.1", `--webhook-secure-port=${port}`, ...args],
  });
  const [, url = "", trust = ""] = await program.said(/Serving webhooks.* urls=(https:\S+).* caBundle=(\S+)/);
  const page = await readFile(
    new URL("../../../../docs/explanation/persistent-volume-labels.md", import.meta.url),
    "utf8",
  );
  const manifest = /```yaml\n([\s\S]+?)```/.exec(page)?.[1] ?? "";
  const input = manifest.replace(/https:\S+/, url).replace("CA_BUNDLE", trust);
  await controlPlane.kubectl(["apply", "-f", "-"], { input });
  await known(url);
  return { program, url };
}

/** The API server learns of webhooks by watching: until it asks this one, objects pass by it. */
async function known(url: string): Promise<void> {
  await eventually(
    `the API server to ask ${url}`,
    WAIT_MS,
    async () => {
      const probe = persistentVolume("probe", csi("malformed"));
      const { status } = await harness.kube.send("POST", `${VOLUMES}?dryRun=All`, probe);
      return status === 201 ? undefined : true;
    },
    () => harness.outputs(),
  );
}

/** A provider that the controller has greeted. */
async function startProvider(): Promise<Program> {
  return harness.startSidecar({ args: ["--in-tree-plugin=kubernetes.io/cinder"] });
}

const connected = (program: Program) => program.said(/Connected to provider/);

describe("the webhook persistent-volume-label on a real API server", () => {
  test("labels what is the provider's, also on a standby, and touches nothing else", async () => {
    await startProvider();
    const leader = harness.startController();
    await leader.said(/Became leader/);
    const { program } = await startWebhook();
    await connected(program);

    await create(persistentVolume("south", csi(await createVolume("south-b"))));
    expect(await facts("south")).toEqual({
      labels: { [ZONE]: "south-b", [REGION]: "south" },
      affinity: affinityOf("south-b", "south"),
    });

    const north = await createVolume("north-a");
    await create(persistentVolume("in-tree", { cinder: { volumeID: north } }, { labels: { app: "db" } }));
    expect(await facts("in-tree")).toEqual({
      labels: { app: "db", [ZONE]: "north-a", [REGION]: "north" },
      affinity: affinityOf("north-a", "north"),
    });

    const disk = { key: "disk", operator: "In", values: ["ssd"] };
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [disk] }] } };
    const { status, body } = await harness.kube.send(
      "POST",
      VOLUMES,
      persistentVolume("own", { ...csi(north), nodeAffinity }, { labels: { [ZONE]: "elsewhere" } }),
    );
    expect([status, at(body, "metadata", "labels")]).toEqual([201, { [ZONE]: "north-a", [REGION]: "north" }]);
    expect(at(body, "spec", "nodeAffinity", "required", "nodeSelectorTerms")).toEqual([
      { matchExpressions: [disk, ...expressionsOf("north-a", "north")] },
    ]);

    await create(persistentVolume("foreign", csi("vol-1", "ebs.csi.aws.com")));
    await create(persistentVolume("shared", { nfs: { server: "nfs.example.com", path: "/" } }));
    expect([await facts("foreign"), await facts("shared")]).toEqual([
      { labels: undefined, affinity: undefined },
      { labels: undefined, affinity: undefined },
    ]);

    await expect(create(persistentVolume("gone", csi("vol-000000000000")))).rejects.toThrow(
      /Forbidden.*admission webhook "persistent-volume-label\.cloudwire\.dev" denied the request: the cloud has no volume vol-000000000000 of CSI driver csi\.simulated\.cloudwire\.dev; check its id and the account of the provider/s,
    );
    expect(program.output).not.toMatch(/Became leader/);
    expect(await harness.metric(program, /^cloudwire_persistent_volume_admissions_total.*"labeled"/)).toBe(3);
  });

  test("refuses with a clear message while the provider is away, and kubectl gets through once it is back", async () => {
    const sidecar = await startProvider();
    const { program } = await startWebhook();
    await connected(program);
    const id = await createVolume("north-b");
    await sidecar.stop("SIGKILL");
    await expect(create(persistentVolume("waits", csi(id)))).rejects.toThrow(
      new RegExp(`ServiceUnavailable.*denied the request: volume ${id} of CSI driver \\S+ cannot be looked up: `, "s"),
    );
    expect(await harness.kube.find(`${VOLUMES}/waits`)).toBeUndefined();

    const trying = create(persistentVolume("waits", csi(id)));
    await startProvider();
    await trying;
    expect(await facts("waits")).toEqual({
      labels: { [ZONE]: "north-b", [REGION]: "north" },
      affinity: affinityOf("north-b", "north"),
    });
  });

  test("says that the cloud is slow before the API server gives up, and is not asked again by itself", async () => {
    await startProvider();
    const { program } = await startWebhook();
    await connected(program);
    const id = await createVolume("north-a");
    await harness.admin.addFault({ kind: "hang", operation: "volumes.lookup" });
    await harness.admin.resetCalls();
    await expect(create(persistentVolume("late", csi(id)))).rejects.toThrow(
      new RegExp(
        `denied the request: the cloud did not respond in time about volume ${id} of CSI driver \\S+; try again`,
      ),
    );
    expect(await lookups()).toBe(1);
  });
});

/** Calls of the cloud about volumes since the last reset. */
async function lookups(): Promise<number> {
  const { operations } = await harness.admin.calls();
  return operations.find(({ operation }) => operation === "volumes.lookup")?.calls ?? 0;
}

describe("persistent-volume-label-controller on a real API server", () => {
  const startLabeller = async (kubeconfigPath: string): Promise<Program> =>
    harness.startController({ kubeconfigPath, args: ["--controllers=*,persistent-volume-label"] });

  test("labels a hundred old PersistentVolumes with two calls of the cloud at most, and a new process changes nothing", async () => {
    const { path } = await controlPlane.kubeconfigFor("cloudwire", ["system:masters"]);
    const [north, south] = [await createVolume("north-a"), await createVolume("south-a")];
    const names = Array.from({ length: 100 }, (_, index) => `old-${index}`);
    await create({
      apiVersion: "v1",
      kind: "List",
      items: names.map((name, index) => persistentVolume(name, csi(index % 2 === 0 ? north : south))),
    });
    await create(persistentVolume("foreign", csi("vol-1", "ebs.csi.aws.com")));
    await create(persistentVolume("wrong", csi(north), { labels: { [ZONE]: "south-b" } }));
    const nodeAffinity = {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "Exists" }] }] },
    };
    await create(persistentVolume("bound", { ...csi(north), nodeAffinity }));

    await startProvider();
    await harness.admin.resetCalls();
    const first = await startLabeller(path);
    await eventually(
      "all to be labeled",
      WAIT_MS,
      async () => {
        const pvs = await harness.kube.items(VOLUMES);
        return pvs.filter((pv) => at(pv, "metadata", "labels", REGION) !== undefined).length === 101 ? true : undefined;
      },
      () => harness.outputs(),
    );
    expect([await facts("old-0"), await facts("old-1")]).toEqual([
      { labels: { [ZONE]: "north-a", [REGION]: "north" }, affinity: affinityOf("north-a", "north") },
      { labels: { [ZONE]: "south-a", [REGION]: "south" }, affinity: affinityOf("south-a", "south") },
    ]);
    expect(await facts("bound")).toEqual({
      labels: { [ZONE]: "north-a", [REGION]: "north" },
      affinity: nodeAffinity,
    });
    expect(await facts("foreign")).toEqual({ labels: undefined, affinity: undefined });
    expect(await lookups()).toBeLessThanOrEqual(2);
    await mismatchReported();
    expect(await facts("wrong")).toEqual({ labels: { [ZONE]: "south-b" }, affinity: undefined });

    await first.stop();
    const before = await versions();
    const second = await startLabeller(path);
    await eventually(
      "the second process to have looked at all",
      WAIT_MS,
      async () => {
        const series = /^cloudwire_persistent_volume_labelings_total/;
        return (await harness.metric(second, series)) >= 102 ? true : undefined;
      },
      () => harness.outputs(),
    );
    expect(await versions()).toEqual(before);
    expect(await patches()).toBe(101);
  });

  test("rests on this: an affinity may be set once, and never be changed", async () => {
    await create(persistentVolume("pv", csi("vol-1")));
    const set = (zone: string) =>
      harness.kube.send("PATCH", `${VOLUMES}/pv`, { spec: { nodeAffinity: affinityOf(zone, "north") } });
    const first = await set("north-a");
    const second = await set("north-b");
    expect([first.status, second.status, at(second.body, "message")]).toEqual([
      200,
      422,
      expect.stringContaining("nodeAffinity: Invalid value"),
    ]);
  });

  async function mismatchReported(): Promise<void> {
    await eventually(
      "the event about the wrong label",
      WAIT_MS,
      async () =>
        (await harness.eventReasons("PersistentVolume", "wrong")).includes("VolumeTopologyMismatch") ? true : undefined,
      () => harness.outputs(),
    );
  }

  async function versions(): Promise<readonly unknown[]> {
    return (await harness.kube.items(VOLUMES)).map((pv) => at(pv, "metadata", "resourceVersion"));
  }

  async function patches(): Promise<number> {
    const events = await controlPlane.auditEvents();
    return events.filter(({ verb, resource }) => verb === "patch" && resource === "persistentvolumes").length;
  }
});
