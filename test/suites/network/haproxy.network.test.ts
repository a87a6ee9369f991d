import { rename } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { ensureRequest, type ProviderClient, serviceRef } from "@cloudwire/provider-sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { Program } from "../../support/program.ts";
import { namesOf, nodeIds, Site } from "./support/site.ts";

const PORT = 80;
const NODE_PORT = 30_080;

let site: Site;
let provider: Program;
let client: ProviderClient;
let servers: readonly Program[];

beforeAll(async () => {
  site = await Site.create();
  servers = await Promise.all(site.topology.nodes.map((node) => site.topology.serve(node, [NODE_PORT])));
  provider = await site.startProvider();
  client = site.client();
});
afterEach(async () => {
  for await (const service of site.services(client)) await client.deleteLoadBalancer({ service });
});
afterAll(() => site[Symbol.asyncDispose]());

/** Makes the load balancer, or changes it; answers its address. */
const ensure = async (service: string, nodes: Readonly<Record<string, string>>, spec: object = {}): Promise<string> => {
  const { loadBalancer } = await client.ensureLoadBalancer(ensureRequest({ service, ports: [PORT], nodes, spec }));
  return loadBalancer?.ingress?.items[0]?.ip ?? "";
};

const countOf = (how: string): number => provider.output.split(`"by":"${how}"`).length - 1;

