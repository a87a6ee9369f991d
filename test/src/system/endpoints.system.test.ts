import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { at } from "../support/kube.ts";
import type { Program } from "../support/program.ts";
import { type Credentials, fetchPage, freePort } from "../support/secure-page.ts";
import { World } from "./support/world.ts";

const READER = "page-reader";
const STRANGER = "page-stranger";

let controlPlane: ControlPlane;
let world: World;
let controller: Program;
let port: number;
/** What each caller presents. */
let callers: Readonly<Record<string, Credentials>>;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  world = await World.start(controlPlane);
  await world.startSidecar();
  await allowToRead(READER, ["/metrics", "/configz"]);
  callers = {
    nobody: {},
    "a token that is none": { token: "none-of-this-cluster" },
    "a token without rights": { token: await tokenOf(STRANGER) },
    "a token with rights": { token: await tokenOf(READER) },
    "a certificate without rights": await certificateOf("somebody"),
    "an administrator's certificate": await certificateOf("root", "system:masters"),
    "headers of no proxy": { headers: { "x-remote-user": "root", "x-remote-group": "system:masters" } },
    "a user's certificate and a proxy's headers": {
      ...(await certificateOf("somebody")),
      headers: { "x-remote-user": "root", "x-remote-group": "system:masters" },
    },
  };
  port = await freePort();
  controller = world.startController({ args: [`--secure-port=${port}`, "--bind-address=127.0.0.1"] });
  await controller.said(/Became leader/);
  await eventually("the controller to be ready", 60_000, async () =>
    (await status("/readyz", "nobody")) === 200 ? true : undefined,
  );
  await eventually("client certificates to be believed", 60_000, async () =>
    (await status("/metrics", "an administrator's certificate")) === 200 ? true : undefined,
  );
}, 60 * 60_000);

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await controlPlane.stop();
});

async function status(path: string, caller: string): Promise<number> {
  const page = await fetchPage(port, path, callers[caller]);
  return page.status;
}

async function certificateOf(user: string, ...groups: readonly string[]): Promise<Credentials> {
  const { client } = await controlPlane.kubeconfigFor(user, groups);
  return { certificate: client.certificate, key: client.key };
}

async function tokenOf(name: string): Promise<string> {
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await world.kube.create(accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
  return String(at(await world.kube.create(`${accounts}/${name}/token`, request), "status", "token"));
}

async function allowToRead(name: string, paths: readonly string[]): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const apiVersion = "rbac.authorization.k8s.io/v1";
  await world.kube.create(`${rbac}/clusterroles`, {
    apiVersion,
    kind: "ClusterRole",
    metadata: { name },
    rules: [{ nonResourceURLs: paths, verbs: ["get"] }],
  });
  await world.kube.create(`${rbac}/clusterrolebindings`, {
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name, namespace: "default" }],
  });
}

describe("the pages over TLS", () => {
  // /healthz, /livez and /readyz need no asking; /version is everybody's by Kubernetes' own role system:public-info-viewer.
  const all = { healthz: 200, livez: 200, readyz: 200, version: 200 };
  const closed = {
    metrics: 403,
    "metrics/slis": 403,
    configz: 403,
    flagz: 403,
    statusz: 403,
    "debug/controllers": 403,
    "debug/providers": 403,
    nowhere: 403,
  };
  const open = {
    metrics: 200,
    "metrics/slis": 200,
    configz: 200,
    flagz: 200,
    statusz: 200,
    "debug/controllers": 200,
    "debug/providers": 200,
    nowhere: 404,
  };
  const refused = { healthz: 401, livez: 401, readyz: 401, version: 401 };

  test.each([
    ["nobody", { ...all, ...closed }],
    ["a token that is none", { ...refused, metrics: 401, configz: 401, flagz: 401, statusz: 401, nowhere: 401 }],
    ["a token without rights", { ...all, ...closed }],
    ["a token with rights", { ...all, ...closed, metrics: 200, configz: 200 }],
    ["a certificate without rights", { ...all, ...closed }],
    ["an administrator's certificate", { ...all, ...open }],
    ["headers of no proxy", { ...all, ...closed }],
    ["a user's certificate and a proxy's headers", { ...all, ...closed }],
  ])("answer %s as the API server would", async (caller, expected) => {
    const statuses: Record<string, number> = {};
    for (const name of Object.keys(expected)) statuses[name] = await status(`/${name}`, caller);
    expect(statuses).toEqual(expected);
  });

  test("judge the path that the router sees, however it is written", async () => {
    expect({
      encoded: await status("/%6detrics", "nobody"),
      climbing: await status("/healthz/../metrics", "nobody"),
      malformed: await status("/%zz", "nobody"),
    }).toEqual({ encoded: 403, climbing: 403, malformed: 400 });
  });

  test("say who may not do what", async () => {
    const { text } = await fetchPage(port, "/metrics", callers["a certificate without rights"]);
    expect(JSON.parse(text)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'forbidden: User "somebody" cannot get path "/metrics"',
      reason: "Forbidden",
      code: 403,
    });
  });

  test("show the settings in force in upstream's shape", async () => {
    const { text } = await fetchPage(port, "/configz", callers["an administrator's certificate"]);
    expect(JSON.parse(text)).toMatchObject({
      "cloudcontrollermanager.config.k8s.io": {
        Generic: { Port: port, LeaderElection: { LeaderElect: true, LeaseDuration: "15s" } },
        KubeCloudShared: { ClusterName: "kubernetes" },
      },
    });
  });

  test("show what each controller is at", async () => {
    const administrator = callers["an administrator's certificate"];
    const [list, one, unknown] = await Promise.all([
      fetchPage(port, "/debug/controllers", administrator),
      fetchPage(port, "/debug/controllers/cloud-node", administrator),
      fetchPage(port, "/debug/controllers/nobody", administrator),
    ]);
    expect(JSON.parse(list.text)).toMatchObject([
      { name: "cloud-node-controller", state: "running", workers: expect.any(Number) },
      { name: "cloud-node-lifecycle-controller", state: "running" },
      { name: "service-lb-controller", state: "running" },
      { name: "node-route-controller", state: "off" },
      { name: "node-ipam-controller", state: "disabled" },
      { name: "kubelet-serving-csr-approver", state: "disabled" },
      { name: "persistent-volume-label-controller", state: "disabled" },
    ]);
    expect(JSON.parse(one.text)).toMatchObject({
      name: "cloud-node-controller",
      working: { count: 0, first: [] },
      recent: expect.any(Array),
    });
    expect(unknown).toEqual({ status: 404, text: "there is no nobody\n" });
  });

  test("tell a person what runs", async () => {
    const administrator = callers["an administrator's certificate"];
    const [flags, state] = await Promise.all([
      fetchPage(port, "/flagz", administrator),
      fetchPage(port, "/statusz", administrator),
    ]);
    expect(flags.text).toContain("\nleader-elect=true\n");
    expect(state.text).toMatch(/\nVersion: \S+\nLeader: yes\nProviders: all usable\n/);
  });
});
