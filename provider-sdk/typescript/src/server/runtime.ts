import type { CallContext as WireCallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Capabilities, Limits } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { CloudFetcher } from "../cloud/cloud-fetch.ts";
import { fromWireCluster } from "./convert/common.ts";
import type { ProviderIds } from "./convert/provider-ids.ts";
import type { CloudCall } from "../definition/call-context.ts";
import type { ProviderDefinition } from "../definition/provider.ts";
import { ProviderError } from "../results/errors.ts";
import type { Logger } from "../telemetry/log.ts";
import type { RpcCall } from "./rpc/method.ts";
import type { Clock } from "../util/clock.ts";
import type { RuleChecker } from "@cloudwire/proto/rule-checker";
import { CallRecorder, type CloudOutcome } from "../telemetry/call-recorder.ts";

/** What the services of one running provider share. */
export interface ProviderRuntime {
  readonly definition: ProviderDefinition;
  /** Random id of this process. */
  readonly bootId: string;
  readonly ids: ProviderIds;
  readonly capabilities: Capabilities;
  readonly limits: Limits;
  readonly rules: RuleChecker;
  /** What the credentials reach now; undefined until it is known. */
  readonly scopeId: () => string | undefined;
  /** Called with what real calls show about the cloud. */
  readonly observe: (outcome: CloudOutcome) => void;
  /** Makes the requests to the cloud. */
  readonly cloud: CloudFetcher;
  /** Called after each request to the cloud. */
  readonly cloudCalled: (call: CloudCall) => void;
  /** Aborted when the provider begins to shut down: streams end, lists are dropped. */
  readonly draining: AbortSignal;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** The same time, with timers. */
  readonly clock: Clock;
}

/** What every request but the handshake carries. */
export interface WithContext {
  readonly context: WireCallContext | undefined;
}

/** The recorder of one call. */
export const recorderFor = (
  runtime: ProviderRuntime,
  request: WithContext,
  call: RpcCall,
  signal?: AbortSignal,
): CallRecorder =>
  new CallRecorder({
    call,
    cluster: fromWireCluster(request.context?.cluster),
    log: runtime.log,
    nowMs: runtime.nowMs,
    observe: runtime.observe,
    cloud: runtime.cloud,
    cloudCalled: runtime.cloudCalled,
    ...(signal ? { signal } : {}),
  });

/** The scope, or a refusal that makes the caller come again. */
export const knownScope = (runtime: Pick<ProviderRuntime, "scopeId">): string => {
  const scopeId = runtime.scopeId();
  if (scopeId !== undefined) return scopeId;
  throw new ProviderError(
    "PROVIDER_STARTING",
    "The provider does not know yet what its credentials reach; it keeps asking the cloud",
    { retryAfterMs: 2_000 },
  );
};

/** The refusal of calls and the end of streams while the provider shuts down. */
export const draining = (): ProviderError =>
  new ProviderError("PROVIDER_DRAINING", "The provider is shutting down; call again when it is back", {
    retryAfterMs: 1_000,
  });
