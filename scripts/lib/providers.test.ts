import { expect, test } from "vitest";
import { parseProvider, readProviders } from "./providers.ts";

const manifest = { name: "aws", language: "typescript", entry: "src/main.ts", chart: { example: "aws.yaml" } };

test("readProviders() finds the providers of this repository", () => {
  expect(readProviders().map(({ name }) => name)).toEqual(["aws", "baremetal", "openstack", "simulated"]);
});

test.each([
  [
    "a name that is not its directory's",
    { name: "azure" },
    "providers/aws/provider.json: name must be that of its directory",
  ],
  ["no entry", { entry: undefined }, "providers/aws/provider.json: entry must be a text"],
  ["no chart", { chart: undefined }, "providers/aws/provider.json: chart.example must be a text"],
])("parseProvider() refuses %s", (_sentence, change, message) => {
  expect(() => parseProvider(JSON.stringify({ ...manifest, ...change }), "providers/aws")).toThrow(message);
});
