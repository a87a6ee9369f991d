import { chmod, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { codeNames } from "@cloudwire/proto/codes";
import { detailsFromJson } from "@cloudwire/proto/status-details";
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  status,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Json } from "../../client/json.ts";
import { CommandError, messageOf } from "../../errors.ts";
import { Matcher, NOT_RECORDED } from "./match.ts";
import { type Method, METHODS } from "./methods.ts";
import type { RecordedCall, RecordedEnd, Recording } from "./recording.ts";

export interface ServeOptions {
  readonly address: string;
  /** Of @grpc/grpc-js. */
  readonly target: string;
  /** Responses take as long as in the recording. @default no delay */
  readonly isPaced: boolean;
  /** Called for each request that is not in the recording. */
  readonly onUnknown: (message: string) => void;
}

/** The requests to a recording: their number, in the order of the contract's methods. */
export interface ServeReport {
  readonly answered: Readonly<Record<string, number>>;
  readonly unknown: readonly string[];
}

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** A provider must send a message at least every 30 s. */
const BOOKMARK_MS = 20_000;
/** As the contract requires: accessible to the group of the pod. */
const SOCKET_MODE = 0o660;

/** Serves a recording as a provider. */
export class RecordedServer implements AsyncDisposable {
  readonly #options: ServeOptions;
  readonly #matcher: Matcher;
  readonly #server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  readonly #ending = new AbortController();
  readonly #answered = new Map<string, number>();
  readonly #unknown: string[] = [];

  private constructor(recording: Recording, options: ServeOptions) {
    this.#options = options;
    this.#matcher = new Matcher(recording);
  }

  static async start(recording: Recording, options: ServeOptions): Promise<RecordedServer> {
    const server = new RecordedServer(recording, options);
    await server.#listen();
    return server;
  }

  get report(): ServeReport {
    const names = [...METHODS.keys()].filter((name) => this.#answered.has(name));
    return {
      answered: Object.fromEntries(names.map((name) => [name, this.#answered.get(name) ?? 0])),
      unknown: this.#unknown,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new Error("the server of the recording shuts down"));
    this.#server.forceShutdown();
    const path = socketPath(this.#options.target);
    if (path !== undefined) await rm(path, { force: true });
  }

  async #listen(): Promise<void> {
    const { address, target } = this.#options;
    const service: Record<string, ServiceDefinition[string]> = {};
    const handlers: UntypedServiceImplementation = {};
    for (const method of METHODS.values()) {
      service[method.name] = definition(method);
      const unary: handleUnaryCall<Json, Json> = (call, reply) => void this.#unary(method, call, reply);
      const stream: handleServerStreamingCall<Json, Json> = (call) => void this.#stream(method, call);
      handlers[method.name] = method.isStream ? stream : unary;
    }
    this.#server.addService(service, handlers);
    const path = socketPath(target);
    if (path !== undefined) await removeStale(path);
    await new Promise<void>((resolve, reject) => {
      this.#server.bindAsync(target, ServerCredentials.createInsecure(), (error) => {
        if (error === null) return resolve();
        reject(new CommandError("ADDRESS_UNAVAILABLE", `cannot listen on ${address}: ${messageOf(error)}`));
      });
    });
    if (path !== undefined) await chmod(path, SOCKET_MODE);
  }

  async #unary(method: Method, { request }: ServerUnaryCall<Json, Json>, reply: sendUnaryData<Json>): Promise<void> {
    const match = this.#matcher.match(method.name, request);
    if (match.kind === "unknown") return reply(this.#notRecorded(method, match.nearest));
    for (const item of match.missing) this.#report(`${method.name}: item not in the recording: ${item}`);
    this.#count(method);
    if (this.#options.isPaced) await sleep(match.tookMs);
    const { end } = match;
    if (end.code === "OK") reply(null, this.#matcher.translated(method, end.response ?? {}));
    else reply(failure(end));
  }

  async #stream(method: Method, call: ServerWritableStream<Json, Json>): Promise<void> {
    const match = this.#matcher.match(method.name, call.request);
    if (match.kind === "unknown") return void call.destroy(failureError(this.#notRecorded(method, match.nearest)));
    this.#count(method);
    const gone = new AbortController();
    call.once("cancelled", () => gone.abort(new Error("the client canceled the call")));
    const signal = AbortSignal.any([gone.signal, this.#ending.signal]);
    try {
      await this.#sendMessages(method, match.call, call, signal);
      if (match.end.code !== "OK") call.destroy(failureError(failure(match.end)));
      else await this.#stayOpen(call, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      call.end();
    }
  }

  async #sendMessages(
    method: Method,
    recorded: RecordedCall,
    call: ServerWritableStream<Json, Json>,
    signal: AbortSignal,
  ): Promise<void> {
    let atMs = recorded.atMs;
    for (const message of recorded.messages) {
      if (this.#options.isPaced) await sleep(message.atMs - atMs, undefined, { signal });
      atMs = message.atMs;
      call.write(this.#matcher.translated(method, message.response));
    }
  }

  async #stayOpen(call: ServerWritableStream<Json, Json>, signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(BOOKMARK_MS, undefined, { signal });
      call.write({ bookmark: {} });
    }
  }

  #notRecorded(method: Method, nearest: string): Failure {
    const message = `${method.name}: this request is not in the recording; ${nearest}`;
    this.#report(message);
    const details = [{ "@type": "google.rpc.ErrorInfo", ...NOT_RECORDED }];
    return failure({ code: "FAILED_PRECONDITION", message, details });
  }

  #report(message: string): void {
    this.#unknown.push(message);
    this.#options.onUnknown(message);
  }

  #count({ name }: Method): void {
    this.#answered.set(name, (this.#answered.get(name) ?? 0) + 1);
  }
}

const CODES = new Map<string, status>(codeNames.map((name) => [name, status[name]]));

interface Failure {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

function failure({ code: name, message, details }: Pick<RecordedEnd, "code" | "message" | "details">): Failure {
  const code = CODES.get(name) ?? status.UNKNOWN;
  const metadata = new Metadata();
  if (details.length > 0) metadata.set("grpc-status-details-bin", Buffer.from(detailsFromJson(code, message, details)));
  return { code, details: message, metadata };
}

/** Streams end with an error that carries the status. */
function failureError(failure: Failure): Error {
  return Object.assign(new Error(failure.details), failure);
}

function definition(method: Method): ServiceDefinition[string] {
  return {
    path: method.path,
    requestStream: false,
    responseStream: method.isStream,
    requestSerialize: method.encodeRequest,
    requestDeserialize: method.decodeRequest,
    responseSerialize: method.encodeResponse,
    responseDeserialize: method.decodeResponse,
  };
}

function socketPath(target: string): string | undefined {
  return target.startsWith("unix://") ? target.slice("unix://".length) : undefined;
}

/** A socket without a listener is left over from a killed process. */
async function removeStale(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) throw new CommandError("ADDRESS_UNAVAILABLE", `${path} exists and is not a socket`);
  const isServed = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
  if (isServed) throw new CommandError("ADDRESS_UNAVAILABLE", `another process listens on ${path}`);
  await rm(path, { force: true });
}
