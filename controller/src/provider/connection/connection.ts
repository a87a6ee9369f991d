import type { ClusterRef, ProviderInfo } from "../model/info.ts";
import { MAX_RESPONSE_BYTES } from "../convert/response.ts";
import {
  type CallContext,
  type CallIds,
  type CallRoute,
  RPCS,
  type Rpc,
  type RpcCaller,
  type RpcOptions,
} from "../convert/methods.ts";
import type { Logger } from "../../telemetry/log.ts";
import { childSignal, deadlineSignal, raceAbort, sleep } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { type ChannelRenewalDeps, renewChannel } from "./renewal.ts";
import { ConnectionLog } from "./log.ts";
import {
  type ConnectionState,
  type ProviderHealth,
  type ScopeChange,
  ScopeGuard,
  type ScopeRemedy,
  healthOf,
  notConnectedError,
  scopeMessage,
  startingError,
} from "./state.ts";
import { contractError, type ProviderError } from "../model/errors.ts";
import {
  type Handshake,
  HandshakeHistory,
  type HandshakeRecord,
  type Rejection,
  handshakeFailure,
  checkHandshake,
} from "./handshake.ts";
import type { ProviderStatus } from "../model/status.ts";
import { providerInfoRequest, providerStatusFromProto } from "../convert/info.ts";
import type { ProviderChannel, TlsState } from "./channel.ts";
import { StatusWatch } from "./status-watch.ts";

export interface ConnectionTiming {
  /** Longest wait for a connection before a diagnosis; remote hosts and TLS take longer. */
  readonly connectMs: number;
  readonly remoteConnectMs: number;
  /** Delay after a rejected handshake. */
  readonly retryMs: number;
  /** Interval of log lines about the same problem. */
  readonly logMs: number;
  /** Interval of status calls while the provider is ready, and longest interval while it is not. proto/README.md STA-1. */
  readonly statusReadyMs: number;
  readonly statusNotReadyMs: number;
  /** How long a call waits for a lost connection. */
  readonly graceMs: number;
  /** Interval of reading TLS files. proto/README.md TRN-9 gives the provider 60 s. */
  readonly tlsFilesMs: number;
}

export const CONNECTION_TIMING: ConnectionTiming = {
  connectMs: 1000,
  remoteConnectMs: 5000,
  retryMs: 1000,
  logMs: 10_000,
  statusReadyMs: 60_000,
  statusNotReadyMs: 10_000,
  graceMs: 2000,
  tlsFilesMs: 10_000,
};

export interface ConnectionDeps {
  /** Configured name of the provider: label of metrics, field of logs. */
  readonly name: string;
  /** `unix:///path.sock` or `tcp://host:port`. */
  readonly address: string;
  readonly cluster: ClusterRef;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly ids: CallIds;
  readonly timing: ConnectionTiming;
  readonly channel: ProviderChannel;
  /** Adds metrics and logs to calls. */
  readonly instrument: (route: CallRoute) => RpcCaller;
  /** How an operator accepts another scope. */
  readonly scopeRemedy: ScopeRemedy;
  /** Called with the reason when the scope changes, and with undefined when it is back. */
  readonly onScopeChange: (message: string | undefined) => void;
  /** Called before the first call after an accepted handshake, and when the cloud or its scope is usable again. */
  readonly onReady: (info: ProviderInfo) => void;
}

/**
 * The connection to one provider: connects, shakes hands, polls the status, detects a lost or restarted provider, and reconnects. Retries
 * forever.
 */
export class ProviderConnection {
  readonly #deps: ConnectionDeps;
  readonly #log: ConnectionLog;
  readonly #scope: ScopeGuard;
  /** The scope change reported last. */
  #reported: string | undefined;
  readonly #statuses: StatusWatch;
  readonly #handshakes = new HandshakeHistory();
  readonly #waiting = new Set<() => void>();
  #state: ConnectionState = { kind: "connecting" };
  #acceptedAtMs = Number.NEGATIVE_INFINITY;
  #reconnect: (why: string) => void = () => undefined;
  /** Instrumented calls over the current channel. */
  readonly caller: RpcCaller;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#scope = new ScopeGuard(deps.scopeRemedy);
    this.#log = new ConnectionLog({ log: deps.log, clock: deps.clock, repeatMs: deps.timing.logMs });
    this.caller = deps.instrument(deps.channel);
    this.#statuses = new StatusWatch({
      clock: deps.clock,
      log: this.#log,
      readyMs: deps.timing.statusReadyMs,
      notReadyMs: deps.timing.statusNotReadyMs,
      ask: (info, signal) => this.#askStatus(info, signal),
      onRecovered: (info) => this.#reportReady(info),
      onOutdated: (why) => this.#reconnect(why),
      onSilent: () => this.#dropSilent(),
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** The last accepted handshake, also while the connection is lost. */
  get info(): ProviderInfo | undefined {
    return this.#handshakes.last;
  }

