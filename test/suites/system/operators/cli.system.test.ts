import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, runCli } from "../../../support/cli.ts";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import { freePort } from "../../../support/secure-page.ts";
import { GROWN, Harness } from "../support/harness.ts";

const ROLE = fileURLToPath(new URL("../../../../deploy/manifests/rbac-status-reader.yaml", import.meta.url));

const NODES = Array.from({ length: 8 }, (_, index) => `m-${index}`);
/** More than the circuit breaker lets pass at once. */
const DEAD = NODES.slice(0, 5);

let controlPlane: ControlPlane;
let harness: Harness;
let directory: string;
let server: string;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  harness = await Harness.start(controlPlane);
  directory = await mkdtemp(join(tmpdir(), "cli-system-"));
  await harness.createMachines(NODES.map((name) => ({ name, zone: "north-a" })));
  for (const name of NODES) await harness.registerNode(name, GROWN);
  await harness.startSidecar();
  const port = await freePort();
  server = `https://127.0.0.1:${port}`;
  const pages = [`--secure-port=${port}`, "--bind-address=127.0.0.1"];
  const quick = ["--node-monitor-period=1s", "--node-deletion-confirmation-period=1s"];
  const controller = harness.startController({ args: [...pages, ...quick] });
  await controller.said(/Became leader/, 60_000);
  await harness.createService("web", 8484);
  await harness.addressed("web");
  await Promise.all(NODES.map((name) => harness.initialized(name)));
  // The role that operators get, and nothing else.
  await controlPlane.kubectl(["apply", "-f", ROLE]);
  for (const name of ["operator", "stranger"]) await writeFile(join(directory, name), await tokenOf(name));
  const subject = "--serviceaccount=default:operator";
  await controlPlane.kubectl([
    "create",
    "clusterrolebinding",
    "operator",
    "--clusterrole=cloudwire:status-reader",
    subject,
  ]);
}, 60 * 60_000);
afterAll(async () => {
  await harness?.[Symbol.asyncDispose]();
  await controlPlane?.stop();
  await rm(directory, { recursive: true, force: true });
}, 120_000);

async function tokenOf(name: string): Promise<string> {
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await harness.kube.create(accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
  return String(at(await harness.kube.create(`${accounts}/${name}/token`, request), "status", "token"));
}

/** As the ServiceAccount that has the role, or as another one. */
const ask = (line: string, token = "operator"): Promise<Ended> =>
  runCli([
    ...line.split(" "),
    "--server",
    server,
    "--insecure-skip-tls-verify",
    "--token-file",
    join(directory, token),
  ]);

describe("the command line, to who may read the status page and nothing else", () => {
  test("explains a Node and a Service that are as they should be", async () => {
    const node = await eventually("the node to be well", 60_000, async () => {
      const ended = await ask("explain node/m-7");
      return /^node\/m-7 {2}ok\n/.test(ended.out) ? ended : undefined;
    });
    expect(node).toEqual({ code: 0, out: expect.stringMatching(/ met {2}taint .*uninitialized removed\n/), err: "" });
    expect(node.out).toMatch(/\nReported by \S+ \(leader\), version \d/);
    const service = await eventually("the service to be well", 60_000, async () => {
      const ended = await ask("explain service default/web");
      return /^service\/default\/web {2}ok\n/.test(ended.out) ? ended : undefined;
    });
    expect(service).toEqual({
      code: 0,
      out: expect.stringMatching(/\bEnsureLoadBalancer +OK +to simulated, /),
      err: "",
    });
  });

  test("gives programs what the endpoint says", async () => {
    const { out } = await ask("explain provider/simulated -o json");
    expect(JSON.parse(out)).toMatchObject({ object: "provider/simulated", state: "ok", replica: { isLeader: true } });
  });

  test("knows nothing of what is nowhere, and says what may be meant", async () => {
    const { code, out, err } = await ask("explain service/m/web");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^cloudwire: service\/m\/web does not exist; did you mean service\/default\/web\? Check the name /,
    );
    const json = await ask("explain node/m7 -o json");
    expect([json.code, json.err]).toEqual([1, expect.stringContaining("; did you mean node/m-7?")]);
    expect(JSON.parse(json.out)).toMatchObject({ exists: false, causes: [{ reason: "NotFound" }] });
  });

  test("says how everything stands", async () => {
    const { code, out, err } = await ask("status");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^cluster \S+\n/);
    expect(out).toMatch(/\n {2}node +8 +0 +0 +0 +0\n/);
    expect(out).toMatch(/\n {2}cloud-node-controller +running /);
    expect(out).toMatch(/\n {2}simulated {2}ready, connection ready, unix:/);
  });

  test("lists objects, by kind, state and text", async () => {
    const { code, out, err } = await ask("list nodes --state ok,blocked");
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "object",
      ...NODES.map((name) => `node/${name}`).toSorted(),
      "",
    ]);
    expect(await ask("list services --search default/web")).toEqual({
      code: 0,
      out: expect.stringMatching(/\nservice\/default\/web +ok +simulated +\S/),
      err: "",
    });
    expect(await ask("list --state blocked")).toEqual({ code: 0, out: "No objects.\n", err: "" });
  });

  test("knows names for a shell", async () => {
    const words = [
      "explain",
      "--server",
      server,
      "--insecure-skip-tls-verify",
      "--token-file",
      join(directory, "operator"),
      "node/m-",
    ];
    const { out } = await runCli(["__complete", "--", ...words]);
    expect(out.trimEnd().split("\n").toSorted()).toEqual([":4", ...NODES.map((name) => `node/${name}`)]);
  });

  test("finds no orphans, and reports an unknown plan outside of observe mode", async () => {
    expect(await ask("orphans")).toEqual({ code: 0, out: expect.stringMatching(/^No orphans: /), err: "" });
    expect(await ask("plan")).toEqual({
      code: 4,
      out: expect.stringMatching(/^Unknown: this controller is not in observe mode/),
      err: "",
    });
  });
});

