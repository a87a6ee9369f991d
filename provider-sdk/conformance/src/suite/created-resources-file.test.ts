import { existsSync } from "node:fs";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import { ServiceRef } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { Route } from "@cloudwire/proto/cloudprovider/v1/route";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CreatedResource } from "./created-resources.ts";
import { CreatedResourcesFile, readCreatedResources } from "./created-resources-file.ts";

const context = CallContext.fromPartial({ cluster: { id: "conformance-1", name: "c" }, scopeId: "account-1" });
const entries: readonly CreatedResource[] = [
  {
    kind: "loadBalancer",
    context,
    service: ServiceRef.fromPartial({ uid: "u", namespace: "n", name: "s" }),
    class: "acme.example.com/small",
    annotations: { "acme.example.com/network": "test" },
  },
  { kind: "route", context, route: Route.fromPartial({ destinationCidr: "192.0.2.0/24" }) },
];

const resourcesPath = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-resources-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "new", "resources.jsonl");
};

describe("CreatedResourcesFile", () => {
  test("keeps each entry from the moment that it is added, and a crash's half line is none", async () => {
    const path = await resourcesPath();
    const resources = new CreatedResourcesFile(path);
    expect(readCreatedResources(path)).toBeUndefined();
    for (const entry of entries) resources.add(entry);
    await appendFile(path, '{"kind":"rou');
    expect(readCreatedResources(path)).toEqual(entries);
    resources.close(false);
    expect(await readFile(path, "utf8")).toMatch(/^\{"kind":"loadBalancer",.*\}\n\{"kind":"route",.*\}\n/);
  });

  test("goes when nothing is left, and is never there when nothing was made", async () => {
    const path = await resourcesPath();
    const empty = new CreatedResourcesFile(path);
    empty.close(true);
    const resources = new CreatedResourcesFile(path);
    for (const entry of entries) resources.add(entry);
    resources.close(true);
    expect(existsSync(path)).toBe(false);
  });

  test("does not write into another run's list", async () => {
    const path = await resourcesPath();
    const first = new CreatedResourcesFile(path);
    for (const entry of entries) first.add(entry);
    first.close(false);
    const second = new CreatedResourcesFile(path);
    expect(() => entries.map(second.add)).toThrow("EEXIST");
  });
});

describe("readCreatedResources()", () => {
  test.each([
    ["hello\n", /line 1: .*JSON/],
    [
      '{"kind":"route","context":{"cluster":{"id":"production"}}}\n',
      /line 1: cluster "production" is none of the kit's/,
    ],
    ['{"kind":"node","context":{"cluster":{"id":"conformance-1"}}}\n', /neither a route nor a load balancer/],
  ])("refuses %j", async (text, wanted) => {
    const path = `${await resourcesPath()}.txt`.replace("/new/", "/");
    await writeFile(path, text);
    expect(() => readCreatedResources(path)).toThrow(wanted);
  });
});