  /** The last accepted ones, newest first. */
  get handshakes(): readonly HandshakeRecord[] {
    return this.#handshakes.records;
  }

  get status(): ProviderStatus | undefined {
    return this.#statuses.last;
  }

  /** Polls the status soon; {@link status} has it then. */
  askStatus(): void {
    this.#statuses.askSoon();
  }

  /** Present while changes are rejected because the scope has changed. */
  get scopeChange(): ScopeChange | undefined {
    return this.#scope.change;
  }

  /** The scope in which the provider may change things, to be stored; undefined: unknown. */
  get confirmedScope(): string | undefined {
    return this.#scope.confirmed;
  }

  /** The stored scope, each time it is read; "": none. */
  recallScope(stored: string): void {
    this.#scope.recall(stored);
    this.#reportScope();
  }

  get health(): ProviderHealth {
    return healthOf(this.#state, this.status, this.#statuses.failures, this.#scope.change);
  }

  /** Problems that do not prevent calls. */
  get warnings(): readonly string[] {
    return this.#deps.channel.warnings;
  }

  /** undefined: TLS is not used. */
  get tls(): TlsState | undefined {
    const { hasTls, certificateExpiresAtMs, problem } = this.#deps.channel;
    return hasTls ? { certificateExpiresAtMs, problem } : undefined;
  }

  /** Why calls are impossible; undefined: they are possible. */
  get unavailable(): ProviderError | undefined {
    const { name } = this.#deps;
    return this.#state.kind === "ready"
      ? startingError(name, this.#state.info, this.status)
      : notConnectedError(name, this.#state);
  }

  /** A response showed that the handshake is outdated. Ignored right after a handshake, in case the provider contradicts itself. */
  renew(why: string): void {
    if (this.#sinceAcceptedMs() >= this.#deps.timing.statusNotReadyMs) this.#reconnect(why);
  }

  stream<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions) {
    return this.#deps.channel.stream(rpc, request, options);
  }

  /** The context of every request. */
  context(info: ProviderInfo): CallContext {
    return { cluster: this.#deps.cluster, scopeId: info.scopeId };
  }

  /** Resolves when a call may be sent; rejects with a ProviderError otherwise. */
  async admit({ isChange }: { readonly isChange: boolean }, signal: AbortSignal): Promise<void> {
    if (this.#state.kind === "lost" || this.#state.kind === "connecting") await this.#grace(signal);
    const { unavailable } = this;
    if (unavailable !== undefined) throw unavailable;
    const change = this.#scope.change;
    if (isChange && change !== undefined) {
      throw contractError("SCOPE_MISMATCH", `provider ${this.#deps.name}: ${scopeMessage(change)}`);
    }
  }

  /** Stays connected until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { isPlaintext } = this.#deps.channel;
    if (isPlaintext) this.#log.plaintext(this.#deps.address);
    try {
      while (!signal.aborted) {
        const info = await this.#connect(signal);
        const why = await this.#stay(info, signal);
        this.#enter({ kind: "lost", info, why });
        signal.throwIfAborted();
        this.#log.lost(why);
        const { retryMs } = this.#deps.timing;
        if (this.#sinceAcceptedMs() < retryMs) await sleep(retryMs, signal, this.#deps.clock);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#deps.channel.close();
    }
  }

  async #connect(signal: AbortSignal): Promise<ProviderInfo> {
    const { timing, clock, channel } = this.#deps;
    for (;;) {
      const problem = await channel.open();
      if (problem !== undefined) {
        this.#reject({ reason: "TLSFilesUnusable", message: problem });
        await sleep(timing.retryMs, signal, clock);
      } else if (await raceAbort(channel.connected(this.#connectMs()), signal)) {
        const handshake = await this.#handshake(this.caller, signal);
        if (handshake.kind === "accepted") return this.#accept(handshake.info);
        this.#reject(handshake.rejection);
        await sleep(timing.retryMs, signal, clock);
      } else {
        await this.#diagnose(signal);
      }
    }
  }

  #connectMs(): number {
    const { timing, channel } = this.#deps;
    return channel.isRemote ? timing.remoteConnectMs : timing.connectMs;
  }

  async #handshake(caller: RpcCaller, signal: AbortSignal): Promise<Handshake> {
    const { address, cluster, version, ids } = this.#deps;
    try {
      const request = providerInfoRequest(cluster, version, MAX_RESPONSE_BYTES);
      const wire = await caller.unary(RPCS.getProviderInfo, request, { signal, ...ids.next() });
      return checkHandshake(wire, address);
    } catch (error) {
      signal.throwIfAborted();
      return handshakeFailure(error, address);
    }
  }

  async #diagnose(signal: AbortSignal): Promise<void> {
    const { address, channel } = this.#deps;
    const finding = await raceAbort(channel.finding(), signal);
    const message = `${address} accepts connections but no gRPC connection is established; check the provider's log`;
    this.#reject(finding ?? { reason: "NotResponding", message });
    if (finding !== undefined && finding.reason !== "NotGRPC") return;
    // @grpc/grpc-js 1.14 has no time-out for an accepted connection without HTTP/2.
    channel.reset();
  }

  #accept(info: ProviderInfo): ProviderInfo {
    const { clock } = this.#deps;
    this.#scope.see(info.scopeId);
    this.#statuses.failures = 0;
    this.#acceptedAtMs = clock.monotonicMs();
    this.#log.accepted(info, this.#handshakes.record(info, clock.nowMs()));
    this.#reportScope();
    this.#reportReady(info);
    this.#enter({ kind: "ready", info });
    return info;
  }

  /** Watches the connection; resolves with the reason to reconnect. */
  async #stay(info: ProviderInfo, signal: AbortSignal): Promise<string> {
    using epoch = childSignal(signal);
    let why = "the controller is shutting down";
    this.#reconnect = (reason) => {
      if (epoch.signal.aborted) return;
      why = reason;
      epoch.abort(new Error(reason));
    };
    this.#watchDisconnect();
    const renewing = this.#renewChannel(info, epoch.signal);
    await this.#statuses.run(info, epoch.signal);
    await renewing;
    return why;
  }

  #renewChannel(info: ProviderInfo, signal: AbortSignal): Promise<void> {
    const { channel, clock, timing } = this.#deps;
    const renewal: ChannelRenewalDeps = {
      channel,
      clock,
      log: this.#log,
      intervalMs: timing.tlsFilesMs,
      connectMs: this.#connectMs(),
      handshake: (caller, stop) => this.#handshake(caller, stop),
      onRenewed: ({ bootId }) => {
        this.#watchDisconnect();
        if (bootId !== info.bootId) this.#reconnect("the provider is another process than before");
      },
    };
    return renewChannel(renewal, signal);
  }

  #watchDisconnect(): void {
    this.#deps.channel.onDisconnect(() => this.#reconnect("the provider closed the connection"));
  }

  async #askStatus(info: ProviderInfo, signal: AbortSignal): Promise<ProviderStatus> {
    const { clock, ids } = this.#deps;
    // The status call needs no context, which is incomplete without a scope.
    const request = { context: info.scopeId === "" ? undefined : this.context(info) };
    const wire = await this.caller.unary(RPCS.getProviderStatus, request, { signal, ...ids.next() });
    return providerStatusFromProto(wire, clock.nowMs());
  }

