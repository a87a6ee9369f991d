import {
  type ProviderAddress,
  type TlsMaterial,
  channelParts,
  isSameMaterial,
  parseProviderAddress,
  readTlsFiles,
  type ProviderTls,
} from "./address.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { notConnectedError } from "./state.ts";
import type { BreachSink } from "../model/breach.ts";
import type { ProviderError } from "../model/errors.ts";
import { type Finding, probeRemote, probeSocket } from "./probe.ts";
import type { CallRoute, Rpc, RpcCaller, RpcOptions, WireRecorder } from "../convert/methods.ts";
import { GrpcTransport } from "./transport.ts";

export interface ProviderChannelDeps {
  readonly provider: string;
  /** `unix:///path.sock` or `tcp://host:port`. */
  readonly address: string;
  readonly tls: ProviderTls | undefined;
  readonly version: string;
  readonly userId: number | undefined;
  readonly clock: Clock;
  /** Records each call. @default none */
  readonly recorder?: WireRecorder | undefined;
  /** Receives the violations of the contract. @default none */
  readonly breaches?: BreachSink | undefined;
}

/** Status of our TLS files. */
export interface TlsState {
  /** Expiration of our certificate; undefined: none is in use. */
  readonly certificateExpiresAtMs: number | undefined;
  /** Why the current files are unusable. */
  readonly problem: string | undefined;
}

interface Made {
  readonly transport: GrpcTransport;
  readonly material: TlsMaterial | undefined;
}

/** Time limit of each step of the diagnosis of an unreachable host. */
const PROBE_TIMEOUT_MS = 3000;

/** Warn when our certificate has less time left: a one-day certificate is renewed at two thirds of its life. */
const SHORT_MS = 4 * 3_600_000;

/**
 * The channel to one provider. When the TLS files have changed, a second one replaces it after a successful handshake; the first ends after
 * its calls.
 */
export class ProviderChannel implements CallRoute {
  readonly #deps: ProviderChannelDeps;
  readonly #address: ProviderAddress;
  #current: Made | undefined;
  #streams: GrpcTransport | undefined;
  /** Ends the streams of a replaced channel. */
  #streamsEnd = new AbortController();
  #problem: string | undefined;

  constructor(deps: ProviderChannelDeps) {
    this.#deps = deps;
    const parsed = parseProviderAddress(deps.address);
    if (parsed.kind === "problem") throw new TypeError(parsed.problem);
    this.#address = parsed.value;
  }

  get isRemote(): boolean {
    return this.#address.kind === "tcp";
  }

  /** Anyone on the network path can read and change the calls. */
  get isPlaintext(): boolean {
    return this.isRemote && !this.hasTls;
  }

  get hasTls(): boolean {
    return this.#deps.tls !== undefined;
  }

  /** Why the current TLS files are unusable. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Expiration of our certificate; undefined: none. */
  get certificateExpiresAtMs(): number | undefined {
    return this.#current?.material?.expiresAtMs;
  }

  /** Warning that our certificate expires soon. */
  get shortLife(): string | undefined {
    const { tls, clock } = this.#deps;
    const endsMs = this.certificateExpiresAtMs;
    if (tls === undefined || endsMs === undefined || endsMs - clock.nowMs() >= SHORT_MS) return undefined;
    return `our certificate in ${tls.certFile} expires at ${new Date(endsMs).toISOString()}`;
  }

  /** Problems that do not prevent calls. */
  get warnings(): readonly string[] {
    const { address, tls } = this.#deps;
    if (!this.isRemote) return [];
    if (tls === undefined) return [`calls to ${address} are in plaintext (--provider-plaintext)`];
    const problem = this.#problem === undefined ? [] : [`the changed TLS files are unusable: ${this.#problem}`];
    const { shortLife } = this;
    return [...problem, ...(shortLife === undefined ? [] : [shortLife])];
  }

  /** The connection in use, or one that rejects every call. */
  get caller(): RpcCaller {
    return this.#current?.transport ?? { unary: () => Promise.reject(this.#notConnected()) };
  }