describe("a load balancer of HAProxy", () => {
  test("answers with all its nodes, follows them without a reload, and leaves nothing behind", async () => {
    const address = await ensure("default/web", nodeIds(1));
    expect(await site.topology.ask("tcp", address, PORT, 3)).toEqual(Array(3).fill("node-1 10.50.0.1"));
    const reloads = countOf("reload");
    await ensure("default/web", nodeIds(1, 2, 3));
    await site.topology.askUntil(["node-1", "node-2", "node-3"], site.topology.client, "tcp", address, PORT);
    await ensure("default/web", nodeIds(2));
    expect(namesOf(await site.topology.ask("tcp", address, PORT, 6))).toEqual(new Set(["node-2"]));
    expect([countOf("reload"), countOf("servers")]).toEqual([reloads, 2]);

    await client.deleteLoadBalancer({ service: serviceRef("default/web") });
    expect(await site.topology.ask("tcp", address, PORT)).toEqual([expect.stringMatching(/^failed/)]);
    expect(await site.haproxyConfig()).not.toMatch(/frontend/);
    expect(await site.onGateway("nft", "list", "tables")).toBe("");
    expect(await site.onGateway("ip", "address", "show", "dev", "lo")).not.toContain(address);
  });

  test("loses no request to reloads, to a restart of the provider or to its death", async () => {
    const address = await ensure("default/web", nodeIds(1, 2, 3));
    const traffic = site.topology.traffic(address, PORT);
    await traffic.answeredBy("node-1");
    for (const name of ["shop", "mail", "wiki"]) await ensure(`default/${name}`, nodeIds(1, 2));
    await client.deleteLoadBalancer({ service: serviceRef("default/mail") });
    expect(countOf("reload")).toBeGreaterThanOrEqual(4);
    await traffic.answeredBy("node-2");
    await provider.stop();
    await traffic.answeredBy("node-3");
    provider = await site.startProvider();
    await traffic.answeredBy("node-1");
    await provider.stop("SIGKILL");
    await traffic.answeredBy("node-2");
    provider = await site.startProvider();
    expect(await ensure("default/web", nodeIds(1, 2, 3))).toBe(address);
    const { answers, failures } = await traffic.end();
    expect(failures).toEqual([]);
    expect(Object.keys(answers).toSorted()).toEqual(["node-1", "node-2", "node-3"]);
    // What forwards was left as it was.
    expect([countOf("reload"), countOf("start")]).toEqual([0, 0]);
  });

  test("takes a node that is lost out of rotation, loses what it was at, and takes it back", async () => {
    const address = await ensure("default/web", nodeIds(1, 2, 3));
    const traffic = site.topology.traffic(address, PORT);
    await traffic.answeredBy("node-3");
    // The node's cable: packets vanish.
    await site.onGateway("ip", "link", "set", "node2", "down");
    await eventually("node-3 to be known as lost", 30_000, async () =>
      /node-3-\w+ is DOWN/.test(await site.haproxyLog()) ? true : undefined,
    );
    await traffic.answeredBy("node-1");
    await traffic.answeredBy("node-2");
    await site.onGateway("ip", "link", "set", "node2", "up");
    await traffic.answeredBy("node-3");
    const { failures } = await traffic.end();
    // At most what was under way with the node: the generator has four requests at a time.
    expect(failures.length).toBeLessThanOrEqual(4);
    // And a node whose server has ended refuses at once: no one notices.
    const after = site.topology.traffic(address, PORT);
    await after.answeredBy("node-1");
    await servers[1]?.stop("SIGTERM");
    await after.answeredBy("node-3");
    expect((await after.end()).failures.length).toBeLessThanOrEqual(4);
  });

  test("lets in no one but the source ranges, and opens no port that was not asked for", async () => {
    const address = await ensure("default/web", nodeIds(1), { sourceRanges: { cidrs: ["10.99.0.0/16"] } });
    expect(await site.topology.ask("tcp", address, PORT)).toEqual([expect.stringMatching(/^failed/)]);
    await ensure("default/web", nodeIds(1), { sourceRanges: { cidrs: ["10.60.0.0/24"] } });
    expect(await site.topology.ask("tcp", address, PORT)).toEqual(["node-1 10.50.0.1"]);
    // Something else on the gateway, on all addresses.
    const other = site.topology.start(site.topology.gateway, nodeServer, ["gateway", "8080", ""]);
    await other.said(/serving/);
    expect(await site.topology.ask("tcp", "10.60.0.1", 8080)).toEqual([`gateway ${site.topology.clientIpv4}`]);
    expect(await site.topology.ask("tcp", address, 8080)).toEqual([expect.stringMatching(/ECONNREFUSED/)]);
  });

  test("fixes what others flush or take away", async () => {
    const address = await ensure("default/web", nodeIds(1), { sourceRanges: { cidrs: ["10.60.0.0/24"] } });
    await site.onGateway("nft", "flush", "ruleset");
    await site.onGateway("ip", "address", "del", `${address}/32`, "dev", "lo");
    await eventually("the table and the address to be back", 30_000, async () => {
      const tables = await site.onGateway("nft", "list", "tables");
      const addresses = await site.onGateway("ip", "address", "show", "dev", "lo");
      return tables.includes("cloudwire") && addresses.includes(address) ? true : undefined;
    });
    expect(await site.topology.ask("tcp", address, PORT)).toEqual(["node-1 10.50.0.1"]);
  });

  test("starts HAProxy again when it was killed", async () => {
    const address = await ensure("default/web", nodeIds(1));
    const pid = await site.haproxyPid();
    process.kill(pid ?? 0, "SIGKILL");
    await eventually("another HAProxy to answer", 60_000, async () => {
      const [answer] = await site.topology.ask("tcp", address, PORT);
      return answer === "node-1 10.50.0.1" && (await site.haproxyPid()) !== pid ? true : undefined;
    });
    expect(provider.output).toContain('"by":"start"');
  });

  test("refuses a port that another program has on all addresses, and serves the others", async () => {
    const other = site.topology.start(site.topology.gateway, nodeServer, ["gateway", "8181", ""]);
    await other.said(/serving/);
    const refused = client.ensureLoadBalancer(
      ensureRequest({ service: "default/taken", ports: [8181], nodes: nodeIds(1) }),
    );
    await expect(refused).rejects.toMatchObject({ reason: "CLOUD_SETUP_INVALID" });
    const address = await ensure("default/web", nodeIds(1));
    expect(await site.topology.ask("tcp", address, PORT)).toEqual(["node-1 10.50.0.1"]);
  });

  test("begins nothing again when the state is lost while its table is in force", async () => {
    const address = await ensure("default/web", nodeIds(1));
    await provider.stop();
    const state = join(site.stateDir, "state.json");
    await rename(state, `${state}.lost`);
    const [command, ...args] = site.providerCommand;
    await using amnesiac = new Program({ command, args, env: { CLOUD_PROVIDER_ENDPOINT: `unix://${site.socket}` } });
    expect(await amnesiac.exit(60_000)).toMatchObject({ code: 78 });
    expect(amnesiac.output).toMatch(/has no state\.json, but table inet cloudwire of an earlier run exists/);
    expect(await site.topology.ask("tcp", address, PORT)).toEqual(["node-1 10.50.0.1"]);
    await rename(`${state}.lost`, state);
    provider = await site.startProvider();
  });
});

const nodeServer = new URL("support/programs/node-server.ts", import.meta.url);
