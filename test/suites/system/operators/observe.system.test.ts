import { readFile } from "node:fs/promises";
import { OBSERVER_PERMISSIONS } from "@cloudwire/controller/permissions";
import { rolesFor } from "@cloudwire/deploy/roles";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { freePort } from "../../../support/secure-page.ts";
import { LOOPBACK, page } from "../support/explained.ts";
import { AFTER_CONFLICT, declaredRights, usedRights, visit } from "../support/rights.ts";
import { Harness } from "../support/harness.ts";

const VOLUMES = "/api/v1/persistentvolumes";
const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const CALL_MS = 10_000;

/** Has the rights that an observer needs, and no other. */
const OBSERVER = "observer";

/** What asks without changing anything. */
const READS = new Set(["get", "list", "watch"]);
const REVIEWS = new Set(["subjectaccessreviews", "tokenreviews"]);

let controlPlane: ControlPlane;
let harness: Harness;
let kubeconfigPath: string;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane({ audit: { users: [OBSERVER], level: "Metadata" } });
  const items = rolesFor(OBSERVER_PERMISSIONS, () => true, { kind: "User", name: OBSERVER });
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await controlPlane.kubectl(["apply", "-f", "-"], { input });
  kubeconfigPath = (await controlPlane.kubeconfigFor(OBSERVER)).path;
}, 60 * 60_000);
beforeEach(async () => {
  harness = await Harness.start(controlPlane, { instancePool: "10.64.0.0/16" });
});
afterEach(async () => {
  await controlPlane.stopHollowNode("seen-a");
  await harness.kube.delete(WEBHOOKS);
  await harness.kube.delete(REQUESTS);
  for (const pv of await harness.kube.items(VOLUMES)) {
    await harness.kube.patch(`${VOLUMES}/${String(at(pv, "metadata", "name"))}`, { metadata: { finalizers: null } });
  }
  await harness.kube.delete(VOLUMES);
  await harness[Symbol.asyncDispose]();
});
afterAll(() => controlPlane.stop());

/** One that has every controller and the webhook on, and only observes. */
async function startObserver(securePort: number): Promise<Program> {
  const port = await freePort();
  const controllers =
    "--controllers=*,node-ipam-controller,kubelet-serving-csr-approver,persistent-volume-label-controller";
  const ranges = ["--allocate-node-cidrs", "--cluster-cidr=10.120.0.0/16"];
  const webhook = ["--webhooks=*", "--webhook-bind-address=127.0.0.1", `--webhook-secure-port=${port}`];
  const secure = ["--bind-address=127.0.0.1", `--secure-port=${securePort}`];
  const args = ["--mode=observe", LOOPBACK, ...secure, controllers, ...ranges, ...webhook];
  const program = harness.startController({ kubeconfigPath, args });
  const [, url = "", trust = ""] = await program.said(/Serving webhooks.* urls=(https:\S+).* caBundle=(\S+)/);
  const docs = new URL("../../../../docs/explanation/persistent-volume-labels.md", import.meta.url);
  const manifest = /```yaml\n([\s\S]+?)```/.exec(await readFile(docs, "utf8"))?.[1] ?? "";
  const input = manifest.replace(/https:\S+/, url).replace("CA_BUNDLE", trust);
  await controlPlane.kubectl(["apply", "-f", "-"], { input });
  return program;
}

/** `controller key: what would be written`. */
async function plans(controller: Program): Promise<readonly string[]> {
  const { text } = await page(controller, "/debug/plans");
  return listOf(at(JSON.parse(text), "plans")).flatMap(({ controller: by, key, writes }) =>
    listOf(writes).map(({ summary }) => `${String(by)} ${String(key)}: ${String(summary)}`),
  );
}

async function planned(controller: Program, pattern: RegExp): Promise<void> {
  let last: readonly string[] = [];
  await eventually(
    `a plan ${pattern}`,
    60_000,
    async () => {
      last = await plans(controller);
      return last.some((plan) => pattern.test(plan)) ? true : undefined;
    },
    () => `${last.join("\n")}\n${controller.output.slice(-4000)}`,
  );
}

/** As the program in use would write them. */
async function giveAddresses(name: string): Promise<void> {
  const { items } = await harness.cloud.listInstances({ pageSize: 10, consistent: true }, AbortSignal.timeout(CALL_MS));
  const [address = ""] = items.find((machine) => machine.name === name)?.internalAddresses ?? [];
  const addresses = [
    { type: "Hostname", address: name },
    { type: "InternalIP", address },
  ];
  await harness.kube.patch(`/api/v1/nodes/${name}/status`, { status: { addresses } });
}

test("an observer plans what each controller would write, lets its webhook's objects pass, is refused nothing and writes nothing at all, and leaves no right unused", async () => {
  await harness.startSidecar();
  const securePort = await freePort();
  const observer = await startObserver(securePort);
  await observer.said(/Connected to provider/);
  await harness.createMachines([{ name: "seen-a", zone: "north-a" }]);
  await controlPlane.startHollowNode("seen-a", { servingCertificate: "bootstrap" });
  await planned(observer, /^cloud-node-controller seen-a: patch nodes/);
  await planned(observer, /^node-ipam-controller seen-a: patch nodes seen-a: spec\.podCIDR, spec\.podCIDRs/);
  await giveAddresses("seen-a");
  await planned(observer, /^kubelet-serving-csr-approver \S+: patch certificatesigningrequests\/approval/);

  const { id } = await harness.cloud.createVolume(
    { name: "data", zone: "south-b", sizeGiB: 1 },
    AbortSignal.timeout(CALL_MS),
  );
  const asked = await eventually("the webhook to be asked", 60_000, async () => {
    const name = `pv-${Date.now()}`;
    const csi = { driver: "csi.simulated.cloudwire.dev", volumeHandle: id };
    const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "", csi };
    await harness.kube.create(VOLUMES, { apiVersion: "v1", kind: "PersistentVolume", metadata: { name }, spec });
    return observer.output.includes("Would have changed or denied a request: observe mode") ? name : undefined;
  });
  expect(at(await harness.kube.get(`${VOLUMES}/${asked}`), "metadata", "labels")).toBeUndefined();
  await planned(observer, /^persistent-volume-label-controller \S+: patch persistentvolumes/);
  await harness.createService("web", 8190);
  await planned(observer, /^service-lb-controller default\/web: patch services\/status/);

  await visit(controlPlane, securePort);
  // Everything that was read is in it, so what was written would be, too.
  let unused: readonly string[] = [];
  const events = await eventually(
    "every right to be used",
    60_000,
    async () => {
      const seen = await controlPlane.auditEvents();
      const used = [...usedRights(seen), ...AFTER_CONFLICT];
      unused = declaredRights(OBSERVER_PERMISSIONS).filter((right) => !used.includes(right));
      return unused.length === 0 ? seen : undefined;
    },
    () => `not yet: ${unused.join(", ")}\n${observer.output.slice(-4000)}`,
  );
  expect(events.filter(({ code }) => code === 403)).toEqual([]);
  const written = events.filter(({ verb, resource = "" }) => !READS.has(verb) && !REVIEWS.has(resource));
  expect(written.map(({ verb, requestUri }) => `${verb} ${requestUri}`)).toEqual([]);
  expect((await harness.admin.calls()).mutating).toBe(await ownMutations());
});

/** What the test itself has made in the cloud. */
async function ownMutations(): Promise<number> {
  const calls = await harness.admin.log(10_000);
  return calls.filter(({ operation, mutating }) => mutating && /^(?:instances|volumes)\.create$/.test(operation))
    .length;
}
