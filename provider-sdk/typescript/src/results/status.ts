import type { Any } from "@cloudwire/proto/google/protobuf/any";
import {
  BadRequest,
  ErrorInfo,
  Help,
  PreconditionFailure,
  QuotaFailure,
  ResourceInfo,
  RetryInfo,
} from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import { errorDomain } from "@cloudwire/proto/reasons";
import { toDuration } from "../util/duration.ts";
import { redactText } from "../telemetry/redact.ts";
import type { ProviderError } from "./errors.ts";
import { cutToBytes, cutToHeaderBytes, maxMessageBytes } from "./text-budget.ts";

/** An error as it leaves: code, text and the serialised google.rpc.Status for `grpc-status-details-bin`. */
export interface ErrorStatus {
  readonly code: number;
  readonly message: string;
  readonly details: Buffer;
}

/** Most bytes of serialised details. 60 kB hang a caller, C-core refuses above 6.5 kB (contract, section 2). */
export const maxDetailsBytes = 4_096;

/** Most bytes of one text inside the details. */
const maxTextBytes = 512;
const maxMetadataBytes = 1_024;

/** Makes the status of an error, within the trailer budget: what helps least goes first, ErrorInfo and RetryInfo stay. */
export const toStatus = (error: ProviderError): ErrorStatus => {
  const message = cutToBytes(redactText(error.message) || error.reason, maxMessageBytes);
  const required = [errorInfo(error), ...retryInfo(error)];
  const encode = (details: readonly Any[]): Buffer =>
    Buffer.from(Status.encode({ code: error.grpcCode, message, details: [...details] }).finish());
  const details = [...required];
  for (const optional of optionalDetails(error)) {
    if (encode([...details, optional]).length <= maxDetailsBytes) details.push(optional);
  }
  return { code: error.grpcCode, message: cutToHeaderBytes(message, maxMessageBytes), details: encode(details) };
};

const any = (name: string, value: Uint8Array): Any => ({
  typeUrl: `type.googleapis.com/google.rpc.${name}`,
  value: Buffer.from(value),
});

const text = (value: string): string => cutToBytes(redactText(value), maxTextBytes);

const errorInfo = (error: ProviderError): Any => {
  const value = ErrorInfo.fromPartial({
    reason: cutToBytes(error.reason, 63),
    domain: cutToBytes(error.domain ?? errorDomain, 253),
    metadata: boundedMetadata(error.metadata),
  });
  return any("ErrorInfo", ErrorInfo.encode(value).finish());
};

/** Keeps whole entries, in their order, as long as they fit. */
export const boundedMetadata = (metadata: Readonly<Record<string, string>>): Record<string, string> => {
  let left = maxMetadataBytes;
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata)) {
    const cut = text(value);
    const size = Buffer.byteLength(key) + Buffer.byteLength(cut);
    if (size > left) continue;
    left -= size;
    kept[key] = cut;
  }
  return kept;
};

const retryInfo = (error: ProviderError): readonly Any[] =>
  error.retryAfterMs === undefined
    ? []
    : [any("RetryInfo", RetryInfo.encode({ retryDelay: toDuration(error.retryAfterMs) }).finish())];

/** Most useful first. */
const optionalDetails = (error: ProviderError): readonly Any[] => [
  ...badRequest(error),
  ...quotaFailure(error),
  ...preconditionFailure(error),
  ...resourceInfo(error),
  ...help(error),
];

const badRequest = (error: ProviderError): readonly Any[] => {
  if (error.fields.length === 0) return [];
  // Room for ErrorInfo and the message beside it.
  const budgetBytes = maxDetailsBytes / 2;
  const kept: { field: string; description: string }[] = [];
  let usedBytes = 0;
  for (const [index, problem] of error.fields.entries()) {
    const violation = {
      field: cutToBytes(problem.field, 317),
      description: cutToBytes(redactText(problem.description), 253),
    };
    usedBytes += Buffer.byteLength(violation.field) + Buffer.byteLength(violation.description) + 8;
    if (usedBytes > budgetBytes) {
      kept.push({ field: "", description: `and ${error.fields.length - index} more` });
      break;
    }
    kept.push(violation);
  }
  return [any("BadRequest", BadRequest.encode({ fieldViolations: kept }).finish())];
};

const quotaFailure = ({ quota }: ProviderError): readonly Any[] =>
  quota === undefined
    ? []
    : [
        any(
          "QuotaFailure",
          QuotaFailure.encode({
            violations: [{ subject: text(quota.subject), description: text(quota.description) }],
          }).finish(),
        ),
      ];

const preconditionFailure = ({ precondition }: ProviderError): readonly Any[] =>
  precondition === undefined
    ? []
    : [
        any(
          "PreconditionFailure",
          PreconditionFailure.encode({
            violations: [
              {
                type: text(precondition.type),
                subject: text(precondition.subject),
                description: text(precondition.description),
              },
            ],
          }).finish(),
        ),
      ];

const resourceInfo = ({ resource }: ProviderError): readonly Any[] =>
  resource === undefined
    ? []
    : [
        any(
          "ResourceInfo",
          ResourceInfo.encode({
            resourceType: text(resource.type),
            resourceName: text(resource.name),
            owner: text(resource.owner ?? ""),
            description: "",
          }).finish(),
        ),
      ];

const help = ({ help: link }: ProviderError): readonly Any[] =>
  link === undefined
    ? []
    : [any("Help", Help.encode({ links: [{ description: text(link.description), url: text(link.url) }] }).finish())];
