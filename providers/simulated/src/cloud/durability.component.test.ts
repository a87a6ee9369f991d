import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CloudClient } from "../client/cloud-client.ts";
import { spawnCloud, type SpawnedCloud } from "../processes/spawn-cloud.ts";
import { loopbackPools } from "../processes/loopback-pools.ts";
import { poll } from "../test/poll.ts";
import { instanceSpecs, soon } from "../test/test-cloud.ts";

let directory: string;
let running: SpawnedCloud[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "simcloud-"));
});
afterEach(async () => {
  await Promise.all(running.map(async (cloud) => cloud.stop("SIGKILL")));
  running = [];
  await rm(directory, { recursive: true });
});

const pools = loopbackPools(process.pid);

async function start() {
  const cloud = await spawnCloud({
    flags: {
      state: join(directory, "state.db"),
      "instance-pool": pools.instancePool,
      "load-balancer-pool": pools.loadBalancerPool,
    },
  });
  running.push(cloud);
  return { cloud, client: new CloudClient({ url: cloud.url, apiKey: "demo-key" }) };
}

test("everything survives kill -9: resources, ids, settings, forwarding, and what was under way", async () => {
  const before = await start();
  const [instance] = await before.client.createInstances(instanceSpecs(1, { podCidr: true }), soon());
  const node = createServer((_, response) => response.end("from the node"));
  node.listen(30_080, instance?.internalAddresses[0]);
  await once(node, "listening");
  const listeners = [{ port: 8080, protocol: "tcp" as const, targetPort: 30_080 }];
  const targets = [instance?.id ?? ""];
  const { loadBalancer } = await before.client.createLoadBalancer({ name: "web", listeners, targets }, soon());
  await fetch(new URL("/admin/v1/settings", before.cloud.url), {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ delays: { loadBalancerCreateMs: 500 } }),
  });
  const slow = await before.client.createLoadBalancer({ name: "slow", listeners, targets }, soon());
  expect(slow.loadBalancer.state).toBe("provisioning");
  await before.cloud.stop("SIGKILL");
  await expect(fetch(`http://${loadBalancer.address}:8080`)).rejects.toThrow("fetch failed");

  const after = await start();
  expect((await after.client.listInstances({}, soon())).items).toEqual([instance]);
  const answer = await fetch(`http://${loadBalancer.address}:8080`);
  expect(await answer.text()).toBe("from the node");
  await poll("the load balancer that was under way", async () => {
    const latest = await after.client.getLoadBalancer(slow.loadBalancer.id, soon());
    return latest.state === "active" ? latest : undefined;
  });
  const [next] = await after.client.createInstances(instanceSpecs(1), soon());
  expect(next?.id).not.toBe(instance?.id);
  expect(next?.internalAddresses).not.toEqual(instance?.internalAddresses);
  const third = await after.client.createLoadBalancer({ name: "third", listeners }, soon());
  expect(third.loadBalancer.state).toBe("provisioning");
  node.close();
});

test("a second cloud on the same state file is refused with a line that says so", async () => {
  await start();
  await expect(start()).rejects.toThrow(
    /simcloud: cannot open the state file .*state\.db: database is locked\. Give another --state/,
  );
});

test("SIGTERM ends it with code 0 even while a call hangs", async () => {
  const { cloud, client } = await start();
  await fetch(new URL("/admin/v1/faults", cloud.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ kind: "hang" }),
  });
  const hanging = client.account(soon());
  const failure = hanging.then(
    () => undefined,
    (error: unknown) => error,
  );
  await poll("the call", async () => {
    const response = await fetch(new URL("/admin/v1/calls", cloud.url));
    return (await response.text()).includes('"inFlight":1') ? true : undefined;
  });
  await cloud.stop("SIGTERM");
  expect(await failure).toMatchObject({ failure: { kind: "noAnswer" } });
  expect(cloud.process.exitCode).toBe(0);
});
