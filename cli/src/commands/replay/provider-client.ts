import { detailsToJson } from "@cloudwire/proto/status-details";
import { codeNames } from "@cloudwire/proto/codes";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import type { Json } from "../../client/json.ts";
import { CommandError } from "../../errors.ts";
import type { Method } from "./methods.ts";

/** How a call ended. */
export interface Outcome {
  readonly code: string;
  readonly message: string;
  readonly details: readonly Json[];
  /** undefined: there was no message. */
  readonly response: Json | undefined;
}

/** A call under way. */
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

/** Calls a provider as recordings have it: JSON in, JSON out. */
export class ProviderClient implements Disposable {
  readonly #client: Client;
  readonly #address: string;

  /** @param target of @grpc/grpc-js */
  constructor(address: string, target: string) {
    this.#address = address;
    const authority = target.startsWith("unix:") ? { "grpc.default_authority": "localhost" } : {};
    this.#client = new Client(target, credentials.createInsecure(), { ...OPTIONS, ...authority });
  }

  /** Rejects when nobody answers there in time. */
  connected(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(Date.now() + timeoutMs, (error) => {
        if (error === undefined) return resolve();
        reject(new CommandError(`${this.#address} takes no calls after ${timeoutMs} ms; does a provider serve there?`));
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

  /** Its messages are read and thrown away: hints come when the provider sees something. */
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
