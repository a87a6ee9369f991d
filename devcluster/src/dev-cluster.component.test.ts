import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DevCluster, type Interception, startDevCluster } from "./index.ts";

const merge = { "Content-Type": "application/merge-patch+json" };

/** A request with fetch, whose answer is JSON. */
async function ask(
  cluster: DevCluster,
  method: string,
  url: string,
  body?: unknown,
  headers: object = {},
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${cluster.url}${url}`, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

describe("startDevCluster()", () => {
  let cluster: DevCluster;

  beforeEach(async () => {
    cluster = await startDevCluster();
  });

  afterEach(async () => {
    await cluster.close();
  });

  test("has the namespaces of a fresh cluster, and an identity that never changes", () => {
    const namespaces = cluster.list("v1", "Namespace").map((namespace) => namespace["metadata"]);
    expect(namespaces).toMatchObject([
      { name: "default" },
      { name: "kube-node-lease" },
      { name: "kube-public" },
      { name: "kube-system", uid: cluster.clusterUid },
    ]);
  });

  test("seeds objects past admission and validation, with status, and reads them back", async () => {
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s", uid: "my-uid" },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
    };
    const seeded = cluster.seed(service);
    expect(seeded).toMatchObject({
      metadata: { name: "s", namespace: "default", uid: "my-uid", resourceVersion: expect.stringMatching(/^\d+$/) },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } },
    });
    expect(cluster.read("v1", "Service", "default", "s")).toEqual(seeded);
    expect((await ask(cluster, "GET", "/api/v1/namespaces/default/services/s")).body).toEqual(seeded);
    expect(cluster.read("v1", "Service", "default", "other")).toBeUndefined();
  });

  test("seed() replaces what is there, and refuses a kind it does not have", () => {
    cluster.seed({ apiVersion: "v1", kind: "Node", metadata: { name: "n", labels: { a: "1" } } });
    cluster.seed({ apiVersion: "v1", kind: "Node", metadata: { name: "n", labels: { a: "2" } } });
    expect(cluster.list("v1", "Node")).toMatchObject([{ metadata: { name: "n", labels: { a: "2" } } }]);
    expect(() => cluster.seed({ apiVersion: "apps/v1", kind: "Deployment" })).toThrow(
      "devcluster has no kind apps/v1 Deployment; it serves v1 ConfigMap",
    );
  });

  test("records every request", async () => {
    await ask(cluster, "GET", "/api/v1/nodes?limit=1", undefined, { "User-Agent": "tester" });
    await ask(cluster, "POST", "/api/v1/nodes", { metadata: { name: "n" } });
    expect(cluster.requests).toMatchObject([
      { method: "GET", path: "/api/v1/nodes?limit=1", userAgent: "tester", body: "" },
      { method: "POST", path: "/api/v1/nodes", body: '{"metadata":{"name":"n"}}' },
    ]);
    cluster.clearRequests();
    expect(cluster.requests).toEqual([]);
  });

  test("taints a new node until its kubelet says that it is ready", async () => {
    const created = await ask(cluster, "POST", "/api/v1/nodes", { metadata: { name: "n" } });
    expect(created.body).toMatchObject({
      spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] },
    });
    await ask(
      cluster,
      "PATCH",
      "/api/v1/nodes/n/status",
      { status: { conditions: [{ type: "Ready", status: "True" }] } },
      merge,
    );
    expect(cluster.read("v1", "Node", "", "n")).toMatchObject({ spec: {} });
    expect(JSON.stringify(cluster.read("v1", "Node", "", "n"))).not.toContain("not-ready");
  });

  test("compact() expires a watch of an earlier resourceVersion", async () => {
    cluster.seed({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
    cluster.compact();
    const response = await fetch(`${cluster.url}/api/v1/nodes?watch=1&resourceVersion=1`);
    expect(JSON.parse(await response.text())).toMatchObject({
      type: "ERROR",
      object: { code: 410, reason: "Expired" },
    });
  });

  test("close() ends open watches and frees the port", async () => {
    const response = await fetch(`${cluster.url}/api/v1/nodes?watch=1`);
    const reading = response.text();
    await cluster.close();
    await expect(reading).rejects.toThrow("terminated");
    const successor = await startDevCluster({ port: cluster.port });
    expect(successor.port).toBe(cluster.port);
    await successor.close();
  });

  test("answers a body of more than 3 MiB with 413", async () => {
    const data = { metadata: { name: "big" }, data: { a: "x".repeat(3 * 1024 * 1024) } };
    const { status } = await ask(cluster, "POST", "/api/v1/namespaces/default/configmaps", data);
    expect(status).toBe(413);
  });
});

describe("options of startDevCluster()", () => {
  test("intercept may answer in place of the cluster, for the faults of a test", async () => {
    let faults = 1;
    const intercept = ({ path: url }: { readonly path: string }): Interception => {
      faults -= 1;
      if (faults < 0 || !url.startsWith("/api/v1/nodes")) return { kind: "pass" };
      return { kind: "answer", answer: { status: 429, body: { kind: "Status", code: 429 } } };
    };
    const cluster = await startDevCluster({ intercept });
    const answers = [await ask(cluster, "GET", "/api/v1/nodes"), await ask(cluster, "GET", "/api/v1/nodes")];
    await cluster.close();
    expect(answers.map(({ status }) => status)).toEqual([429, 200]);
  });

  test("users sign in with tokens and are held to their rules", async () => {
    const users = [
      {
        token: "secret",
        name: "reader",
        groups: [],
        rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["list"] }],
      },
    ];
    const cluster = await startDevCluster({ users, anonymous: false });
    const as = async (token: string | undefined, method: string): Promise<number> => {
      const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      return (await ask(cluster, method, "/api/v1/nodes", method === "POST" ? {} : undefined, headers)).status;
    };
    const statuses = [
      await as("secret", "GET"),
      await as("secret", "POST"),
      await as("other", "GET"),
      await as(undefined, "GET"),
    ];
    await cluster.close();
    expect(statuses).toEqual([200, 403, 401, 401]);
  });

  test("controllers: false leaves new nodes untainted and deleted namespaces waiting", async () => {
    const cluster = await startDevCluster({ controllers: false });
    const node = await ask(cluster, "POST", "/api/v1/nodes", { metadata: { name: "n" } });
    await ask(cluster, "POST", "/api/v1/namespaces", { metadata: { name: "x" } });
    await ask(cluster, "DELETE", "/api/v1/namespaces/x");
    const namespace = await ask(cluster, "GET", "/api/v1/namespaces/x");
    await cluster.close();
    expect([node.body, namespace.body]).toMatchObject([{ spec: {} }, { status: { phase: "Terminating" } }]);
    expect(JSON.stringify(node.body)).not.toContain("taints");
  });

  test("a port that is taken is a rejection", async () => {
    const blocker = createServer();
    blocker.listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const address = blocker.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(startDevCluster({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
    blocker.close();
  });

  test("a service range that is none is a rejection", async () => {
    await expect(startDevCluster({ serviceCidr: "10.96.0.0" })).rejects.toThrow(
      'service range "10.96.0.0" is no IPv4 range',
    );
  });

  test("writeKubeconfig() writes a file for its owner alone", async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "devcluster-"));
    const cluster = await startDevCluster();
    const file = path.join(directory, "kubeconfig");
    await cluster.writeKubeconfig(file, "secret");
    const config: unknown = JSON.parse(await readFile(file, "utf8"));
    await cluster.close();
    await rm(directory, { recursive: true });
    expect(config).toMatchObject({
      clusters: [{ cluster: { server: cluster.url } }],
      users: [{ user: { token: "secret" } }],
    });
  });
});

describe("a cluster of 5,000 nodes", () => {
  test("is listed, paged and watched in little time", async () => {
    const cluster = await startDevCluster();
    const labels = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`example.com/label-${index}`, "some-value"] as const),
    );
    for (let index = 0; index < 5000; index += 1) {
      cluster.seed({ apiVersion: "v1", kind: "Node", metadata: { name: `node-${index}`, labels } });
    }
    const startedMs = performance.now();
    const list = await ask(cluster, "GET", "/api/v1/nodes");
    const names = await pagedNames(cluster);
    const events = await countEvents(cluster, 5001);
    const elapsedMs = performance.now() - startedMs;
    await cluster.close();
    expect([list.status, names.size, events]).toEqual([200, 5000, 5001]);
    // About 0.5 s alone on the machine of the first measurement (2 cores); the bound only catches what grows with the square.
    expect(elapsedMs).toBeLessThan(15_000);
  });
});

async function pagedNames(cluster: DevCluster): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  let token = "";
  do {
    const { body } = await ask(cluster, "GET", `/api/v1/nodes?limit=500&continue=${token}`);
    const text = JSON.stringify(body);
    for (const [, name = ""] of text.matchAll(/"metadata":\{"name":"([^"]+)"/g)) names.add(name);
    token = /"continue":"([^"]+)"/.exec(text)?.[1] ?? "";
  } while (token !== "");
  return names;
}

/** Lines of a WatchList until there are as many as asked for. */
async function countEvents(cluster: DevCluster, wanted: number): Promise<number> {
  const url = `${cluster.url}/api/v1/nodes?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
  return await new Promise<number>((resolve, reject) => {
    let lines = 0;
    const request = httpRequest(url, (response) => {
      response.on("data", (chunk: Buffer) => {
        lines += chunk.toString().split("\n").length - 1;
        if (lines < wanted) return;
        response.destroy();
        resolve(lines);
      });
    });
    request.on("error", reject);
    request.end();
  });
}
