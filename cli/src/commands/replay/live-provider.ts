import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeNames } from "@cloudwire/proto/codes";
import { detailsToJson } from "@cloudwire/proto/status-details";
import { Client, Metadata, type ServiceError, credentials } from "@grpc/grpc-js";
import type { Json } from "../../client/json.ts";
import { CommandError } from "../../errors.ts";
import type { Method } from "./methods.ts";

/** How a call ended. */
export interface Outcome {
  readonly code: string;
  readonly message: string;
  readonly details: readonly Json[];
  /** undefined: no response message. */
  readonly response: Json | undefined;
}

/** A call in progress. */
export interface LiveCall {
  readonly ended: Promise<Outcome>;
  readonly giveUp: () => void;
}

export interface Calling {
  readonly requestId: string;
  /** undefined: none. */
  readonly timeoutMs: number | undefined;
}

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const OPTIONS = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  "grpc.enable_retries": 0,
  "grpc.enable_http_proxy": 0,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 500,
};

/** Calls a provider with JSON requests and JSON responses. */
export class ProviderClient implements Disposable {
  readonly #client: Client;
  readonly #address: string;

  /** @param target of @grpc/grpc-js */
  constructor(address: string, target: string) {
    this.#address = address;
    const authority = target.startsWith("unix:") ? { "grpc.default_authority": "localhost" } : {};
    this.#client = new Client(target, credentials.createInsecure(), { ...OPTIONS, ...authority });
  }

  /** Rejects without a response in time. */
  connected(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(Date.now() + timeoutMs, (error) => {
        if (error === undefined) return resolve();
        reject(
          new CommandError(
            "PROVIDER_UNREACHABLE",
            `no provider accepts calls at ${this.#address} after ${timeoutMs} ms`,
          ),
        );
      });
    });
  }

  call(method: Method, request: Json, calling: Calling): LiveCall {
    return method.isStream ? this.#stream(method, request, calling) : this.#unary(method, request, calling);
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #unary(method: Method, request: Json, { requestId, timeoutMs }: Calling): LiveCall {
    const { promise: ended, resolve } = Promise.withResolvers<Outcome>();
    const call = this.#client.makeUnaryRequest(
      method.path,
      method.encodeRequest,
      method.decodeResponse,
      request,
      metadata(requestId),
      timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs },
      (error, response) => {
        resolve(error === null ? { code: "OK", message: "", details: [], response } : failed(error));
      },
    );
    return { ended, giveUp: () => call.cancel() };
  }

  /** Discards the messages: their times depend on the cloud. */
  #stream(method: Method, request: Json, { requestId }: Calling): LiveCall {
    const { promise: ended, resolve } = Promise.withResolvers<Outcome>();
    const { path, encodeRequest, decodeResponse } = method;
    const call = this.#client.makeServerStreamRequest(
      path,
      encodeRequest,
      decodeResponse,
      request,
      metadata(requestId),
    );
    call.on("data", () => undefined);
    call.once("error", (error: ServiceError) => resolve(failed(error)));
    call.once("end", () => resolve({ code: "OK", message: "", details: [], response: undefined }));
    return { ended, giveUp: () => call.cancel() };
  }
}

function metadata(requestId: string): Metadata {
  const made = new Metadata();
  made.set("x-request-id", requestId);
  made.set("x-controller-version", "replay");
  return made;
}

function failed(error: ServiceError): Outcome {
  const [details] = error.metadata.get("grpc-status-details-bin");
  return {
    code: codeNames[error.code] ?? "UNKNOWN",
    message: error.details,
    details: typeof details === "object" ? detailsToJson(details) : [],
    response: undefined,
  };
}

/** Grace period before the provider is killed. */
const END_MS = 10_000;
/** Length of its output in a message. */
const KEPT_BYTES = 4000;

/** A provider started for one replay by a shell command, which serves at CLOUD_PROVIDER_ENDPOINT. */
export class ProviderProcess implements AsyncDisposable {
  readonly address: string;
  readonly #directory: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #failed = Promise.withResolvers<never>();
  #output = "";
  #isEnding = false;

  private constructor(command: string, directory: string, environment: Readonly<Record<string, string | undefined>>) {
    this.#directory = directory;
    this.address = `unix://${join(directory, "provider.sock")}`;
    this.#process = spawn("sh", ["-c", command], {
      env: { ...environment, CLOUD_PROVIDER_ENDPOINT: this.address },
      stdio: ["ignore", "pipe", "pipe"],
      // A separate process group, so that all its processes are stopped.
      detached: true,
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output = `${this.#output}${text}`.slice(-KEPT_BYTES);
      });
    }
    this.#failed.promise.catch(() => undefined);
    this.#ended = new Promise((resolve) => {
      this.#process.once("error", () => resolve());
      this.#process.once("close", () => resolve());
    });
    void this.#watch();
  }

  static async start(
    command: string,
    environment: Readonly<Record<string, string | undefined>>,
  ): Promise<ProviderProcess> {
    return new ProviderProcess(command, await mkdtemp(join(tmpdir(), "replay-")), environment);
  }

  /** Rejects when the provider exits early. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    this.#signal("SIGTERM");
    const kill = setTimeout(() => this.#signal("SIGKILL"), END_MS);
    await this.#ended;
    clearTimeout(kill);
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #watch(): Promise<void> {
    await this.#ended;
    if (this.#isEnding) return;
    this.#failed.reject(
      new CommandError("PROVIDER_EXITED", `the provider exited; the end of its output:\n${this.#output}`),
    );
  }

  #signal(name: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(-pid, name);
    } catch {
      // It has ended.
    }
  }
}
