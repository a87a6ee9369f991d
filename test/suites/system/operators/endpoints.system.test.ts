import { readFile } from "node:fs/promises";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { type Credentials, fetchPage, freePort, type Page } from "../../../support/secure-page.ts";
import { RotatingFiles } from "../support/rotating-files.ts";
import { Harness } from "../support/harness.ts";

/** The level of the log that a harness starts controllers with: setting it changes nothing. */
const LEVEL = "4";
const PUT_LEVEL = "PUT /debug/flags/v";
/** Holds every text in the process, credentials too. */
const HEAP = "GET /debug/pprof/heap";

// The first three need no asking; /version is everybody's by Kubernetes' own role system:public-info-viewer.
const PUBLIC = ["GET /healthz", "GET /livez", "GET /readyz", "GET /version"];
const GUARDED = [
  "GET /healthz/ping",
  "GET /livez/leaderElection",
  "GET /readyz/provider",
  "GET /metrics",
  "GET /metrics/slis",
  "GET /configz",
  "GET /flagz",
  "GET /statusz",
  "GET /debug/controllers",
  "GET /debug/controllers/cloud-node",
  "GET /debug/explain?object=node/absent",
  "GET /debug/orphans",
  "GET /debug/providers",
  "GET /debug/plans",
  "GET /debug/overview",
  "GET /debug/objects?kind=provider",
  "GET /debug/explain?object=provider/simulated",
  "GET /debug/orphans",
  "GET /debug/pprof/profile?seconds=1",
  HEAP,
  PUT_LEVEL,
  "GET /nowhere",
];

type Statuses = Readonly<Record<string, number>>;

function each(requests: readonly string[], status: number): Statuses {
  return Object.fromEntries(requests.map((request) => [request, status]));
}

const NOTHING = each([...PUBLIC, ...GUARDED], 401);
const WHAT_IS_PUBLIC = { ...each(PUBLIC, 200), ...each(GUARDED, 403) };
const EVERYTHING = { ...each([...PUBLIC, ...GUARDED], 200), "GET /nowhere": 404 };

const ROOT_BY_HEADERS = { "x-remote-user": "root", "x-remote-group": "system:masters" };

let controlPlane: ControlPlane;
let harness: Harness;
let controller: Program;
let port: number;
/** What each caller presents. */
let callers: Readonly<Record<string, Credentials>>;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  harness = await Harness.start(controlPlane);
  await harness.startSidecar({ args: ["--cloud-call-rate=500:50"] });
  await allow(account("page-reader"), ["/metrics", "/configz"], ["get"]);
  await allow(account("all-but-heap-reader"), GUARDED.filter((request) => request !== HEAP).map(pathOf), ["get"]);
  await allow(user("operator"), ["*"], ["get", "put"]);
  callers = {
    "an anonymous client": {},
    "a token that is none": { token: "none-of-this-cluster" },
    "a token without rights": { token: await tokenOf("stranger") },
    "a token with rights to two pages": { token: await tokenOf("page-reader") },
    "a token with rights to read all but the heap": { token: await tokenOf("all-but-heap-reader") },
    "a certificate without rights": await certificateOf("stranger"),
    "a certificate with rights": await certificateOf("operator"),
    "an administrator's certificate": await certificateOf("root", "system:masters"),
    "headers of no proxy": { headers: ROOT_BY_HEADERS },
    "a user's certificate and a proxy's headers": { ...(await certificateOf("stranger")), headers: ROOT_BY_HEADERS },
  };
  port = await freePort();
  controller = harness.startController({
    args: [
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      // Nothing else happens while the heap is written, which takes seconds; the leader has to be one still afterwards.
      "--leader-elect-lease-duration=90s",
      "--leader-elect-renew-deadline=60s",
    ],
  });
  await controller.said(/Became leader/);
  await eventually("the controller to be ready", 60_000, async () =>
    (await status("GET /readyz", "an anonymous client")) === 200 ? true : undefined,
  );
  await eventually("client certificates to be believed", 60_000, async () =>
    (await status("GET /metrics", "an administrator's certificate")) === 200 ? true : undefined,
  );
}, 60 * 60_000);

afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await controlPlane.stop();
});

function credentialsOf(caller: string): Credentials {
  const credentials = callers[caller];
  if (credentials === undefined) throw new Error(`there is no caller ${caller}`);
  return credentials;
}

/** @param request method and path */
async function status(request: string, caller: string): Promise<number> {
  return (await send(port, request, credentialsOf(caller))).status;
}

async function statuses(to: number, credentials: Credentials, requests: readonly string[]): Promise<Statuses> {
  const found: Record<string, number> = {};
  for (const request of requests) found[request] = (await send(to, request, credentials)).status;
  return found;
}

function send(to: number, request: string, credentials: Credentials): Promise<Page> {
  const path = request.slice(request.indexOf("/"));
  return fetchPage(to, path, credentials, request === PUT_LEVEL ? { method: "PUT", body: LEVEL } : {});
}

async function certificateOf(name: string, ...groups: readonly string[]): Promise<Credentials> {
  const { client } = await controlPlane.kubeconfigFor(name, groups);
  return { certificate: client.certificate, key: client.key };
}

