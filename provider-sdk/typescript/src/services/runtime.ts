import type { CallContext as WireCallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Capabilities, Limits } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { ProviderIds } from "../convert/provider-ids.ts";
import type { ProviderDefinition } from "../definition/provider.ts";
import type { Logger } from "../log/logger.ts";
import type { CloudOutcome } from "./call-recorder.ts";

/** What the services of one running provider share. */
export interface ProviderRuntime {
  readonly definition: ProviderDefinition;
  /** Random id of this process. */
  readonly bootId: string;
  readonly ids: ProviderIds;
  readonly capabilities: Capabilities;
  readonly limits: Limits;
  /** What the credentials reach now; undefined until it is known. */
  readonly scopeId: () => string | undefined;
  /** Told what real calls say about the cloud. */
  readonly observe: (outcome: CloudOutcome) => void;
  readonly log: Logger;
  readonly nowMs: () => number;
}

/** What every request but the handshake carries. */
export interface WithContext {
  readonly context: WireCallContext | undefined;
}