  /** A slow process on this host is still there; the kernel reports when it is gone. */
  #dropSilent(): void {
    const { channel } = this.#deps;
    if (!channel.isRemote) return;
    channel.reset();
    this.#reconnect("the provider does not respond");
  }

  #reportScope(): void {
    const { change } = this.#scope;
    const message = change && scopeMessage(change);
    if (message === this.#reported) return;
    this.#reported = message;
    this.#log.scope(change);
    this.#deps.onScopeChange(message);
    const { info } = this;
    if (message === undefined && info !== undefined && this.#state.kind === "ready") this.#deps.onReady(info);
  }

  /** Work that waits for the provider or its cloud resumes without waiting for its retry. */
  #reportReady(info: ProviderInfo): void {
    if (info.scopeId !== "") this.#deps.onReady(info);
  }

  #sinceAcceptedMs(): number {
    return this.#deps.clock.monotonicMs() - this.#acceptedAtMs;
  }

  #reject(rejection: Rejection): void {
    this.#enter({ kind: "refused", rejection });
    this.#log.rejected(rejection);
  }

  #enter(state: ConnectionState): void {
    this.#state = state;
    if (state.kind === "ready" || state.kind === "refused") {
      for (const notify of this.#waiting) notify();
    }
  }

  /** Waits for a provider that is probably restarting. */
  async #grace(signal: AbortSignal): Promise<void> {
    const { timing, clock, name } = this.#deps;
    using limit = deadlineSignal(signal, timing.graceMs, `connection to provider ${name}`, clock);
    const settled = new Promise<void>((resolve) => {
      const notify = (): void => {
        this.#waiting.delete(notify);
        resolve();
      };
      this.#waiting.add(notify);
      limit.signal.addEventListener("abort", notify, { once: true });
    });
    await settled;
    signal.throwIfAborted();
  }
}
