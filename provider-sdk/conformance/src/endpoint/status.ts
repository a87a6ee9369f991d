import { errorText } from "../errors.ts";
import type { IncomingHttpHeaders } from "node:http2";
import { codeNames } from "@cloudwire/proto/codes";
import { BadRequest, ErrorInfo, RetryInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";

/** What a peer can see of an error. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  /** Short type names of the details, in their order, such as ErrorInfo. */
  readonly details: readonly string[];
  readonly detailsBytes: number;
  /** Why the details could not be read. */
  readonly detailsProblem?: string;
  readonly infos: readonly ErrorInfo[];
  /** Paths of all BadRequest details. */
  readonly fields: readonly string[];
  readonly retryDelayMs?: number;
}

/** `INVALID_ARGUMENT`, or the number if it has no name. */
export const codeName = (code: number): string => codeNames[code] ?? `code ${code}`;

/** One header as text; the first, if it came several times. */
export const headerText = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** All headers as texts, but for those of HTTP/2 itself and the date. */
export const headerTexts = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(headers)
      .filter((name) => !name.startsWith(":") && name !== "date")
      .map((name) => [name, headerText(headers, name) ?? ""]),
  );

/** Takes the error out of trailers whose code is not 0. */
export const parseError = (code: number, trailers: IncomingHttpHeaders): WireError => {
  const message = decodeMessage(headerText(trailers, "grpc-message") ?? "");
  const bytes = Buffer.from(headerText(trailers, "grpc-status-details-bin") ?? "", "base64");
  const none = { code, message, details: [], detailsBytes: bytes.length, infos: [], fields: [] };
  try {
    const { details } = Status.decode(bytes);
    const named = details.map(({ typeUrl, value }) => ({ name: typeUrl.replace(/^.*[./]/, ""), value }));
    const of = (name: string): Buffer[] => named.filter((detail) => detail.name === name).map(({ value }) => value);
    const retry = of("RetryInfo").map((value) => RetryInfo.decode(value).retryDelay)[0];
    return {
      ...none,
      details: named.map(({ name }) => name),
      infos: of("ErrorInfo").map((value) => ErrorInfo.decode(value)),
      fields: of("BadRequest").flatMap((value) => BadRequest.decode(value).fieldViolations.map(({ field }) => field)),
      ...(retry && { retryDelayMs: Number(retry.seconds) * 1_000 + retry.nanos / 1_000_000 }),
    };
  } catch (cause) {
    return { ...none, detailsProblem: errorText(cause) };
  }
};

/** gRPC escapes what a header cannot carry as percent and two hex digits. */
const decodeMessage = (text: string): string => {
  try {
    return decodeURIComponent(text.replace(/%(?![0-9a-fA-F]{2})/g, "%25"));
  } catch {
    return text;
  }
};
