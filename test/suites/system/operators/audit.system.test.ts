import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json } from "../../../support/kube.ts";
import { shareWithContainers } from "../support/containers.ts";
import { eachHarness } from "../support/each-harness.ts";
import type { Harness } from "../support/harness.ts";

const web = "/api/v1/namespaces/default/services/web";

let harness: Harness;
let directory: string;

eachHarness((fresh) => {
  harness = fresh;
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "audit-"));
  await shareWithContainers(directory);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function linesOf(path: string): Promise<readonly Json[]> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  return lines.filter((line) => line !== "").map((line): Json => JSON.parse(line));
}

test("the audit log says who changed what in the cloud for a Service, from its first day to its last", async () => {
  const path = join(directory, "audit.log");
  await harness.startSidecar();
  const controller = harness.startController({ args: [`--audit-log-path=${path}`, "--audit-events"] });
  await controller.said(/Became leader/);
  const standbyPath = join(directory, "standby.log");
  const standby = harness.startController({ args: [`--audit-log-path=${standbyPath}`] });
  await standby.said(/Started/);
  await harness.createMachines([{ name: "audited-1", zone: "north-a" }]);
  await harness.registerNode("audited-1");
  await harness.initialized("audited-1");
  const service = await harness.createService("web", 8281);
  await harness.addressed("web");
  await harness.kube.delete(web);
  await eventually("the Service to be gone", 30_000, async () =>
    (await harness.kube.find(web)) === undefined ? true : undefined,
  );
  await harness.hasEvents("Service", "web", "ProviderChange");
  await standby.stop();
  await controller.stop();

  const lines = await linesOf(path);
  const identity = { namespace: "default", name: "web", uid: at(service, "metadata", "uid") };
  expect(lines.map(({ service: recorded }) => recorded)).toEqual(lines.map(() => identity));
  expect(lines[0]).toMatchObject({
    method: "EnsureLoadBalancer",
    trigger: "service created",
    key: "default/web",
    resourceVersion: at(service, "metadata", "resourceVersion"),
  });
  expect(lines.filter(({ reconcileID }) => !controller.output.includes(`reconcileID=${String(reconcileID)}`))).toEqual(
    [],
  );
  expect(lines.at(-1)).toMatchObject({ method: "DeleteLoadBalancer", code: "OK", done: true });
  const recorded = lines.flatMap(({ cloudRequestIDs }) => (Array.isArray(cloudRequestIDs) ? cloudRequestIDs : []));
  const changed = (await harness.admin.log(10_000)).filter(({ mutating, path: of, status }) => {
    return mutating && status < 300 && of.includes("/load-balancers");
  });
  expect(changed.length).toBeGreaterThan(1);
  expect(changed.filter(({ requestId }) => !recorded.includes(requestId))).toEqual([]);
  expect(await linesOf(standbyPath)).toEqual([]);
});
