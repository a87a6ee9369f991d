import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureRequest, type ProviderClient, serviceRef } from "@cloudwire/provider-sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { nodeIds, Site } from "./support/site.ts";

const NODE_PORT = 30_080;
const WAIT_MS = 60_000;

let site: Site;
let client: ProviderClient;

beforeAll(async () => {
  site = await Site.create();
  const directory = site.directory;
  const socket = join(directory, "gateway.ctl");
  await site.writeConfig({
    pools: "- { name: default, ranges: [203.0.113.10-203.0.113.20], announce: bgp }",
    more: `bird: { include: ${join(directory, "cloudwire.conf")}, socket: ${socket} }`,
  });
  const { gateway, client: outside } = site.topology;
  await startBird(gateway, "gateway", [
    "router id 10.60.0.1;",
    `include "${join(directory, "cloudwire*.conf")}";`,
    "protocol bgp to_client { local 10.60.0.1 as 64512; neighbor 10.60.0.2 as 64513;",
    '  connect delay time 1; connect retry time 1; ipv4 { import none; export where proto = "cloudwire4"; next hop self; }; }',
  ]);
  await startBird(outside, "outside", [
    "router id 10.60.0.2;",
    "protocol kernel { ipv4 { import none; export all; }; }",
    "protocol bgp to_gateway { local 10.60.0.2 as 64513; neighbor 10.60.0.1 as 64512;",
    "  connect delay time 1; connect retry time 1; ipv4 { import all; export none; }; }",
  ]);
  // Only BGP leads to the gateway's addresses.
  await site.topology.run(outside, "ip", "route", "del", "default");
  await Promise.all(site.topology.nodes.map((node) => site.topology.serve(node, [NODE_PORT])));
  await site.startProvider();
  client = site.client();
});
afterAll(() => site[Symbol.asyncDispose]());

async function startBird(namespace: string, name: string, config: readonly string[]): Promise<void> {
  const path = join(site.directory, `${name}.bird`);
  await writeFile(path, [...config, "protocol device {}", ""].join("\n"));
  const control = join(site.directory, `${name}.ctl`);
  const bird = site.topology.launch(namespace, ["bird", "-f", "-c", path, "-s", control]);
  await eventually(
    `BIRD ${name} to answer`,
    WAIT_MS,
    () => site.topology.run(namespace, "birdc", "-s", control, "show", "status").catch(() => undefined),
    () => bird.output,
  );
}

const learned = async (): Promise<string> =>
  site.topology.run(site.topology.client, "ip", "route", "show", "proto", "bird");

test("an address is announced by BGP for as long as its load balancer is there", async () => {
  const request = ensureRequest({ service: "default/web", ports: [80], nodes: nodeIds(1, 2) });
  const { loadBalancer } = await client.ensureLoadBalancer(request);
  expect(loadBalancer?.ingress?.items).toMatchObject([{ ip: "203.0.113.10" }]);
  await eventually("the route to be learned", WAIT_MS, async () =>
    (await learned()).includes("203.0.113.10 via 10.60.0.1") ? true : undefined,
  );
  await site.topology.askUntil(["node-1", "node-2"], site.topology.client, "tcp", "203.0.113.10", 80);
  await client.deleteLoadBalancer({ service: serviceRef("default/web") });
  await eventually("the route to be withdrawn", WAIT_MS, async () => ((await learned()) === "" ? true : undefined));
});
