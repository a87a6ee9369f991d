import { Server, ServerCredentials } from "@grpc/grpc-js";
import { type ReceivedSpan, readSpans } from "./otlp-spans.ts";

const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

export interface ReceiverTls {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

/** A collector that keeps what it is sent: OTLP over gRPC, on loopback. */
export class OtlpReceiver implements AsyncDisposable {
  readonly #server: Server;
  readonly #requests: Buffer[] = [];
  readonly #scheme: "http" | "https";
  #port = 0;

  private constructor(scheme: "http" | "https") {
    this.#scheme = scheme;
    this.#server = new Server();
    const same = (bytes: Buffer): Buffer => bytes;
    this.#server.addService(
      {
        Export: {
          path: EXPORT,
          requestStream: false,
          responseStream: false,
          requestSerialize: same,
          requestDeserialize: same,
          responseSerialize: same,
          responseDeserialize: same,
        },
      },
      {
        Export: (call: { readonly request: Buffer }, callback: (error: null, answer: Buffer) => void) => {
          this.#requests.push(call.request);
          callback(null, Buffer.alloc(0));
        },
      },
    );
  }

  /** In plain text, unless it gets a certificate. */
  static async start(tls?: ReceiverTls): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver(tls === undefined ? "http" : "https");
    const credentials =
      tls === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [{ cert_chain: tls.certificate, private_key: tls.key }]);
    receiver.#port = await new Promise<number>((resolve, reject) => {
      receiver.#server.bindAsync("127.0.0.1:0", credentials, (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
    return receiver;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.#port}`;
  }

  /** All that came, as it came. */
  get bytes(): Buffer {
    return Buffer.concat(this.#requests);
  }

  get spans(): readonly ReceivedSpan[] {
    return this.#requests.flatMap((request) => readSpans(request));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}
