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
import type { ProviderError } from "../model/errors.ts";
import { type RemoteFinding, type SocketFinding, probeRemote, probeSocket } from "./probe.ts";
import type { CallRoute, Rpc, RpcCaller, RpcOptions, WireRecorder } from "../convert/methods.ts";
import { GrpcTransport } from "./transport.ts";

export interface ProviderChannelDeps {
  /** Operator's name of the provider. */
  readonly provider: string;
  /** `unix:///path.sock`, `tcp://host:port`. */
  readonly address: string;
  /** undefined: no TLS. */
  readonly tls: ProviderTls | undefined;
  readonly version: string;
  /** Of this process. */
  readonly userId: number | undefined;
  readonly clock: Clock;
  /** Sees each call. @default nobody does */
  readonly recorder?: WireRecorder | undefined;
}

/** How our side of TLS stands. */
export interface TlsState {
  /** When the certificate that we show ends; undefined: none is in use yet. */
  readonly certificateExpiresAtMs: number | undefined;
  /** Why the files as they are now are not used. */
  readonly problem: string | undefined;
}

/** A transport and the TLS files it was made from. */
interface Made {
  readonly transport: GrpcTransport;
  readonly material: TlsMaterial | undefined;
}

/** Longest look at why a remote host does not answer, for each of its steps. */
const PROBE_TIMEOUT_MS = 3000;

/** A certificate of ours that has less time left is spoken of: renewal at two thirds of a day's certificate comes before. */
const SHORT_MS = 4 * 3_600_000;

/**
 * The channel to one provider, of which there may be two for a while: when the TLS files have changed, one that was made from them is
 * shaken hands over before it takes the other's place, which ends once its calls have.
 */
export class ProviderChannel implements CallRoute {
  readonly #deps: ProviderChannelDeps;
  readonly #address: ProviderAddress;
  #current: Made | undefined;
  #streams: GrpcTransport | undefined;
  /** Ends the streams of a channel that was replaced. */
  #streamsEnd = new AbortController();
  /** Why the files as they are now are not used. */
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

  /** Whoever is on the way can read and change what is said. */
  get isPlaintext(): boolean {
    return this.isRemote && !this.hasTls;
  }

  get hasTls(): boolean {
    return this.#deps.tls !== undefined;
  }

  /** Why the TLS files as they are now are not used. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** When the certificate that we show ends; undefined: there is none. */
  get certificateExpiresAtMs(): number | undefined {
    return this.#current?.material?.expiresAtMs;
  }

  /** That our certificate ends soon; undefined: it does not. */
  get shortLife(): string | undefined {
    const { tls, clock } = this.#deps;
    const endsMs = this.certificateExpiresAtMs;
    if (tls === undefined || endsMs === undefined || endsMs - clock.nowMs() >= SHORT_MS) return undefined;
    return `our certificate in ${tls.certFile} ends at ${new Date(endsMs).toISOString()}`;
  }

  /** What an operator should know although calls can be made. */
  get warnings(): readonly string[] {
    const { address, tls } = this.#deps;
    if (!this.isRemote) return [];
    if (tls === undefined) return [`calls to ${address} go in plaintext (--provider-plaintext)`];
    const problem = this.#problem === undefined ? [] : [`the changed TLS files are not used: ${this.#problem}`];
    const { shortLife } = this;
    return [...problem, ...(shortLife === undefined ? [] : [shortLife])];
  }

  /** The connection in use; where there is none, one that rejects every call. */
  get caller(): RpcCaller {
    return this.#current?.transport ?? { unary: () => Promise.reject(this.#notConnected()) };
  }

  /** Messages of a server stream, over a channel of its own: a stream that breaks its connection takes no call with it. Ends when the channel is replaced. */
  async *stream<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: RpcOptions,
  ): AsyncGenerator<Response, void, undefined> {
    // Nothing is known of TLS files that were not read: a channel without them would be plaintext.
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

  /** To be called before connecting: a channel from the files as they are now. Answers why there can be none. */
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

  /** Forgets the channel, whose calls may end; `open` makes another. */
  reset(): void {
    this.#current?.transport.retire();
    this.#current = undefined;
    this.#closeStreams("the connection is made anew");
  }

  connected(timeoutMs: number): Promise<boolean> {
    return this.#current?.transport.connected(timeoutMs) ?? Promise.resolve(false);
  }

  /** Calls `notify` once when the connection that stands now breaks; not when it is replaced. */
  onDisconnect(notify: () => void): void {
    const made = this.#current;
    made?.transport.onDisconnect(() => {
      if (made === this.#current) notify();
    });
  }

  /** A channel from changed files, to be tried before it is used; undefined: they have not changed, or cannot be used. */
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
        this.#closeStreams("the connection was renewed with other certificates");
      },
      reject: (why) => {
        this.#problem = why;
        transport.close();
      },
    };
  }

  /** Looks why no connection comes about. */
  async finding(): Promise<SocketFinding | RemoteFinding | undefined> {
    return this.#address.kind === "unix"
      ? probeSocket(this.#address.path, this.#deps.userId)
      : this.#probe(this.#address);
  }

  close(): void {
    this.#current?.transport.close();
    this.#closeStreams("the connection is closed");
  }

  #probe(address: Extract<ProviderAddress, { readonly kind: "tcp" }>): Promise<RemoteFinding | undefined> {
    const { address: shown, tls } = this.#deps;
    const material = this.#current?.material;
    return probeRemote({ address, shown, material, serverName: tls?.serverName, timeoutMs: PROBE_TIMEOUT_MS });
  }

  /** undefined: there are none to read, or `#problem` says what is wrong with them. */
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
    const { provider, version, tls, recorder } = this.#deps;
    const channel = channelParts(this.#address, material, tls?.serverName);
    return new GrpcTransport({ provider, version, channel, recorder });
  }

  #notConnected(): ProviderError {
    return notConnectedError(this.#deps.provider, { kind: "connecting" });
  }

  #closeStreams(why: string): void {
    this.#streamsEnd.abort(new Error(why));
    this.#streamsEnd = new AbortController();
    this.#streams?.close();
    this.#streams = undefined;
  }
}

/** A channel that is tried. */
export interface Successor {
  readonly transport: GrpcTransport;
  /** It takes the place of the channel in use. */
  adopt(): void;
  /** It is of no use. */
  reject(why: string): void;
}
