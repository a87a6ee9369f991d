import { type Fixtures, runConformance } from "@cloudwire/conformance";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Site } from "./support/site.ts";

const RUN_MS = 900_000;
/** Other tests run beside: how fast the provider is is not measured here. */
const SLOW_FACTOR = 5;

const fixtures: Fixtures = {
  instance: {
    providerId: "baremetal://id-node-1",
    nodeName: "node-1",
    type: "metal-1",
    zone: "rack-1",
    region: "home",
    addresses: ["10.50.0.11", "fd50::11"],
  },
  otherInstance: { providerId: "baremetal://id-node-2", nodeName: "node-2" },
  absentProviderId: "baremetal://id-node-9",
  malformedIds: ["baremetal://NODE 1/.."],
};

let site: Site;
beforeAll(async () => {
  site = await Site.create();
});
afterAll(() => site[Symbol.asyncDispose]());

test(
  "the provider keeps the contract and leaves nothing on the gateway",
  async () => {
    const provider = await site.startProvider();
    const left: string[] = ["it was not cleaned up"];
    const report = await runConformance({
      endpoint: `unix://${site.socket}`,
      fixtures,
      level: "M",
      slowFactor: SLOW_FACTOR,
      onCleanUp: (outcome) => left.splice(0, 1, ...outcome.left),
    });
    await provider.stop();
    const fine = new Set(["pass", "skip"]);
    const failed = report.results.filter(({ verdict }) => !fine.has(verdict.kind));
    expect(failed.map(({ id, verdict }) => [id, JSON.stringify(verdict)])).toEqual([]);
    expect(left).toEqual([]);
    const verdicts = Object.fromEntries(report.profiles.map(({ name, verdict }) => [name, verdict]));
    expect(verdicts).toMatchObject({ core: "conformant", loadbalancer: "conformant", routes: "conformant" });
    expect(await site.onGateway("nft", "list", "tables")).toBe("");
    expect(await site.onGateway("ip", "route", "show", "proto", "77")).toBe("");
  },
  RUN_MS,
);
