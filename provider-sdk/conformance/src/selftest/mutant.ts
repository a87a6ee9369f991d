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
  /** What it does wrong. */
  readonly fault: string;
  /** Ids of the checks that fail on it: these and no others. */
  readonly fails: readonly string[];
  /** Patterns of the checks that are run, where most others would wait or fail by chance; say why. Default: all that see the fault. */
  readonly only?: readonly string[];
  /** Highest level of checks that `only` names; default R. From D on the cloud can be broken, and there is enough for level X. */
  readonly level?: "M" | "D" | "X";
  /** Multiplies the kit's patience, where nothing else is waited for than something that does not happen. */
  readonly patience?: number;
  /** What it is about is how the vendor's actions turn out. */
  readonly hooks?: (hooks: Hooks) => Hooks;
  /** Patterns of further checks that are not. */
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

/** The one message of a body; undefined where there is none. */
export const messageOf = (body: Buffer): Buffer | undefined => cutFrames(body, largest).messages[0];

/** The request of a method; undefined where the call is of another, or its bytes are none of its messages. */
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

/** An answer of a message. */
export const okReply = (message: Uint8Array): ProxiedReply => ({
  headers: {},
  body: frame(message),
  trailers: { "grpc-status": "0" },
});

/** An error as a careless server makes it. */
export const bareError = (code: number, message: string): ProxiedReply => ({
  headers: {},
  body: Buffer.alloc(0),
  trailers: { "grpc-status": String(code), "grpc-message": encodeURIComponent(message) },
});

const pathOf = (method: string, service: string = serviceName): string => `/${service}/${method}`;

/** Whether a call is of a method. */
export const isCall = (request: ProxiedRequest, method: string, service?: string): boolean =>
  request.path === pathOf(method, service);

/** Changes the answers of a method; errors pass. */
export const alterResponse =
  <Message>(method: Codec<Message>, alter: (message: Message) => Message, service?: string): Intercept =>
  async (request, next) => {
    const reply = await next(request);
    const bytes = isCall(request, method.name, service) ? messageOf(reply.body) : undefined;
    if (bytes === undefined) return reply;
    const message = alter(method.responseType.decode(bytes));
    return { ...reply, body: frame(method.responseType.encode(message).finish()) };
  };

/** An error taken apart. */
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

/** An error put together again. */
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

/** Changes the one error that names a field of GetProviderInfo; all others are right. */
export const alterError =
  (alter: (parts: ErrorParts) => ErrorParts): Intercept =>
  async (request, next) => {
    const reply = await next(request);
    const parts = errorParts(reply);
    return parts?.fields.includes("client.version") === true ? errorReply(reply, alter(parts)) : reply;
  };

/** Answers a refusal of a method with OK and nothing, where the error is one of those. */
export const forgive =
  (method: string, isForgiven: (error: NonNullable<ReturnType<typeof errorParts>>) => boolean): Intercept =>
  async (request, next) => {
    const reply = await next(request);
    const parts = isCall(request, method) ? errorParts(reply) : undefined;
    return parts !== undefined && isForgiven(parts) ? okReply(Buffer.alloc(0)) : reply;
  };

/** Answers calls of a method by itself, but those that the provider refuses: a fault behind the validation of requests. */
export const instead =
  (method: string, message: (request: ProxiedRequest) => Uint8Array): Intercept =>
  async (request, next) => {
    const reply = await next(request);
    const isServed = reply.trailers["grpc-status"] === "0";
    return isServed && isCall(request, method) ? okReply(message(request)) : reply;
  };

/** Answers calls that meet a condition by itself. */
export const when =
  (
    condition: (request: ProxiedRequest) => boolean,
    reply: ProxiedReply | "cut" | "hang" | ((request: ProxiedRequest) => ProxiedReply),
  ): Intercept =>
  async (request, next) => {
    if (!condition(request)) return next(request);
    return typeof reply === "function" ? reply(request) : reply;
  };

/** Id of the check of the fields of a method's requests. */
export const fieldsOf = (method: string): string =>
  `val.fields.${method.replace(/(?<!^)([A-Z])/g, "-$1").toLowerCase()}`;

/** A provider with a fault in how its process lives. */
export interface ProcessMutant {
  readonly name: string;
  /** What it does wrong. */
  readonly fault: string;
  /** Ids of the checks that fail on it: these and no others. None: the kit says that it is never ready. */
  readonly fails: readonly string[];
  /** How it is reached. Default: at a socket. */
  readonly transport?: "tls";
  /** What it serves at a socket. Default: the correct provider of everything. */
  readonly definition?: (socket: string) => ProviderDefinition;
  /** What its process does before it serves; gets the path of its socket. */
  readonly before?: (socket: string) => void | Promise<void>;
  /** What it does to calls. */
  readonly intercept?: Intercept;
  /** What its process does once it serves. */
  readonly after?: (socket: string) => void;
}