  /** Messages of a server stream over a separate channel: a stream that breaks its connection fails no call. Ends when the channel is replaced. */
  async *stream<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: RpcOptions,
  ): AsyncGenerator<Response, void, undefined> {
    // Without the TLS files, the channel would be plaintext.
    if (this.#current === undefined) throw this.#notConnected();
    this.#streams ??= this.#make(this.#current.material);
    const { signal: end } = this.#streamsEnd;
    const signal = AbortSignal.any([options.signal, end]);
    try {
      yield* this.#streams.stream(rpc, request, { ...options, signal });
    } catch (error) {
      if (!end.aborted || options.signal.aborted) throw error;
    }
  }

  /** Creates a channel from the current files. Returns why it cannot. */
  async open(): Promise<string | undefined> {
    const material = await this.#read();
    if (this.#current === undefined || (material !== undefined && !isSameMaterial(material, this.#current.material))) {
      if (this.hasTls && material === undefined) return this.#problem;
      this.reset();
      this.#current = { transport: this.#make(material), material };
      this.#problem = undefined;
    }
    return undefined;
  }

  /** Drops the channel, whose calls may finish; `open` creates another. */
  reset(): void {
    this.#current?.transport.retire();
    this.#current = undefined;
    this.#closeStreams("the connection is reopened");
  }

  connected(timeoutMs: number): Promise<boolean> {
    return this.#current?.transport.connected(timeoutMs) ?? Promise.resolve(false);
  }

  /** Calls `notify` once when the current connection breaks, but not when it is replaced. */
  onDisconnect(notify: () => void): void {
    const made = this.#current;
    made?.transport.onDisconnect(() => {
      if (made === this.#current) notify();
    });
  }

  /** A channel from changed files, to be tested; undefined: unchanged or unusable files. */
  async successor(): Promise<Successor | undefined> {
    const material = await this.#read();
    if (material === undefined) return undefined;
    if (isSameMaterial(material, this.#current?.material)) {
      this.#problem = undefined;
      return undefined;
    }
    const transport = this.#make(material);
    return {
      transport,
      adopt: () => {
        const old = this.#current?.transport;
        this.#current = { transport, material };
        this.#problem = undefined;
        old?.retire();
        this.#closeStreams("the connection was renewed with new certificates");
      },
      reject: (problem) => {
        this.#problem = problem;
        transport.close();
      },
    };
  }

  /** Diagnoses why no connection is established. */
  async finding(): Promise<Finding | undefined> {
    const address = this.#address;
    const { address: shown, tls, userId } = this.#deps;
    if (address.kind === "unix") return probeSocket(address.path, userId);
    const material = this.#current?.material;
    return probeRemote({ address, shown, material, serverName: tls?.serverName, timeoutMs: PROBE_TIMEOUT_MS });
  }

  close(): void {
    this.#current?.transport.close();
    this.#closeStreams("the connection is closed");
  }

  /** undefined: no files, or `#problem` says why they are unusable. */
  async #read(): Promise<TlsMaterial | undefined> {
    const { tls, clock } = this.#deps;
    if (tls === undefined) return undefined;
    try {
      return await readTlsFiles(tls, clock.nowMs());
    } catch (error) {
      this.#problem = messageOf(error);
      return undefined;
    }
  }

  #make(material: TlsMaterial | undefined): GrpcTransport {
    const { provider, version, tls, recorder, breaches } = this.#deps;
    const channel = channelParts(this.#address, material, tls?.serverName);
    return new GrpcTransport({ provider, version, channel, recorder, breaches });
  }

  #notConnected(): ProviderError {
    return notConnectedError(this.#deps.provider, { kind: "connecting" });
  }

  #closeStreams(message: string): void {
    this.#streamsEnd.abort(new Error(message));
    this.#streamsEnd = new AbortController();
    this.#streams?.close();
    this.#streams = undefined;
  }
}

/** A new channel to be tested: `adopt` replaces the channel in use. */
export interface Successor {
  readonly transport: GrpcTransport;
  adopt(): void;
  reject(problem: string): void;
}
