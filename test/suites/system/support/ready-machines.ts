import type { Harness } from "./harness.ts";

/** Requests of one kind under way at once. */
const AT_ONCE = 16;
const CALL_MS = 60_000;
const ZONES = ["north-a", "south-a"] as const;

/** Machines whose Nodes are as a cloud controller has left them, written in one go each and without a kubelet. */
export class ReadyMachines {
  readonly #harness: Pick<Harness, "cloud" | "kube">;

  constructor(harness: Pick<Harness, "cloud" | "kube">) {
    this.#harness = harness;
  }

  /** Makes machines of these names and their Nodes. */
  async join(names: readonly string[]): Promise<void> {
    const { cloud, kube } = this.#harness;
    const specs = names.map((name, index) => ({ name, zone: ZONES[index % ZONES.length] ?? ZONES[0] }));
    const made = await cloud.createInstances(specs, AbortSignal.timeout(CALL_MS));
    await inParallel(made, async ({ id, name, zone, region, type, hostname, internalAddresses }) => {
      await kube.create("/api/v1/nodes", {
        apiVersion: "v1",
        kind: "Node",
        metadata: {
          name,
          labels: {
            "kubernetes.io/hostname": name,
            "node.kubernetes.io/instance-type": type,
            "beta.kubernetes.io/instance-type": type,
            "topology.kubernetes.io/zone": zone,
            "failure-domain.beta.kubernetes.io/zone": zone,
            "topology.kubernetes.io/region": region,
            "failure-domain.beta.kubernetes.io/region": region,
          },
        },
        spec: { providerID: `sim://${zone}/${id}` },
        status: {
          conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }],
          addresses: [
            ...internalAddresses.map((address) => ({ type: "InternalIP", address })),
            { type: "InternalDNS", address: hostname },
            { type: "Hostname", address: hostname },
          ],
        },
      });
    });
  }
}

/** `prefix-0000` and so on. */
export function numbered(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(4, "0")}`);
}

/** Does it for all, some at a time. */
export async function inParallel<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