async function tokenOf(name: string): Promise<string> {
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await harness.kube.create(accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
  return String(at(await harness.kube.create(`${accounts}/${name}/token`, request), "status", "token"));
}

/** Without method and query, as RBAC knows it. */
function pathOf(request: string): string {
  return request.replace(/^\S+ |\?.*$/g, "");
}

interface Subject {
  readonly kind: "ServiceAccount" | "User";
  readonly name: string;
  readonly namespace?: string;
}

const account = (name: string): Subject => ({ kind: "ServiceAccount", name, namespace: "default" });
const user = (name: string): Subject => ({ kind: "User", name });

async function allow(subject: Subject, paths: readonly string[], verbs: readonly string[]): Promise<void> {
  const { name } = subject;
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const apiVersion = "rbac.authorization.k8s.io/v1";
  await harness.kube.create(`${rbac}/clusterroles`, {
    apiVersion,
    kind: "ClusterRole",
    metadata: { name },
    rules: [{ nonResourceURLs: paths, verbs }],
  });
  await harness.kube.create(`${rbac}/clusterrolebindings`, {
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [subject],
  });
}

describe("the pages over TLS", () => {
  test.each<[string, Statuses]>([
    ["an anonymous client", WHAT_IS_PUBLIC],
    ["a token that is none", NOTHING],
    ["a token without rights", WHAT_IS_PUBLIC],
    ["a token with rights to two pages", { ...WHAT_IS_PUBLIC, "GET /metrics": 200, "GET /configz": 200 }],
    ["a token with rights to read all but the heap", { ...EVERYTHING, [HEAP]: 403, [PUT_LEVEL]: 403 }],
    ["a certificate without rights", WHAT_IS_PUBLIC],
    ["a certificate with rights", EVERYTHING],
    ["an administrator's certificate", EVERYTHING],
    ["headers of no proxy", WHAT_IS_PUBLIC],
    ["a user's certificate and a proxy's headers", WHAT_IS_PUBLIC],
  ])("answer %s as the API server would", async (caller, expected) => {
    expect(await statuses(port, credentialsOf(caller), Object.keys(expected))).toEqual(expected);
  });

  test("check the path that the router sees, however it is written", async () => {
    expect({
      encoded: await status("GET /%6detrics", "an anonymous client"),
      climbing: await status("GET /healthz/../metrics", "an anonymous client"),
      malformed: await status("GET /%zz", "an anonymous client"),
    }).toEqual({ encoded: 403, climbing: 403, malformed: 400 });
  });

  test("say who may not do what", async () => {
    const { text } = await fetchPage(port, "/metrics", credentialsOf("a certificate without rights"));
    expect(JSON.parse(text)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'forbidden: User "stranger" cannot get path "/metrics"',
      reason: "Forbidden",
      code: 403,
    });
  });

  test("show the settings in force in upstream's shape", async () => {
    const { text } = await fetchPage(port, "/configz", credentialsOf("an administrator's certificate"));
    expect(JSON.parse(text)).toMatchObject({
      "cloudcontrollermanager.config.k8s.io": {
        Generic: { Port: port, LeaderElection: { LeaderElect: true, LeaseDuration: "1m30s" } },
        KubeCloudShared: { ClusterName: "kubernetes" },
      },
    });
  });

  test("show what each controller is at", async () => {
    const administrator = credentialsOf("an administrator's certificate");
    const [list, one, unknown] = await Promise.all([
      fetchPage(port, "/debug/controllers", administrator),
      fetchPage(port, "/debug/controllers/cloud-node", administrator),
      fetchPage(port, "/debug/controllers/unknown", administrator),
    ]);
    expect(JSON.parse(list.text)).toMatchObject([
      { name: "cloud-node-controller", state: "running", workers: expect.any(Number) },
      { name: "cloud-node-lifecycle-controller", state: "running" },
      { name: "service-lb-controller", state: "running" },
      { name: "node-route-controller", state: "notConfigured" },
      { name: "node-ipam-controller", state: "disabled" },
      { name: "kubelet-serving-csr-approver", state: "disabled" },
      { name: "persistent-volume-label-controller", state: "disabled" },
    ]);
    expect(JSON.parse(one.text)).toMatchObject({
      name: "cloud-node-controller",
      processing: { count: 0, first: [] },
      recent: expect.any(Array),
    });
    expect(unknown).toEqual({ status: 404, text: "unknown not found\n" });
  });

  test("name the checks one by one, without those left out", async () => {
    const [all, some] = await Promise.all([
      fetchPage(port, "/readyz?verbose"),
      fetchPage(port, "/readyz?verbose&exclude=provider"),
    ]);
    const lines = all.text.split("\n");
    const wanted = ["[+]provider ok", "[+]provider-simulated ok", "[+]informer-nodes ok", "readyz check passed"];
    expect(lines).toEqual(expect.arrayContaining(wanted));
    expect(some.text.split("\n")).toEqual(lines.filter((line) => line !== "[+]provider ok"));
  });

  test("show the status of each provider to an authorized client", async () => {
    const { text } = await fetchPage(port, "/debug/providers", credentialsOf("a certificate with rights"));
    expect(JSON.parse(text)).toMatchObject([
      {
        name: "simulated",
        address: `unix://${harness.socket}`,
        connection: "ready",
        ready: true,
        reasons: [],
        handshake: { name: "simulated.cloudwire.dev", scope: "simcloud/system", providerIdPrefixes: ["sim://"] },
        status: { ready: true },
        calls: { inFlight: expect.any(Number), queued: 0, limit: 64 },
        budgets: [
          {
            quotaClasses: ["instances", "load_balancers", "routes", "volumes"],
            cloudCallsPerSecond: 500,
            burst: 50,
            tokens: expect.any(Number),
          },
        ],
      },
    ]);
  });

  test("describe what runs in human-readable form", async () => {
    const administrator = credentialsOf("an administrator's certificate");
    const [flags, state] = await Promise.all([
      fetchPage(port, "/flagz", administrator),
      fetchPage(port, "/statusz", administrator),
    ]);
    expect(flags.text).toContain("\nleader-elect=true\n");
    expect(state.text).toMatch(/\nVersion: \S+\nLeader: yes\nProviders: all usable\n/);
  });
});

