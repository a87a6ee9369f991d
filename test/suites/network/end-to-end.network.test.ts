import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at, Kube, listOf } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";
import { Site } from "./support/site.ts";
import type { NodeMachine } from "./support/topology.ts";

const BUILD_MS = 60 * 60_000;
/** A busy machine takes minutes for what takes seconds. */
const WAIT_MS = 180_000;
const TEST_MS = 900_000;
const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
const SERVICES = "/api/v1/namespaces/default/services";

let controlPlane: ControlPlane;
let kube: Kube;
let site: Site;
let controller: Program;
let provider: Program;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  kube = new Kube(controlPlane);
  site = await Site.create();
  provider = await site.startProvider();
  controller = startController();
}, BUILD_MS);
afterAll(async () => {
  await controller[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  kube[Symbol.dispose]();
  await controlPlane.stop();
});

const startController = (): Program =>
  new Program({
    source: "controller/src/main.ts",
    args: [
      `--kubeconfig=${controlPlane.kubeconfigPath}`,
      `--provider=baremetal=unix://${site.socket}`,
      "--health-bind-address=127.0.0.1:0",
      "--secure-port=0",
      "--configure-cloud-routes=true",
      "--cluster-cidr=10.244.0.0/16",
      "-v=4",
    ],
  });

const outputs = (): string => [controller.output.slice(-20_000), provider.output].join("\n----\n");
const until = async <Answer>(what: string, ask: () => Promise<Answer | undefined>): Promise<Answer> =>
  eventually(what, WAIT_MS, ask, outputs);

const addressOf = async (name: string): Promise<string> =>
  until(`service ${name} to have an address`, async () => {
    const ip = at(await kube.get(`${SERVICES}/${name}`), "status", "loadBalancer", "ingress", 0, "ip");
    return typeof ip === "string" ? ip : undefined;
  });

const isGone = async (path: string): Promise<void> => {
  await until(`${path} to be gone`, async () => ((await kube.find(path)) === undefined ? true : undefined));
};

/** A Node as its kubelet makes it. */
const join = async ({ name, podCidr }: NodeMachine): Promise<void> => {
  await kube.create("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name } },
    spec: {
      podCIDR: podCidr,
      podCIDRs: [podCidr],
      taints: [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }],
    },
  });
};

const service = (name: string, port: object) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { type: "LoadBalancer", selector: { app: name }, ports: [port] },
});

describe("bare metal under a real control plane", () => {
  test(
    "gives Nodes their facts, Services addresses that answer, pods routes, and takes everything back",
    async () => {
      for (const node of site.topology.nodes) await join(node);
      for (const { name, ipv4 } of site.topology.nodes) {
        const node = await until(`node ${name} to be initialized`, async () => {
          const found = await kube.get(`/api/v1/nodes/${name}`);
          return listOf(at(found, "spec", "taints")).some(({ key }) => key === UNINITIALIZED) ? undefined : found;
        });
        expect(at(node, "spec", "providerID")).toBe(`baremetal://id-${name}`);
        expect(at(node, "metadata", "labels", "topology.kubernetes.io/zone")).toBe("rack-1");
        expect(listOf(at(node, "status", "addresses"))).toContainEqual({ type: "InternalIP", address: ipv4 });
      }
      const routes = () => site.onGateway("ip", "-o", "route", "show", "proto", "77");
      await until("three routes", async () => ((await routes()).trim().split("\n").length === 3 ? true : undefined));

      const created = await kube.create(SERVICES, service("web", { port: 80, protocol: "TCP" }));
      const dns = await kube.create(SERVICES, service("dns", { port: 53, protocol: "UDP" }));
      const nodePort = Number(at(created, "spec", "ports", 0, "nodePort"));
      const udpPort = Number(at(dns, "spec", "ports", 0, "nodePort"));
      await Promise.all(site.topology.nodes.map((node) => site.topology.serve(node, [nodePort], [udpPort])));
      const [web, name] = [await addressOf("web"), await addressOf("dns")];
      const all = site.topology.nodes.map((node) => node.name);
      await site.topology.askUntil(all, site.topology.client, "tcp", web, 80);
      await site.topology.askUntil(all, site.topology.client, "udp", name, 53);
      const [first] = site.topology.nodes;
      expect(await site.topology.ask("tcp", first?.podIp ?? "", nodePort)).toEqual([
        `node-1 ${site.topology.clientIpv4}`,
      ]);

      // Under traffic: another controller, another provider, a provider that is killed, and a reload of HAProxy for another Service.
      const traffic = site.topology.traffic(web, 80);
      await traffic.answeredBy("node-1");
      await controller.stop();
      controller = startController();
      await controller.said(/Became leader/, WAIT_MS);
      await traffic.answeredBy("node-2");
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        await provider.stop(signal);
        await traffic.answeredBy("node-1");
        provider = await site.startProvider();
        await traffic.answeredBy("node-2");
      }
      await kube.create(SERVICES, service("shop", { port: 80, protocol: "TCP" }));
      await addressOf("shop");
      expect(provider.output).toContain('"by":"reload"');
      await traffic.answeredBy("node-3");
      expect((await traffic.end()).failures).toEqual([]);

      // Under traffic: a machine that goes, and comes.
      const during = site.topology.traffic(web, 80);
      await during.answeredBy("node-3");
      await site.writeInventory(site.topology.nodes.slice(0, 2));
      await isGone("/api/v1/nodes/node-3");
      await until("node-3 to be no target any more", async () =>
        (await site.onGateway("nft", "list", "table", "inet", "cloudwire")).includes("10.50.0.13") ? undefined : true,
      );
      await site.topology.askUntil(["node-1", "node-2"], site.topology.client, "udp", name, 53);
      await until("HAProxy to have no server of it", async () =>
        (await site.haproxyConfig()).includes("10.50.0.13") ? undefined : true,
      );
      await until("the route of node-3 to go", async () =>
        (await routes()).includes("10.244.3.0/24") ? undefined : true,
      );

      await site.writeInventory(site.topology.nodes);
      for (const node of site.topology.nodes.slice(2)) await join(node);
      await until("HAProxy to have node-3 again", async () =>
        (await site.haproxyConfig()).includes("10.50.0.13") ? true : undefined,
      );
      await during.answeredBy("node-3");
      // At most what was under way with the node that went: the generator has four requests at a time.
      expect((await during.end()).failures.length).toBeLessThanOrEqual(4);

      for (const name of ["web", "dns", "shop"]) await kube.delete(`${SERVICES}/${name}`);
      for (const name of ["web", "dns", "shop"]) await isGone(`${SERVICES}/${name}`);
      for (const node of all) await kube.delete(`/api/v1/nodes/${node}`);
      await until("the routes to go", async () => ((await routes()) === "" ? true : undefined));
      expect(await site.haproxyConfig()).not.toMatch(/frontend/);
      expect(await site.onGateway("nft", "list", "tables")).toBe("");
      expect(await site.onGateway("ip", "address", "show", "dev", "lo")).not.toContain("192.0.2.");
    },
    TEST_MS,
  );
});
