import type { FaultSpec } from "../../api/admin.ts";

/** The data of the request pipeline about an API call. */
export interface Call {
  readonly operation: string;
  /** Empty until the key was recognized. */
  account: string;
  readonly faults: readonly FaultSpec[];
  /** IDs of the instances in the response, missing ones included. */
  asked: readonly string[];
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Name of the operation in faults, latencies and counters: `instances.list`. Paths without one are not API calls. */
    operation?: string;
    mutating?: boolean;
  }
  interface FastifyRequest {
    call: Call;
  }
}

/** How a path says which operation it is. */
export const reads = (operation: string) => ({ config: { operation, mutating: false } });
export const mutates = (operation: string) => ({ config: { operation, mutating: true } });
