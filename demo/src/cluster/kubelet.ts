import { setInterval as every } from "node:timers/promises";
import type { Kubernetes } from "./kubernetes.ts";
import { KubernetesError } from "./kubernetes.ts";
import { UNINITIALIZED_TAINT } from "./views.ts";

/** As a kubelet: a quarter of nodeLeaseDurationSeconds (40). */
const HEARTBEAT_MS = 10_000;
const LEASE_SECONDS = 40;

export interface KubeletOptions {
  readonly kubernetes: Kubernetes;
  readonly nodeName: string;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

/**
 * A fake kubelet with `--cloud-provider=external`: registers its Node with the taint and only a Hostname address, then sends
 * heartbeats. It runs no pods.
 */
export async function runKubelet({ kubernetes, nodeName, now, signal }: KubeletOptions): Promise<void> {
  await ignoringExisting(kubernetes.create("/api/v1/nodes", nodeObject(nodeName)));
  await kubernetes.patch(`/api/v1/nodes/${nodeName}/status`, statusPatch(nodeName, now()));
  await ignoringExisting(kubernetes.create(LEASES, leaseObject(nodeName, now())));
  try {
    for await (const _tick of every(HEARTBEAT_MS, undefined, { signal, ref: false })) {
      // As in a kubelet, the next heartbeat makes up for a failed one.
      await heartbeat(kubernetes, nodeName, now()).catch(() => undefined);
    }
  } catch {
    // The instance was stopped.
  }
}

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

async function heartbeat(kubernetes: Kubernetes, nodeName: string, now: Date): Promise<void> {
  await kubernetes.patch(`${LEASES}/${nodeName}`, { spec: { renewTime: microTime(now) } });
  await kubernetes.patch(`/api/v1/nodes/${nodeName}/status`, {
    status: { conditions: [readyCondition(now)] },
  });
}

function nodeObject(name: string): unknown {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
    },
    spec: { taints: [{ key: UNINITIALIZED_TAINT, value: "true", effect: "NoSchedule" }] },
  };
}

function statusPatch(name: string, now: Date): unknown {
  return {
    status: {
      addresses: [{ type: "Hostname", address: name }],
      nodeInfo: {
        kubeletVersion: "demo",
        operatingSystem: "linux",
        architecture: "amd64",
        osImage: "none",
        kernelVersion: "none",
        containerRuntimeVersion: "none://0",
      },
      capacity: { cpu: "2", memory: "4Gi", pods: "110" },
      allocatable: { cpu: "2", memory: "4Gi", pods: "110" },
      conditions: [{ ...readyCondition(now), lastTransitionTime: now.toISOString() }],
    },
  };
}

function readyCondition(now: Date): Readonly<Record<string, string>> {
  return {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    message: "the demo's kubelet is running",
    lastHeartbeatTime: now.toISOString(),
  };
}

function leaseObject(name: string, now: Date): unknown {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "kube-node-lease" },
    spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime: microTime(now) },
  };
}

/** MicroTime wants six digits. */
function microTime(now: Date): string {
  return now.toISOString().replace("Z", "000Z");
}

async function ignoringExisting(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof KubernetesError) || error.status !== 409) throw error;
  }
}
