import type { ItemError } from "@cloudwire/proto/cloudprovider/v1/error";
import { errorDomain } from "@cloudwire/proto/reasons";
import { redactText } from "../telemetry/redact.ts";
import { toDuration } from "../util/duration.ts";
import type { ProviderError } from "./errors.ts";
import { boundedMetadata } from "./status.ts";
import { cutToBytes, maxMessageBytes } from "./text-budget.ts";

/** The error of one item inside an OK answer. */
export const toItemError = (error: ProviderError): ItemError => ({
  code: error.grpcCode,
  reason: cutToBytes(error.reason, 63),
  domain: error.domain === undefined || error.domain === errorDomain ? "" : cutToBytes(error.domain, 253),
  message: cutToBytes(redactText(error.message) || error.reason, maxMessageBytes),
  retryAfter: error.retryAfterMs === undefined ? undefined : toDuration(error.retryAfterMs),
  metadata: boundedMetadata(error.metadata),
  field: cutToBytes(error.fields[0]?.field ?? "", 317),
});
