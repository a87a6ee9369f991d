import type { ItemError } from "@cloudwire/proto/cloudprovider/v1/error";
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
import { type MethodRule, methodRules } from "@cloudwire/proto/methods";
import { errorDomain } from "@cloudwire/proto/reasons";
import { redactText } from "../telemetry/log.ts";
import { toDuration } from "../util/clock.ts";
import { ProviderError } from "./errors.ts";

/** An error as it leaves: code, text and the serialized google.rpc.Status for `grpc-status-details-bin`. */
export interface ErrorStatus {
  readonly code: number;
  readonly message: string;
  readonly details: Buffer;
}

/** Most bytes of serialized details. 60 kB hang a caller, C-core refuses above 6.5 kB (contract, section 2). */
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
const boundedMetadata = (metadata: Readonly<Record<string, string>>): Record<string, string> => {
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
  if (error.fieldViolations.length === 0) return [];
  // Room for ErrorInfo and the message beside it.
  const budgetBytes = maxDetailsBytes / 2;
  const kept: { field: string; description: string }[] = [];
  let usedBytes = 0;
  for (const [index, problem] of error.fieldViolations.entries()) {
    const violation = {
      field: cutToBytes(problem.field, 317),
      description: cutToBytes(redactText(problem.description), 253),
    };
    usedBytes += Buffer.byteLength(violation.field) + Buffer.byteLength(violation.description) + 8;
    if (usedBytes > budgetBytes) {
      kept.push({ field: "", description: `and ${error.fieldViolations.length - index} more` });
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

/** The error of one item inside an OK answer. */
export const toItemError = (error: ProviderError): ItemError => ({
  code: error.grpcCode,
  reason: cutToBytes(error.reason, 63),
  domain: error.domain === undefined || error.domain === errorDomain ? "" : cutToBytes(error.domain, 253),
  message: cutToBytes(redactText(error.message) || error.reason, maxMessageBytes),
  retryAfter: error.retryAfterMs === undefined ? undefined : toDuration(error.retryAfterMs),
  metadata: boundedMetadata(error.metadata),
  field: cutToBytes(error.fieldViolations[0]?.field ?? "", 317),
});

/** Where an error is reported: as the outcome of a call, or of one item in its response. */
export type ErrorPlace = "call" | "item";

const rules: ReadonlyMap<string, MethodRule> = new Map(Object.entries(methodRules));

/**
 * The error as it may be reported: the contract lists the reasons of each RPC, and a caller acts on them. Another reason
 * is a bug of the provider and becomes INVARIANT_BROKEN, which keeps its text. A vendor's own reasons pass.
 */
export const permittedError = (error: ProviderError, method: string, place: ErrorPlace): ProviderError => {
  const rule = rules.get(method);
  if (!rule || error.domain !== undefined) return error;
  const permitted: readonly string[] = place === "call" ? rule.reasons : rule.itemReasons;
  if (permitted.includes(error.reason)) return error;
  const what = place === "call" ? method : `an item of ${method}`;
  return new ProviderError("INVARIANT_BROKEN", `${error.reason} is no reason of ${what}: ${error.message}`, {
    cause: error,
  });
};

/** Longest message of an error, in bytes of UTF-8. Contract, section 3.11. */
export const maxMessageBytes = 1_024;

/** Cuts a text to so many bytes of UTF-8, never inside a character, and shows that it was cut. */
export const cutToBytes = (text: string, maxBytes: number): string =>
  cutWhile(text.toWellFormed(), (candidate) => Buffer.byteLength(candidate) <= maxBytes);

/**
 * A text for people as a response may have it: cut to so many bytes, and without control characters except tabs and line breaks. The
 * controller would refuse the whole response.
 */
export const responseText = (text: string, maxBytes: number): string =>
  cutToBytes(text.replaceAll(/[^\P{Cc}\t\n\r]/gu, "\uFFFD"), maxBytes);

/**
 * Cuts a text so that its percent-encoded form, as in `grpc-message`, is at most so many bytes. Half a surrogate
 * pair makes grpc-js throw where no caller can catch it, so the text is made well formed first.
 */
export const cutToHeaderBytes = (text: string, maxBytes: number): string =>
  cutWhile(text.toWellFormed(), (candidate) => encodeURI(candidate).length <= maxBytes);

const cutWhile = (text: string, fits: (candidate: string) => boolean): string => {
  if (fits(text)) return text;
  const characters = Array.from(text.slice(0, 8_192));
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(`${characters.slice(0, middle).join("")}…`)) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join("")}…`;
};
