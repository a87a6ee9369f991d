import type { CloudCall } from "../definition/call-context.ts";

/** How a call of the contract ended. */
export interface CallOutcome {
  /** Name of the gRPC code: `OK`, `UNAVAILABLE`. */
  readonly code: string;
  /** Reason of the contract or the vendor; empty for success. */
  readonly reason: string;
}

/** Counts what a provider does. */
export interface ProviderMetrics {
  readonly callStarted: (method: string) => void;
  readonly callEnded: (method: string, outcome: CallOutcome, seconds: number) => void;
  readonly cloudCall: (call: CloudCall) => void;
  /** Everything, as Prometheus reads it. */
  readonly render: () => Promise<{ readonly contentType: string; readonly body: string }>;
}

/** For providers whose figures nobody reads. */
export const noMetrics: Omit<ProviderMetrics, "render"> = {
  callStarted: () => undefined,
  callEnded: () => undefined,
  cloudCall: () => undefined,
};