/** One of certificates made for tests: of `authority`, for `client`; of `authority-2`, for `client-2`. */
const fixture = (name: string): Promise<string> =>
  readFile(new URL(`../../../../controller/test/fixtures/provider-tls/${name}`, import.meta.url), "utf8");

describe("the pages of a standby with settings of its own", () => {
  let files: RotatingFiles;
  let standby: Program;
  let standbyPort: number;
  let certificate: Credentials;
  let proxy: Credentials;

  beforeAll(async () => {
    await allow(user("client"), ["/configz"], ["get"]);
    certificate = { certificate: await fixture("client.pem"), key: await fixture("client.key") };
    proxy = { certificate: await fixture("client-2.pem"), key: await fixture("client-2.key") };
    files = await RotatingFiles.create();
    // A client that is not a proxy by name must not act as one, although a proxies' authority signed its certificate.
    const authority = await fixture("authority.pem");
    await files.put({ "clients.pem": authority, "proxies.pem": `${authority}${await fixture("authority-2.pem")}` });
    standbyPort = await freePort();
    standby = harness.startController({
      args: [
        `--secure-port=${standbyPort}`,
        "--bind-address=127.0.0.1",
        "--authentication-skip-lookup",
        "--authorization-always-allow-paths=/healthz,/metrics*",
        `--client-ca-file=${files.path("clients.pem")}`,
        `--requestheader-client-ca-file=${files.path("proxies.pem")}`,
        "--requestheader-allowed-names=client-2",
      ],
    });
    await standby.said(/health=http:/);
    await eventually("client certificates to be believed", 60_000, async () =>
      (await send(standbyPort, "GET /configz", certificate)).status === 200 ? true : undefined,
    );
  });

  afterAll(() => files[Symbol.asyncDispose]());

  /** Of /configz, which user "client" may read, and of /flagz, which it may not. */
  const ofTwo = async (credentials: Credentials): Promise<readonly number[]> =>
    Object.values(await statuses(standbyPort, credentials, ["GET /configz", "GET /flagz"]));

  test("are open to everybody where --authorization-always-allow-paths says so, and nowhere else", async () => {
    // The cluster itself opens /livez and /readyz to everybody, but not what is below them.
    const open = ["GET /healthz", "GET /metrics", "GET /metrics/slis"];
    const closed = ["GET /healthz/ping", "GET /readyz/provider", "GET /configz", HEAP];
    expect(await statuses(standbyPort, {}, [...open, ...closed])).toEqual({ ...each(open, 200), ...each(closed, 403) });
  });

  test("know the certificates of --client-ca-file and not the cluster's own", async () => {
    const ofCluster = await send(standbyPort, "GET /configz", credentialsOf("an administrator's certificate"));
    expect(ofCluster.status).toBe(403);
    expect(JSON.parse(ofCluster.text)).toMatchObject({
      message: 'forbidden: User "system:anonymous" cannot get path "/configz"',
    });
    expect(await ofTwo(certificate)).toEqual([200, 403]);
  });

  test("accept headers only of a proxy that is allowed by name", async () => {
    const as = (name: string) => ({ headers: { "x-remote-user": name } });
    expect({
      "the proxy for a user with rights": await ofTwo({ ...proxy, ...as("client") }),
      "the proxy for a user without": await ofTwo({ ...proxy, ...as("stranger") }),
      "the proxy for an administrator": await ofTwo({ ...proxy, headers: ROOT_BY_HEADERS }),
      "the proxy without a user": await ofTwo(proxy),
      "a user as an administrator": await ofTwo({ ...certificate, headers: ROOT_BY_HEADERS }),
    }).toEqual({
      "the proxy for a user with rights": [200, 403],
      "the proxy for a user without": [403, 403],
      "the proxy for an administrator": [200, 200],
      "the proxy without a user": [403, 403],
      "a user as an administrator": [200, 403],
    });
  });
});
