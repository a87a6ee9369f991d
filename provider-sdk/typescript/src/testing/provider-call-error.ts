import type { ServiceError } from "@grpc/grpc-js";
import { codeNames } from "@cloudwire/proto/codes";
import { toErrorOutcome } from "./error-outcome.ts";

/** How a call to a provider failed, as the controller would see it. */
export class ProviderCallError extends Error {
  override readonly name = "ProviderCallError";
  /** Name of the gRPC code: `INVALID_ARGUMENT`. */
  readonly code: string;
  /** Reason of the contract's table or the vendor's own; undefined: the transport failed, not the provider. */
  readonly reason: string | undefined;
  /** Whose reason it is: `cloudprovider.v1`, or the vendor's DNS name. */
  readonly domain: string | undefined;
  /** Facts beside the reason: `limit`, `owner`, `cloud_request_ids`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Paths of the fields of the request that were refused, in proto spelling. */
  readonly fields: readonly string[];
  /** How long the caller is told to wait. */
  readonly retryAfterMs: number | undefined;

  /** Reads what grpc-js threw; `method` is the RPC that was called. */
  constructor(method: string, cause: ServiceError) {
    const seen = toErrorOutcome(cause);
    const code = codeNames[cause.code] ?? String(cause.code);
    super(`${method}: ${code}${seen.reason === undefined ? "" : ` ${seen.reason}`}: ${seen.message}`, { cause });
    this.code = code;
    this.reason = seen.reason;
    this.domain = seen.domain;
    this.metadata = seen.metadata;
    this.fields = seen.fields;
    this.retryAfterMs = seen.retryAfterMs;
  }
}
