import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { absent, type LoadBalancer, pending, type ProviderDefinition } from "@cloudwire/provider-sdk";

/** What is wrong with how a provider works on a cloud that outlives it; nothing: it is right. */
export type DurableFault = "looks in its memory before it makes" | "deletes what it remembers";

/** How long the cloud takes for a change. */
const makeMs = 120;
const deleteMs = 60;

/** A load balancer as the cloud has it. */
interface Held extends LoadBalancer {
  readonly key: string;
  readonly clusterId: string;
}

const textOf = ({ key, clusterId, service, specFingerprint = "", nodesFingerprint = "" }: Omit<Held, "id">): string =>
  [key, clusterId, service?.namespace, service?.name, service?.uid, specFingerprint, nodesFingerprint].join("\n");

/** Undefined: the file is gone, or is being written. */
const heldIn = (id: string, text: string): Held | undefined => {
  const [key, clusterId, namespace, name, uid, specFingerprint, nodesFingerprint] = text.split("\n");
  if (key === undefined || clusterId === undefined || nodesFingerprint === undefined) return undefined;
  const service = { namespace: namespace ?? "", name: name ?? "", uid: uid ?? "" };
  return { id, key, clusterId, service, ingress: [{ ip: "198.51.100.1" }], specFingerprint, nodesFingerprint };
};

/** Load balancers that outlive the processes of one socket: a file each. */
class Cloud {
  readonly #directory: string;

  constructor(socketPath: string) {
    const name = createHash("sha256").update(socketPath).digest("hex").slice(0, 16);
    this.#directory = join(tmpdir(), `conformance-cloud-${name}`);
  }

  async all(): Promise<readonly Held[]> {
    const ids = await readdir(this.#directory).catch(() => []);
    const found = await Promise.all(
      ids.map(async (id) => heldIn(id, await readFile(join(this.#directory, id), "utf8").catch(() => ""))),
    );
    return found.filter((one) => one !== undefined);
  }

  async put({ id, ...held }: Held): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    await writeFile(join(this.#directory, id), textOf(held));
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.#directory, id), { force: true });
    // The cloud goes with the last that is in it.
    if ((await this.all()).length === 0) await rm(this.#directory, { recursive: true, force: true });
  }
}

/** A provider whose load balancers are not in its memory, but in a cloud that belongs to the socket. */
export const durableDefinition = (socketPath: string, fault?: DurableFault): ProviderDefinition => {
  const cloud = new Cloud(socketPath);
  const remembered = new Set<string>();
  const find = async (key: string): Promise<Held | undefined> => (await cloud.all()).find((one) => one.key === key);
  const recall = async (key: string): Promise<Held | undefined> => (remembered.has(key) ? find(key) : undefined);
  return {
    name: "acme.example.com",
    version: "1.0.0",
    idPrefix: "acme://",
    scope: "account-1",
    check: () => undefined,
    loadBalancers: {
      get: async ({ key }) => (await find(key)) ?? absent("LOOKUP_MISS"),
      ensure: async ({ key, cluster, service, specFingerprint, nodesFingerprint }) => {
        const looked = fault === "looks in its memory before it makes" ? await recall(key) : await find(key);
        const id = looked?.id ?? `lb-${randomUUID()}`;
        const ingress = [{ ip: "198.51.100.1" }];
        const made = { id, key, clusterId: cluster.id, service, ingress, specFingerprint, nodesFingerprint };
        await cloud.put(made);
        if (looked === undefined) await wait(makeMs);
        remembered.add(key);
        return made;
      },
      delete: async ({ key }) => {
        const looked = fault === "deletes what it remembers" ? await recall(key) : await find(key);
        if (looked === undefined) return undefined;
        if (fault !== "deletes what it remembers") {
          await wait(deleteMs);
          for (const one of await cloud.all()) if (one.key === key) await cloud.remove(one.id);
          return undefined;
        }
        setTimeout(() => void cloud.remove(looked.id), deleteMs);
        return pending(looked.id, { pollAfterMs: deleteMs, remaining: [looked.id] });
      },
      async *list({ cluster }) {
        for (const one of await cloud.all()) if (one.clusterId === cluster.id) yield one;
      },
    },
  };
};
