import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { PERMISSIONS } from "@cloudwire/controller/permissions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import { freePort } from "../../../support/secure-page.ts";
import { AFTER_CONFLICT, CONTROLLER_USER, declaredRights, usedRights, visit } from "../support/rights.ts";
import { Harness } from "../support/harness.ts";

const WAIT_MS = 90_000;
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const SERVICES = "/api/v1/namespaces/default/services";
const VOLUMES = "/api/v1/persistentvolumes";

/** Used where the API server cannot begin a watch with what there is (controller/src/kube/cache/informer.component.test.ts). */
const WITHOUT_WATCH_LISTS = ["list services", "list persistentvolumes", "list certificatesigningrequests"];
/** Asked for by the API server itself while it admits an approval. */
const WITHIN_ADMISSION = ["approve signers"];

let controlPlane: ControlPlane;
let harness: Harness;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane({
    audit: { users: [CONTROLLER_USER], level: "Metadata" },
    controllerManager: { controllers: ["certificatesigningrequest-signing-controller"] },
  });
  harness = await Harness.start(controlPlane, { instancePool: "10.64.0.0/16" });
}, 60 * 60_000);
afterAll(async () => {
  await controlPlane.stopHollowNode("kubelet-1");
  await harness[Symbol.asyncDispose]();
  await controlPlane.stop();
});

const declared = declaredRights(PERMISSIONS);

/** Whatever the controllers may have to do, in the order in which they can. */
async function makeThemWork(): Promise<void> {
  await harness.startSidecar();
  const port = await freePort();
  const args = [
    "--controllers=*,node-ipam-controller,persistent-volume-label-controller,kubelet-serving-csr-approver",
    "--allocate-node-cidrs",
    "--cluster-cidr=10.210.0.0/16",
    "--configure-cloud-routes",
    "--node-monitor-period=1s",
    "--bind-address=127.0.0.1",
  ];
  const leader = harness.startController({ args: [...args, `--secure-port=${port}`] });
  await leader.said(/Became leader/, WAIT_MS);
  // A standby watches the Lease.
  harness.startController({ args });
  await harness.createMachines(
    ["works-1", "goes-1", "stops-1", "kubelet-1"].map((name) => ({ name, zone: "north-a" })),
  );
  for (const name of ["works-1", "goes-1", "stops-1"]) await harness.registerNode(name);
  for (const name of ["works-1", "goes-1", "stops-1"]) await harness.initialized(name, WAIT_MS);
  await controlPlane.startHollowNode("kubelet-1", { servingCertificate: "bootstrap" });
  for (const [name, port] of [
    ["stays", 8190],
    ["goes", 8191],
  ] as const) {
    await harness.createService(name, port);
    await harness.addressed(name, WAIT_MS);
  }
  // What happens again is one more of the same event.
  await harness.kube.patch(`${SERVICES}/stays`, { spec: { loadBalancerSourceRanges: ["192.0.2.0/24"] } });
  await harness.kube.delete(`${SERVICES}/goes`);
  await machineEnds("goes-1", async (id) => harness.cloud.terminateInstances([id], AbortSignal.timeout(10_000)));
  await machineEnds("stops-1", async (id) => harness.cloud.stopInstance(id, AbortSignal.timeout(10_000)));
  const { id } = await harness.cloud.createVolume(
    { name: "d", zone: "north-a", sizeGiB: 1 },
    AbortSignal.timeout(10_000),
  );
  await harness.kube.create(VOLUMES, {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "data" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      csi: { driver: "csi.simulated.cloudwire.dev", volumeHandle: id },
    },
  });
  await visit(controlPlane, port);
}

async function machineEnds(name: string, end: (id: string) => Promise<unknown>): Promise<void> {
  const { items } = await harness.cloud.listInstances(
    { pageSize: 1000, consistent: true },
    AbortSignal.timeout(10_000),
  );
  for (const { id } of items.filter((item) => item.name === name)) await end(id);
  await harness.reportReady(name, "Unknown");
}

test(
  "under the rights of the manifests the controllers do all they do, are refused nothing, and leave no right unused",
  async () => {
    await makeThemWork();
    let unused: readonly string[] = [];
    const events = await eventually(
      "every right to be used",
      WAIT_MS,
      async () => {
        const seen = await controlPlane.auditEvents();
        const used = [...usedRights(seen), ...AFTER_CONFLICT, ...WITHOUT_WATCH_LISTS, ...WITHIN_ADMISSION];
        unused = declared.filter((right) => !used.includes(right));
        return unused.length === 0 ? seen : undefined;
      },
      () => `not yet: ${unused.join(", ")}\n${harness.outputs()}`,
    );
    expect(events.filter(({ code }) => code === 403)).toEqual([]);
    expect(usedRights(events).filter((right) => !declared.includes(right))).toEqual([]);
    const requests = await harness.kube.items(REQUESTS);
    const conditions = requests.flatMap((request) => listOf(at(request, "status", "conditions")));
    expect(conditions.map(({ type }) => type)).toContain("Approved");
  },
  6 * WAIT_MS,
);
