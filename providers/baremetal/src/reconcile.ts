import { readFile } from "node:fs/promises";
import type { Condition, Logger } from "@cloudwire/provider-sdk";
import type { DataPlane } from "./forwarding/data-plane.ts";
import type { KernelRoutes } from "./forwarding/kernel-routes.ts";
import { repairRoutes } from "./forwarding/repair-routes.ts";
import type { MachineSource } from "./inventory/inventory-files.ts";
import type { Store } from "./state/store.ts";

export interface Reconciler {
  /** What an operator should know of this machine. */
  readonly conditions: () => readonly Condition[];
  readonly stop: () => void;
}

export interface ReconcilerDeps {
  readonly store: Store;
  readonly dataPlane: DataPlane;
  readonly routes: KernelRoutes | undefined;
  readonly source: MachineSource;
  readonly intervalMs: number;
  readonly log: Logger;
}

/** Periodically compares everything with the desired state and repairs external changes: a flushed table, a link that was down. */
export function startReconciler({ store, dataPlane, routes, source, intervalMs, log }: ReconcilerDeps): Reconciler {
  let routeProblem: string | undefined;
  let isForwarding = true;
  let isBusy = false;
  const round = async (): Promise<void> => {
    await dataPlane.converge();
    isForwarding = (await readFile("/proc/sys/net/ipv4/ip_forward", "utf8").catch(() => "1")).trim() !== "0";
    try {
      const changes = routes === undefined ? 0 : await repairRoutes(store, routes, source);
      if (changes > 0) log.warn("Repaired missing or wrong routes", { changes });
      routeProblem = undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (routeProblem !== message) log.error("Could not reconcile routes", { problem: message });
      routeProblem = message;
    }
  };
  const tick = (): void => {
    if (isBusy) return;
    isBusy = true;
    void round().finally(() => {
      isBusy = false;
    });
  };
  const timer = setInterval(tick, intervalMs);
  timer.unref();
  tick();
  return {
    conditions: () => [
      condition("DataPlaneReady", [...dataPlane.problems()].map(([part, text]) => `${part}: ${text}`).join("; ")),
      condition("RoutesProgrammed", routeProblem ?? ""),
      condition(
        "PacketForwarding",
        isForwarding
          ? ""
          : "net.ipv4.ip_forward is 0 on this machine: nftables load balancers and routes forward nothing",
      ),
    ],
    stop: () => {
      clearInterval(timer);
    },
  };
}

function condition(type: string, problem: string): Condition {
  return problem === ""
    ? { type, status: true, reason: "AsExpected" }
    : { type, status: false, reason: "NeedsAttention", message: problem.slice(0, 500) };
}
