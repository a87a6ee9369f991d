import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { at } from "../../../support/kube.ts";
import { eachHarness } from "../support/each-harness.ts";
import { LEASE, LEASES, renewals } from "../support/lease.ts";
import type { Harness } from "../support/harness.ts";

const SHORT_LEASE = [
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
] as const;

let harness: Harness;

eachHarness(async (fresh) => {
  harness = fresh;
  await harness.startSidecar();
});

const holderIdentity = async () => at(await harness.kube.find(LEASE), "spec", "holderIdentity");

const SECOND_LEASE = "cloud-provider-extraction-migration";
const OTHER = "kube-controller-manager";

const secondIdentity = async () => at(await harness.kube.get(`${LEASES}/${SECOND_LEASE}`), "spec", "holderIdentity");

/** As another program that runs the migrating controllers holds it. */
async function holdSecondLease(): Promise<void> {
  const now = new Date().toISOString().replace("Z", "000Z");
  await harness.kube.create(LEASES, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: SECOND_LEASE, namespace: "kube-system" },
    spec: { holderIdentity: OTHER, leaseDurationSeconds: 3600, acquireTime: now, renewTime: now },
  });
}

async function migrationFile(controller: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "cloudwire-migration-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, "migration.yaml");
  const content = {
    apiVersion: "controllermanager.config.k8s.io/v1",
    kind: "LeaderMigrationConfiguration",
    leaderName: SECOND_LEASE,
    controllerLeaders: [{ name: controller, component: "*" }],
  };
  await writeFile(path, JSON.stringify(content));
  return path;
}

describe("a controller that migrates", () => {
  test("runs here once its other program gives up the second Lease, and the process ends when that is lost", async () => {
    onTestFinished(() => harness.kube.delete(`${LEASES}/${SECOND_LEASE}`));
    await holdSecondLease();
    const config = await migrationFile("cloud-node");
    const program = harness.startController({
      args: [...SHORT_LEASE, "--enable-leader-migration", `--leader-migration-config=${config}`],
    });
    await program.said(/Controller started.*service-lb-controller/);
    await program.said(/Waiting for leadership lease=kube-system\/cloud-provider-extraction-migration/);
    await harness.createMachines([{ name: "m-1", zone: "north-a" }]);
    await harness.registerNode("m-1");
    // Time in which a node is initialized many times over.
    await renewals(harness.kube, 6);
    expect(program.output).not.toMatch(/Controller started.*cloud-node-controller/);

    await harness.kube.patch(`${LEASES}/${SECOND_LEASE}`, { spec: { holderIdentity: "" } });
    await harness.initialized("m-1");
    expect(await secondIdentity()).toBe(await holderIdentity());

    await harness.kube.patch(`${LEASES}/${SECOND_LEASE}`, { spec: { holderIdentity: OTHER } });
    expect(await program.exit(30_000)).toEqual({ code: 1, signal: null });
    expect(program.output).toContain("Leadership lost");
    expect([await holderIdentity(), await secondIdentity()]).toEqual(["", OTHER]);
  });
});

describe("two controllers on a real control plane", () => {
  test("one works, and the other takes over when the first is asked to end", async () => {
    const first = harness.startController({ args: SHORT_LEASE });
    await first.said(/Became leader/);
    const second = harness.startController({ args: SHORT_LEASE });
    await second.said(/Waiting for leadership/);
    await second.said(/Connected to provider/);
    await harness.createMachines([
      { name: "l-1", zone: "north-a" },
      { name: "l-2", zone: "north-a" },
    ]);
    await harness.registerNode("l-1");
    await harness.initialized("l-1");
    await first.said(/Initialized Node/);
    expect(second.output).not.toContain("Initialized Node");
    expect(second.output).not.toContain("Became leader");

    expect(await first.stop("SIGTERM")).toEqual({ code: 0, signal: null });
    await second.said(/Became leader/);
    await harness.registerNode("l-2");
    await harness.initialized("l-2");
    await second.said(/Initialized Node/);
  });

  test("a leader that cannot reach the API server any more ends with code 1", async () => {
    const first = harness.startController({ args: SHORT_LEASE });
    await first.said(/Became leader/);
    await harness.controlPlane.stopApiServer("SIGKILL");
    expect(await first.exit(20_000)).toEqual({ code: 1, signal: null });
    expect(first.output).toContain("Leadership lost");
    await harness.controlPlane.startApiServer();
  });
});

/** What the page for operators grants for the Lease. */
async function documentedVerbs(): Promise<readonly string[]> {
  const page = await readFile(new URL("../../../../docs/explanation/high-availability.md", import.meta.url), "utf8");
  return /resources: \[leases\]\n *verbs: \[([^\]]+)\]/.exec(page)?.[1]?.split(", ") ?? [];
}

/** Credentials with these rights on Leases, and whatever else a controller may need. */
async function mayOnLeases(verbs: readonly string[]): Promise<string> {
  const user = `elected-${verbs.length}`;
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const apiGroup = "rbac.authorization.k8s.io";
  const rules = [
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs },
    { apiGroups: ["", "events.k8s.io"], resources: ["*"], verbs: ["*"] },
  ];
  const [role, binding] = [`${rbac}/clusterroles`, `${rbac}/clusterrolebindings`];
  await harness.kube.create(role, {
    apiVersion: `${apiGroup}/v1`,
    kind: "ClusterRole",
    metadata: { name: user },
    rules,
  });
  onTestFinished(() => harness.kube.delete(`${role}/${user}`));
  await harness.kube.create(binding, {
    apiVersion: `${apiGroup}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: user },
    subjects: [{ kind: "User", name: user, apiGroup }],
    roleRef: { kind: "ClusterRole", name: user, apiGroup },
  });
  onTestFinished(() => harness.kube.delete(`${binding}/${user}`));
  return (await harness.controlPlane.kubeconfigFor(user)).path;
}

describe("two controllers with only the documented permissions on the Lease", () => {
  test.each([
    { title: "all of them", withheld: [], isWatched: true },
    { title: "all but watch", withheld: ["watch"], isWatched: false },
  ])("hand over with $title", async ({ withheld, isWatched }) => {
    const verbs = (await documentedVerbs()).filter((verb) => !withheld.includes(verb));
    const kubeconfigPath = await mayOnLeases(verbs);
    const first = harness.startController({ kubeconfigPath, args: SHORT_LEASE });
    await first.said(/Became leader/);
    const second = harness.startController({ kubeconfigPath, args: SHORT_LEASE });
    await second.said(/Waiting for leadership/);
    // One that it has seen.
    await renewals(harness.kube, 2);
    expect(await first.stop("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(first.output).toContain("Leadership released");
    await second.said(/Became leader/);
    expect(second.output.includes("Could not watch the Lease; polling it")).toBe(!isWatched);
    expect(first.output + second.output).not.toMatch(/Could not (?:acquire or renew|release|annotate) the Lease/);
  });
});
