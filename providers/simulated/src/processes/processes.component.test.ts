import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AdminClient } from "../client/admin-client.ts";
import { poll } from "../test/poll.ts";
import type { Child } from "./child.ts";
import { spawnCloud } from "./spawn-cloud.ts";
import { spawnSidecar, type SpawnSidecarOptions } from "./spawn-sidecar.ts";

let directory: string;
let children: Child[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "sim-"));
});
afterEach(async () => {
  await Promise.all(children.map(async (child) => child.stop("SIGKILL")));
  children = [];
  await rm(directory, { recursive: true });
});

async function start<T extends Child>(child: Promise<T>): Promise<T> {
  const started = await child;
  children.push(started);
  return started;
}

const sidecar = async (cloudUrl: string, more: Partial<SpawnSidecarOptions> = {}) =>
  start(spawnSidecar({ socketPath: join(directory, "provider.sock"), cloudUrl, ...more }));

test("cloud and sidecar run as processes; a sidecar that was killed comes back on its socket", async () => {
  const cloud = await start(spawnCloud());
  const first = await sidecar(cloud.url);
  expect(first.endpoint).toBe(`unix://${join(directory, "provider.sock")}`);
  await first.stop("SIGKILL");
  const admin = new AdminClient({ url: cloud.url });
  await admin.resetCalls();
  const second = await sidecar(cloud.url);
  expect(second.endpoint).toBe(first.endpoint);
  await poll("the second sidecar's question", async () => (await admin.callsOf("account.get")) > 0 || undefined);
  await second.stop();
  await cloud.stop();
  expect([second.process.exitCode, cloud.process.exitCode]).toEqual([0, 0]);
});

test("a sidecar serves before its cloud does", async () => {
  const waiting = await sidecar("http://127.0.0.1:9");
  expect(waiting.endpoint).toContain("provider.sock");
});

test.each([
  [
    "the cloud, an unknown flag",
    async () => spawnCloud({ flags: { color: "red" } }),
    /main ended with code 2:\nsimcloud: Unknown option '--color'/,
  ],
  [
    "the cloud, a port in use",
    async () => spawnCloud({ flags: { listen: await portInUse() } }),
    /main ended with code 2:\nsimcloud: another process listens on 127\.0\.0\.1:\d+: give another --listen\n$/,
  ],
  [
    "the cloud, a pool that is none",
    async () => spawnCloud({ flags: { "load-balancer-pool": "127.0.0.1" } }),
    /main ended with code 2:\nsimcloud: load balancer pool "127\.0\.0\.1" is no IPv4 network of at least 4 addresses, such as 127\.10\.0\.0\/16\n$/,
  ],
  [
    "the sidecar, no URL",
    async () => sidecar("cloud:1"),
    /main ended with code 78:\ncloudwire-provider-simulated: --cloud-url cloud:1: must be a URL, such as http:\/\/127\.0\.0\.1:7070\n$/,
  ],
  [
    "the sidecar, a file in the place of the socket",
    async () => sidecarOnFile(),
    /main ended with code 69:\n.*provider\.sock exists and is no socket; remove it or give another endpoint\n$/,
  ],
])("%s: one line that says what to do", async (_, attempt, message) => {
  await expect(attempt()).rejects.toThrow(message);
});

async function portInUse(): Promise<string> {
  const cloud = await start(spawnCloud());
  return new URL(cloud.url).host;
}

async function sidecarOnFile(): Promise<Child> {
  await writeFile(join(directory, "provider.sock"), "");
  return sidecar("http://127.0.0.1:9");
}
