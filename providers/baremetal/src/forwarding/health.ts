import { request } from "node:http";
import { connect } from "node:net";
import type { Backend } from "../plan/endpoints.ts";

/** Whether a port of a node answers, once. */
export type Probe = (address: string, port: number, path: string | undefined, timeoutMs: number) => Promise<boolean>;

/** Checks the health of nodes that nftables forwards to; HAProxy checks its own. */
export interface HealthMonitor {
  readonly isHealthy: (backend: Backend) => boolean;
  /** From now on these are asked, and no others. Those that are new are asked once before it returns. */
  readonly watch: (backends: readonly Backend[]) => Promise<void>;
  readonly stop: () => void;
}

export interface HealthOptions {
  readonly probe: Probe;
  readonly intervalMs: number;
  /** Some backend became healthy, or ceased to be. */
  readonly onChange: () => void;
}

interface Check {
  readonly backend: Backend & { readonly checkPort: number };
  failures: number;
  healthy: boolean;
}

/** So many failures in a row take a node out; one success brings it back. */
const maxFailures = 3;
const timeoutMs = 2_000;

export function healthMonitor({ probe, intervalMs, onChange }: HealthOptions): HealthMonitor {
  const checks = new Map<string, Check>();
  const ask = async (check: Check, failuresToFall: number): Promise<boolean> => {
    const { address, checkPort, checkPath } = check.backend;
    const answers = await probe(address, checkPort, checkPath, timeoutMs);
    check.failures = answers ? 0 : check.failures + 1;
    const before = check.healthy;
    check.healthy = answers || (check.healthy && check.failures < failuresToFall);
    return before !== check.healthy;
  };
  const round = async (): Promise<void> => {
    const changed = await Promise.all([...checks.values()].map((check) => ask(check, maxFailures)));
    if (changed.some(Boolean)) onChange();
  };
  let isAsking = false;
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    void round().finally(() => {
      isAsking = false;
    });
  }, intervalMs);
  timer.unref();
  return {
    isHealthy: (backend) => checks.get(idOf(backend))?.healthy ?? true,
    watch: async (backends) => {
      const wanted = new Map(backends.map((backend) => [idOf(backend), backend]));
      for (const id of checks.keys()) if (!wanted.has(id)) checks.delete(id);
      const added = [...wanted].flatMap(([id, backend]) => {
        if (checks.has(id) || backend.checkPort === undefined) return [];
        const check: Check = { backend: { ...backend, checkPort: backend.checkPort }, failures: 0, healthy: true };
        checks.set(id, check);
        return [check];
      });
      await Promise.all(added.map((check) => ask(check, 1)));
    },
    stop: () => {
      clearInterval(timer);
    },
  };
}

function idOf({ address, checkPort, checkPath }: Backend): string {
  return `${address} ${checkPort ?? ""} ${checkPath ?? ""}`;
}

/** A connection, or an HTTP answer with status 200. */
export const probe: Probe = (address, port, path, allowedMs) =>
  new Promise((resolve) => {
    const signal = AbortSignal.timeout(allowedMs);
    if (path === undefined) {
      const socket = connect({ host: address, port, signal });
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
      return;
    }
    const outgoing = request({ host: address, port, path, agent: false, signal }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode === 200);
    });
    outgoing.once("error", () => resolve(false));
    outgoing.end();
  });
