import type { Logger } from "@cloudwire/provider-sdk";
import type { RunProgram } from "../edge/run-program.ts";
import { type Backend, listenersOf } from "../plan/endpoints.ts";
import type { LoadBalancerRecord } from "../state/state.ts";

/** Flows in the kernel's connection tracking. UDP flows do not end and would continue to a removed node. */
export interface FlowTable {
  readonly forget: (records: readonly LoadBalancerRecord[], isHealthy: (backend: Backend) => boolean) => Promise<void>;
}

interface Flow {
  readonly address: string;
  readonly port: number;
  readonly node: string;
}

/** @param run `conntrack`; where it is missing, such flows end when they have been silent for half a minute */
export function flowTable(run: RunProgram, log: Pick<Logger, "warn">): FlowTable {
  let before: readonly Flow[] = [];
  let isMissing = false;
  const drop = async ({ address, port, node }: Flow): Promise<void> => {
    const which = ["--orig-dst", address, "--orig-port-dst", String(port), "--reply-src", node];
    // Ends with 1 where there was none.
    await run("conntrack", ["-D", "-p", "udp", ...which]);
  };
  return {
    forget: async (records, isHealthy) => {
      const now = udpFlows(records, isHealthy);
      const known = new Set(now.map(idOf));
      const gone = before.filter((flow) => !known.has(idOf(flow)));
      before = now;
      if (isMissing) return;
      try {
        for (const flow of gone) await drop(flow);
      } catch (error) {
        isMissing = true;
        const reason = error instanceof Error ? error.message : String(error);
        log.warn("UDP flows to previous targets continue until they are idle for half a minute", { reason });
      }
    },
  };
}

function udpFlows(records: readonly LoadBalancerRecord[], isHealthy: (backend: Backend) => boolean): readonly Flow[] {
  return listenersOf(records, "nftables")
    .filter(({ port }) => port.protocol === "UDP")
    .flatMap(({ address, port, backends }) =>
      backends.filter(isHealthy).map((backend) => ({ address, port: port.port, node: backend.address })),
    );
}

function idOf({ address, port, node }: Flow): string {
  return `${address} ${port} ${node}`;
}
