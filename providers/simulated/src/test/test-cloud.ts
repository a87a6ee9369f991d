import type { InstanceSpec } from "../api/instances.ts";
import { AdminClient } from "../client/admin-client.ts";
import { CloudClient } from "../client/cloud-client.ts";
import { type Cloud, type CloudOptions, startCloud } from "../cloud/start-cloud.ts";
import { loopbackPools } from "../processes/loopback-pools.ts";

/** A cloud in the test's process, with clients for it. */
export interface TestCloud extends Cloud, AsyncDisposable {
  readonly admin: AdminClient;
  readonly client: CloudClient;
}

export async function startTestCloud(options: CloudOptions = {}): Promise<TestCloud> {
  const cloud = await startCloud({ ...loopbackPools(process.pid), ...options });
  return {
    ...cloud,
    admin: new AdminClient({ url: cloud.url }),
    client: new CloudClient({ url: cloud.url, apiKey: "demo-key" }),
    [Symbol.asyncDispose]: cloud.close,
  };
}

/** A deadline for calls that are not about deadlines. */
export function soon(): AbortSignal {
  return AbortSignal.timeout(10_000);
}

/** `count` instances called node-0, node-1, … spread over the zones of region north. */
export function instanceSpecs(count: number, more: Partial<InstanceSpec> = {}): InstanceSpec[] {
  const zones = ["north-a", "north-b", "north-c"];
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index}`,
    zone: zones[index % zones.length] ?? "north-a",
    ...more,
  }));
}