test("reports which rule a user without the role lacks", async () => {
  const rule = 'you need a ClusterRole with the rule {nonResourceURLs: ["/debug/overview"], verbs: [get]}';
  expect(await ask("status", "stranger")).toEqual({ code: 1, out: "", err: expect.stringContaining(rule) });
  const explain = await ask("explain node/m-7", "stranger");
  expect(explain).toEqual({ code: 1, out: "", err: expect.stringContaining('nonResourceURLs: ["/debug/explain"]') });
});

test("by kubeconfig it finds who leads, and says that it is no pod where it is none", async () => {
  const { code, err } = await runCli(["status", "--kubeconfig", controlPlane.kubeconfigPath]);
  expect([code, err]).toEqual([1, expect.stringContaining(`${hostname()}_`)]);
  expect(err).toContain(
    `no running pod in kube-system has hostname ${hostname()} or the labels of a cloud-controller-manager; specify it with --pod`,
  );
});

test("approves deletions as a user who may patch Nodes, and deletes no other Nodes", async () => {
  await controlPlane.kubectl(["create", "clusterrole", "approver", "--verb=patch", "--resource=nodes"]);
  await controlPlane.kubectl(["create", "clusterrolebinding", "approver", "--clusterrole=approver", "--user=approver"]);
  const { path: kubeconfig } = await controlPlane.kubeconfigFor("approver", []);
  const approve = (line: string) => ask(`approve node-deletion ${line} --kubeconfig ${kubeconfig}`.replace("  ", " "));
  const signal = AbortSignal.timeout(10_000);
  const { items } = await harness.cloud.listInstances({ pageSize: 100, consistent: true }, signal);
  await harness.cloud.terminateInstances(
    items.filter(({ name }) => DEAD.includes(name)).map(({ id }) => id),
    signal,
  );
  for (const name of DEAD) await harness.reportReady(name, "Unknown");

  const blocked = await eventually("the circuit breaker to block all of them", 60_000, async () => {
    const ended = await approve("");
    return ended.out.startsWith(`Deletion of ${DEAD.length} Nodes is blocked by the circuit breaker:\n`)
      ? ended
      : undefined;
  });
  expect([blocked.code, DEAD.filter((name) => !blocked.out.includes(`\n  ${name}  simulated  `))]).toEqual([0, []]);
  expect((await ask("explain node/m-0")).out).toMatch(
    /^node\/m-0 {2}blocked\n[^]*\n {2}TooManyNodeDeletions: [^]*cloudwire approve node-deletion/,
  );
  expect((await ask("status")).out).toMatch(/\nAlarms\n {2}provider\/simulated: TooManyNodeDeletions: /);

  expect(await approve("m-0 m-7 --yes")).toMatchObject({
    code: 1,
    err: expect.stringContaining("m-7 is not blocked by the circuit breaker"),
  });
  expect(await approve("--all")).toMatchObject({
    code: 1,
    err: expect.stringContaining("cannot ask for confirmation"),
  });
  expect((await harness.kube.items("/api/v1/nodes")).length).toBe(NODES.length);

  expect(await approve("--all --yes")).toMatchObject({
    code: 0,
    err: "",
    out: expect.stringContaining("\napproved m-0\n"),
  });
  await eventually("the dead to go", 60_000, async () =>
    (await harness.kube.items("/api/v1/nodes")).length === NODES.length - DEAD.length ? true : undefined,
  );
  const gone = await ask(`explain node/${DEAD[0]}`);
  expect(gone).toEqual({ code: 0, out: expect.stringContaining("\n  Deleted: "), err: "" });
  const left = await harness.kube.items("/api/v1/nodes");
  expect(left.map((node) => at(node, "metadata", "name"))).toEqual(NODES.slice(DEAD.length));
});
