import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import { Route } from "@cloudwire/proto/cloudprovider/v1/route";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { CreatedResourcesFile } from "../suite/created-resources-file.ts";
import { Caller } from "../endpoint/caller.ts";
import { CreatedResources } from "../suite/created-resources.ts";
import { methods } from "../contract/methods.ts";
import { serveReference } from "../reference/provider.ts";
import { Connection } from "../endpoint/connection.ts";
import { parseEndpoint } from "../endpoint/endpoint.ts";
import { program } from "../cli/program.ts";

let reference: Awaited<ReturnType<typeof serveReference>>;
let connection: Connection;
beforeAll(async () => {
  reference = await serveReference();
  connection = new Connection(parseEndpoint(reference.endpoint));
});
afterAll(async () => {
  connection.close();
  await reference.close();
});

const scopeId = "account-1";
const contextOf = (id: string) => ({ cluster: { id, name: id }, scopeId });
const change = () => ({ requestId: randomUUID(), trigger: "test" });

/** Makes a load balancer and a route with a cluster's ownership tag, as a run does; `file` gets the run's list. */
const make = async (clusterId: string, range: string, file?: CreatedResourcesFile): Promise<void> => {
  const resources = new CreatedResources(clusterId, (entry) => file?.add(entry));
  const caller = new Caller({ connection, changes: resources });
  const context = contextOf(clusterId);
  const balancer = await caller.call(methods.ensureLoadBalancer, {
    context,
    change: change(),
    service: { namespace: "n", name: "s", uid: randomUUID() },
    spec: { ports: [{ name: "p", protocol: 1, port: 80, nodePort: 30_080 }] },
    specFingerprint: "f",
    nodes: { fingerprint: "none", count: 0, source: { $case: "inline", value: { nodes: [] } } },
  });
  const routes = [{ destinationCidr: range, targetProviderId: "acme://m-1", targetNodeName: "node-1" }];
  const route = await caller.call(methods.batchEnsureRoutes, { context, change: change(), routes });
  expect([balancer.kind, route.kind]).toEqual(["ok", "ok"]);
};

/** How many resources have a cluster's ownership tag. */
const count = async (clusterId: string): Promise<readonly number[]> => {
  const [caller, context] = [new Caller({ connection }), contextOf(clusterId)];
  const balancers = await caller.call(methods.listLoadBalancers, { context, pageSize: 0 });
  const routes = await caller.call(methods.listRoutes, { context, pageSize: 0 });
  if (balancers.kind !== "ok" || routes.kind !== "ok") throw new Error("the reference cannot list");
  return [balancers.response.loadBalancers.length, routes.response.routes.length];
};

const kit = async (...args: readonly string[]) => {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await program(["cleanup", ...args, "--endpoint", reference.endpoint], {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    terminal: false,
    random: () => 0.5,
    signal: new AbortController().signal,
  });
  return { code, out: out.join(""), err: err.join("") };
};

const temporaryDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-tags-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

test("cleanup --run-id removes what has the run's ownership tag, and nothing else", async () => {
  const [run, otherRun, directory] = [randomUUID(), randomUUID(), await temporaryDirectory()];
  await make(`conformance-${run}`, "198.18.0.0/24");
  await make(`conformance-${run}-other`, "198.18.1.0/24");
  await make(`conformance-${otherRun}`, "198.18.2.0/24");
  await make("production", "198.18.3.0/24");
  const { code, out, err } = await kit("--run-id", run, directory);
  expect({ code, out, err }).toEqual({
    code: 0,
    out: `4 resources with the ownership tag of run ${run} are removed; none is left\n`,
    err: "",
  });
  expect(await count(`conformance-${run}`)).toEqual([0, 0]);
  expect(await count(`conformance-${run}-other`)).toEqual([0, 0]);
  expect(await count(`conformance-${otherRun}`)).toEqual([1, 1]);
  expect(await count("production")).toEqual([1, 1]);
});

test("cleanup --all-older-than takes the lists of runs that are old enough, from any depth of a directory", async () => {
  const [old, young, directory] = [randomUUID(), randomUUID(), await temporaryDirectory()];
  const oldFile = new CreatedResourcesFile(join(directory, "old", "resources.jsonl"));
  const youngFile = new CreatedResourcesFile(join(directory, `cloudwire-conformance-${young}.jsonl`));
  await make(`conformance-${old}`, "198.18.4.0/24", oldFile);
  // This is in no list: only its ownership tag identifies it.
  await make(`conformance-${old}-other`, "198.18.5.0/24");
  await make(`conformance-${young}`, "198.18.6.0/24", youngFile);
  for (const file of [oldFile, youngFile]) file.close(false);
  const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
  await utimes(oldFile.path, twoDaysAgo, twoDaysAgo);

  const { code, out } = await kit("--all-older-than", "24h", directory);
  expect(out).toBe(`nothing is left of the 2 things in ${oldFile.path}, which is removed, too\n`);
  expect(code).toBe(0);
  expect([existsSync(oldFile.path), existsSync(youngFile.path)]).toEqual([false, true]);
  expect([await count(`conformance-${old}`), await count(`conformance-${old}-other`)]).toEqual([
    [0, 0],
    [0, 0],
  ]);
  expect(await count(`conformance-${young}`)).toEqual([1, 1]);
  expect((await kit("--all-older-than", "24h", directory)).out).toBe("no run has left a list that is old enough\n");
});

test("cleanup takes a range that the provider refuses to route for one that was never made", async () => {
  const [id, directory] = [`conformance-${randomUUID()}`, await temporaryDirectory()];
  const file = new CreatedResourcesFile(join(directory, "resources.jsonl"));
  await make(id, "198.18.7.0/24", file);
  const refused = { destinationCidr: "198.18.8.1/24", targetProviderId: "acme://m-1", targetNodeName: "node-1" };
  file.add({ kind: "route", context: CallContext.fromPartial(contextOf(id)), route: Route.fromPartial(refused) });
  file.close(false);
  const { code, out } = await kit(file.path);
  expect(out).toBe(`nothing is left of the 3 things in ${file.path}, which is removed, too\n`);
  expect(code).toBe(0);
  expect(await count(id)).toEqual([0, 0]);
}, 60_000);

test("cleanup takes one run, or all that are old", async () => {
  expect(await kit("--run-id", "x", "--all-older-than", "1h")).toMatchObject({
    code: 2,
    err: "cloudwire-conformance: give either --run-id or --all-older-than: one run, or all that are old\n",
  });
  expect(await kit("--all-older-than", "1h", "/nowhere/at/all")).toMatchObject({
    code: 2,
    err: expect.stringContaining("the directory /nowhere/at/all cannot be searched"),
  });
});
