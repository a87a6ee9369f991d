import { BadRequest, ErrorInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import type { ProviderDefinition } from "@cloudwire/provider-sdk";
import { serviceName } from "../contract/methods.ts";
import { cutFrames, frame } from "../endpoint/frames.ts";
import type { Hooks } from "../suite/hooks.ts";
import type { Intercept, ProxiedReply, ProxiedRequest, ProxyOptions } from "./mutant-proxy.ts";

/** A provider with one fault. */
export interface Mutant extends Omit<ProxyOptions, "intercept"> {
  readonly name: string;
  /** Description of the fault. */
  readonly fault: string;
  /** IDs of the checks that must fail; no others may. */
  readonly fails: readonly string[];
  /** Patterns of the checks to run, if others would wait or fail at random; give the reason. Default: all that can detect the fault. */
  readonly only?: readonly string[];
  /** Highest level of the checks in `only`. Default R. From D on, the cloud can fail, and it has enough instances for level X. */
  readonly level?: "M" | "D" | "X";
  /** Factor for the kit's timeouts, if the check only waits for a timeout. */
  readonly patience?: number;
  /** Alters the hooks, for faults in their results. */
  readonly hooks?: (hooks: Hooks) => Hooks;
  /** Patterns of checks to skip. */
  readonly skip?: readonly string[];
  readonly intercept?: Intercept;
}

interface Codec<Message> {
  readonly name: string;
  readonly responseType: {
    decode(bytes: Uint8Array): Message;
    encode(message: Message): { finish(): Uint8Array };
  };
}

const largest = 64 * 2 ** 20;

/** The single message of a body; undefined: none. */
export const messageOf = (body: Buffer): Buffer | undefined => cutFrames(body, largest).messages[0];

/** The decoded request of a method; undefined: another method, or invalid bytes. */
export const requestOf = <Message>(
  request: ProxiedRequest,
  method: { readonly name: string; readonly requestType: { decode(bytes: Uint8Array): Message } },
  service?: string,
): Message | undefined => {
  const bytes = isCall(request, method.name, service) ? messageOf(request.body) : undefined;
  try {
    return bytes && method.requestType.decode(bytes);
  } catch {
    return undefined;
  }
};

/** A successful response. */
export const okReply = (message: Uint8Array): ProxiedReply => ({
  headers: {},
  body: frame(message),
  trailers: { "grpc-status": "0" },
});

/** An error without details. */
export const bareError = (code: number, message: string): ProxiedReply => ({
  headers: {},
  body: Buffer.alloc(0),
  trailers: { "grpc-status": String(code), "grpc-message": encodeURIComponent(message) },
});

const pathOf = (method: string, service: string = serviceName): string => `/${service}/${method}`;

/** Whether a call has this method. */
export const isCall = (request: ProxiedRequest, method: string, service?: string): boolean =>
  request.path === pathOf(method, service);

/** Alters the successful responses of a method. */
export const alterResponse =
  <Message>(method: Codec<Message>, alter: (message: Message) => Message, service?: string): Intercept =>
  async (request, next) => {
    const reply = await next(request);
    const bytes = isCall(request, method.name, service) ? messageOf(reply.body) : undefined;
    if (bytes === undefined) return reply;
    const message = alter(method.responseType.decode(bytes));
    return { ...reply, body: frame(method.responseType.encode(message).finish()) };
  };

/** The parts of an error. */
export interface ErrorParts {
  readonly code: number;
  readonly message: string;
  readonly details: Status["details"];
}

/** Reads the parts of an error reply; undefined for other replies. */
export const errorParts = (
  reply: ProxiedReply,
): (ErrorParts & { readonly reason: string; readonly fields: readonly string[] }) | undefined => {
  const code = Number(reply.trailers["grpc-status"] ?? "0");
  const encoded = reply.trailers["grpc-status-details-bin"];
  if (code === 0 || encoded === undefined) return undefined;
  const { details, message } = Status.decode(Buffer.from(encoded, "base64"));
  const of = (name: string): Buffer | undefined => details.find(({ typeUrl }) => typeUrl.endsWith(`.${name}`))?.value;
  const [info, bad] = [of("ErrorInfo"), of("BadRequest")];
  return {
    code,
    message,
    details,
    reason: info === undefined ? "" : ErrorInfo.decode(info).reason,
    fields: bad === undefined ? [] : BadRequest.decode(bad).fieldViolations.map(({ field }) => field),
  };
};

/** An error from its parts. */
export const errorReply = (reply: ProxiedReply, { code, message, details }: ErrorParts): ProxiedReply => ({
  ...reply,
  trailers: {
    ...reply.trailers,
    "grpc-status": String(code),
    "grpc-message": encodeURIComponent(message),
    "grpc-status-details-bin": Buffer.from(Status.encode({ code, message, details: [...details] }).finish())
      .toString("base64")
      .replace(/=+$/, ""),
  },
});

/** Alters only the error that names a field of GetProviderInfo. */
export const alterError =
  (alter: (parts: ErrorParts) => ErrorParts): Intercept =>
  async (request, next) => {
    const reply = await next(request);
    const parts = errorParts(reply);
    return parts?.fields.includes("client.version") === true ? errorReply(reply, alter(parts)) : reply;
  };

/** Replaces matching errors of a method with an empty successful response. */
export const suppressErrors =
  (method: string, isForgiven: (error: NonNullable<ReturnType<typeof errorParts>>) => boolean): Intercept =>
  async (request, next) => {
    const reply = await next(request);
    const parts = isCall(request, method) ? errorParts(reply) : undefined;
    return parts !== undefined && isForgiven(parts) ? okReply(Buffer.alloc(0)) : reply;
  };

/** Replaces successful responses of a method. Errors pass, so requests are still validated. */
export const replaceResponse =
  (method: string, message: (request: ProxiedRequest) => Uint8Array): Intercept =>
  async (request, next) => {
    const reply = await next(request);
    const isServed = reply.trailers["grpc-status"] === "0";
    return isServed && isCall(request, method) ? okReply(message(request)) : reply;
  };

/** Replies to matching requests without calling the provider. */
export const replyIf =
  (
    condition: (request: ProxiedRequest) => boolean,
    reply: ProxiedReply | "cut" | "hang" | ((request: ProxiedRequest) => ProxiedReply),
  ): Intercept =>
  async (request, next) => {
    if (!condition(request)) return next(request);
    return typeof reply === "function" ? reply(request) : reply;
  };

/** ID of the check that validates the request fields of a method. */
export const fieldsOf = (method: string): string =>
  `val.fields.${method.replace(/(?<!^)([A-Z])/g, "-$1").toLowerCase()}`;

/** A provider whose process has a fault. */
export interface ProcessMutant {
  readonly name: string;
  /** Description of the fault. */
  readonly fault: string;
  /** IDs of the checks that must fail; no others may. Empty: the kit reports that the provider is never ready. */
  readonly fails: readonly string[];
  /** Transport. Default: a Unix socket. */
  readonly transport?: "tls";
  /** The provider that it serves. Default: the correct one with all capabilities. */
  readonly definition?: (socket: string) => ProviderDefinition;
  /** Runs before it serves, with the path of its socket. */
  readonly before?: (socket: string) => void | Promise<void>;
  /** Alters calls. */
  readonly intercept?: Intercept;
  /** Runs once it serves. */
  readonly after?: (socket: string) => void;
}
