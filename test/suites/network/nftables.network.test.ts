import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import { ensureRequest, type ProviderClient, serviceRef } from "@cloudwire/provider-sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import type { Program } from "../../support/program.ts";
import { nodeIds, Site } from "./support/site.ts";

const TCP = { name: "web", protocol: Protocol.TCP, port: 80, nodePort: 30_080 } as const;
const UDP = { name: "dns", protocol: Protocol.UDP, port: 53, nodePort: 30_053 } as const;
const NFTABLES = { class: "baremetal.cloudwire.dev/nftables" };

const ALL = ["node-1", "node-2", "node-3"];

let site: Site;
let provider: Program;
let client: ProviderClient;

beforeAll(async () => {
  site = await Site.create({
    pools: `- { name: default, ranges: [10.60.0.100-10.60.0.120, "fd60::100-fd60::120"], announce: arp, interface: clients }`,
  });
  await Promise.all(site.topology.nodes.map((node) => site.topology.serve(node, [TCP.nodePort], [UDP.nodePort])));
  await site.onGateway("nft", "add", "table", "inet", "of_somebody_else");
  provider = await site.startProvider();
  client = site.client();
});
afterEach(async () => {
  for await (const service of site.services(client)) await client.deleteLoadBalancer({ service });
  const tables = await site.onGateway("nft", "list", "tables");
  if (tables !== "table inet of_somebody_else\n") throw new Error(`nftables is not as it was before: ${tables}`);
});
afterAll(() => site[Symbol.asyncDispose]());

type Spec = NonNullable<Parameters<typeof ensureRequest>[0]>["spec"];

/** Makes the load balancer, or changes it; answers its addresses. */
const ensure = async (nodes: Readonly<Record<string, string>>, spec: Spec): Promise<readonly string[]> => {
  const { loadBalancer } = await client.ensureLoadBalancer(ensureRequest({ service: "default/dns", nodes, spec }));
  return loadBalancer?.ingress?.items.map(({ ip }) => ip ?? "") ?? [];
};

describe("a load balancer of nftables", () => {
  test("forwards TCP and UDP of one address, found by ARP, and keeps the client's", async () => {
    const [address = ""] = await ensure(nodeIds(1, 2, 3), { ports: [TCP, UDP] });
    const { client: outside, gateway, nodes } = site.topology;
    await site.topology.askUntil(ALL, outside, "tcp", address, 80);
    await site.topology.askUntil(ALL, outside, "udp", address, 53);
    const fromClient = expect.stringMatching(new RegExp(`^node-\\d ${site.topology.clientIpv4}$`));
    expect(await site.topology.ask("tcp", address, 80, 2)).toEqual([fromClient, fromClient]);
    expect(await site.topology.ask("udp", address, 53, 2)).toEqual([fromClient, fromClient]);
    expect(await site.topology.run(site.topology.client, "ip", "neighbor", "show", address)).toMatch(/lladdr/);
    // From a node itself, where answers would not come back, the gateway stands in.
    await site.topology.askUntil(ALL, nodes[0]?.namespace ?? "", "tcp", address, 80);
    await site.topology.askUntil(ALL, gateway, "tcp", address, 80);
    await ensure(nodeIds(1, 2, 3), {
      ports: [TCP, UDP],
      annotations: { "baremetal.cloudwire.dev/client-address": "hide" },
    });
    expect(await site.topology.ask("tcp", address, 80)).toEqual([expect.stringMatching(/^node-\d 10\.50\.0\.1$/)]);
  });

  test("serves both address families", async () => {
    const ipFamilies = [IpFamily.IPV4, IpFamily.IPV6];
    const [ipv4 = "", ipv6 = ""] = await ensure(nodeIds(1, 2), { ports: [TCP, UDP], ipFamilies });
    expect([ipv4, ipv6]).toEqual(["10.60.0.100", "fd60::100"]);
    for (const address of [ipv4, ipv6]) {
      await site.topology.askUntil(["node-1", "node-2"], site.topology.client, "udp", address, 53);
    }
    expect(await site.topology.ask("tcp", ipv6, 80)).toEqual([expect.stringMatching(/^node-\d fd60::2$/)]);
  });

  test("lets in no one but the source ranges", async () => {
    const sourceRanges = { cidrs: ["10.99.0.0/16"] };
    const [address = ""] = await ensure(nodeIds(1), { ports: [TCP, UDP], sourceRanges });
    expect(await site.topology.ask("tcp", address, 80)).toEqual([expect.stringMatching(/^failed/)]);
    expect(await site.topology.ask("udp", address, 53)).toEqual(["failed: no answer"]);
    await ensure(nodeIds(1), { ports: [TCP, UDP], sourceRanges: { cidrs: ["10.60.0.2/32"] } });
    expect(await site.topology.ask("udp", address, 53)).toEqual([`node-1 ${site.topology.clientIpv4}`]);
  });

  test("goes on without the provider, and finds a node that went meanwhile", async () => {
    const [address = ""] = await ensure(nodeIds(1, 2, 3), { ports: [TCP], ...NFTABLES });
    const traffic = site.topology.traffic(address, 80);
    await traffic.answeredBy("node-1");
    await provider.stop("SIGKILL");
    await traffic.answeredBy("node-2");
    provider = await site.startProvider();
    await traffic.answeredBy("node-3");
    expect((await traffic.end()).failures).toEqual([]);
    expect(provider.output).not.toMatch(/nftables changed/);

    await site.onGateway("ip", "link", "set", "node2", "down");
    const rules = () => site.onGateway("nft", "list", "table", "inet", "cloudwire");
    await eventually("node-3 to be taken out", 30_000, async () =>
      (await rules()).includes("10.50.0.13") ? undefined : true,
    );
    const without = site.topology.traffic(address, 80);
    await without.answeredBy("node-1");
    await without.answeredBy("node-2");
    await site.onGateway("ip", "link", "set", "node2", "up");
    await without.answeredBy("node-3");
    expect((await without.end()).failures).toEqual([]);
  });

  test("moves a UDP client that talks on to another node when its own is taken out", async () => {
    const [address = ""] = await ensure(nodeIds(1), { ports: [UDP] });
    const flow = site.topology.chatter(address, 53);
    await flow.answeredBy("node-1");
    expect(await ensure(nodeIds(2), { ports: [UDP] })).toEqual([address]);
    await flow.answeredBy("node-2");
  });

  test("honors a requested address and refuses one in use", async () => {
    await ensure(nodeIds(1), { ports: [UDP], requestedIps: ["10.60.0.110"] });
    const ask = (ip: string) =>
      client.ensureLoadBalancer(
        ensureRequest({ service: "default/other", nodes: nodeIds(1), spec: { requestedIps: [ip] } }),
      );
    await expect(ask("10.60.0.110")).rejects.toMatchObject({
      reason: "ADDRESS_IN_USE",
      metadata: { address: "10.60.0.110" },
    });
    await expect(ask("203.0.113.1")).rejects.toMatchObject({ reason: "FIELD_INVALID" });
    expect((await client.getLoadBalancer({ service: serviceRef("default/other") })).outcome?.$case).toBe("absent");
  });
});
