import type { ClusterRef, ProviderInfo } from "../model/info.ts";
import { MAX_MESSAGE_BYTES } from "./address.ts";
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
  type Refusal,
  handshakeFailure,
  checkHandshake,
} from "./handshake.ts";
import type { ProviderStatus } from "../model/status.ts";
import { providerInfoRequest, providerStatusFromProto } from "../convert/info.ts";
import type { ProviderChannel, TlsState } from "./channel.ts";
import { StatusWatch } from "./status-watch.ts";

export interface ConnectionTiming {
  /** Longest wait for a connection before it is looked why none comes about; to another host, and through TLS, it takes longer. */
  readonly connectMs: number;
  readonly remoteConnectMs: number;
  /** Wait after a handshake that was refused. */
  readonly retryMs: number;
  /** Between two log lines about the same obstacle. */
  readonly logMs: number;
  /** Between two status calls while the provider is ready, and while it is not, at the most. proto/README.md STA-1. */
  readonly statusReadyMs: number;
  readonly statusNotReadyMs: number;
  /** How long a call waits for a connection that was lost a moment ago. */
  readonly graceMs: number;
  /** How often TLS files are read again. proto/README.md TRN-9 gives the provider 60 s. */
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
  /** Operator's name of the provider. */
  readonly name: string;
  /** `unix:///path.sock`, `tcp://host:port`. */
  readonly address: string;
  readonly cluster: ClusterRef;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly ids: CallIds;
  readonly timing: ConnectionTiming;
  readonly channel: ProviderChannel;
  /** Puts metrics and logs around calls. */
  readonly instrument: (route: CallRoute) => RpcCaller;
  /** How an operator accepts another scope. */
  readonly scopeRemedy: ScopeRemedy;
  /** Called with the reason when the scope changes, and with undefined when it is back. */
  readonly onScopeChange: (message: string | undefined) => void;
  /** After each accepted handshake that lets calls go, before they go; and when the cloud behind, or its scope, can be used again. */
  readonly onReady: (info: ProviderInfo) => void;
}

/**
 * The connection to one provider: dials until it answers, shakes hands, asks after its health, notices that it went away or
 * is another process now, and starts over. Never gives up and never ends the process.
 */
export class ProviderConnection {
  readonly #deps: ConnectionDeps;
  readonly #log: ConnectionLog;
  readonly #scope: ScopeGuard;
  /** The change of scope told last. */
  #told: string | undefined;
  readonly #statuses: StatusWatch;
  readonly #handshakes = new HandshakeHistory();
  readonly #waiting = new Set<() => void>();
  #state: ConnectionState = { kind: "connecting" };
  #acceptedAtMs = Number.NEGATIVE_INFINITY;
  #startOver: (why: string) => void = () => undefined;
  /** Calls over the present channel, measured. */
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
      onRecovered: (info) => this.#tellReady(info),
      onOutdated: (why) => this.#startOver(why),
      onSilent: () => this.#giveUpSilent(),
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Answer to the last accepted handshake; kept while the connection is lost. */
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

  /** Has the provider say how it is now; {@link status} has it soon after. */
  askStatus(): void {
    this.#statuses.askSoon();
  }

  /** Present while changes are held back because the provider works in another scope than it was confirmed for. */
  get scopeChange(): ScopeChange | undefined {
    return this.#scope.change;
  }

  /** What outlives this process: the scope in which the provider may change things. undefined: none is known yet. */
  get confirmedScope(): string | undefined {
    return this.#scope.confirmed;
  }

  /** What has outlived earlier processes, each time it is read; "": nothing. */
  recallScope(written: string): void {
    this.#scope.recall(written);
    this.#tellScope();
  }

  get health(): ProviderHealth {
    return healthOf(this.#state, this.status, this.#statuses.failures, this.#scope.change);
  }

  /** What an operator should know although calls can be made. */
  get warnings(): readonly string[] {
    return this.#deps.channel.warnings;
  }

  /** Of the certificates between us; undefined: none are used. */
  get tls(): TlsState | undefined {
    const { hasTls, certificateExpiresAtMs, problem } = this.#deps.channel;
    return hasTls ? { certificateExpiresAtMs, problem } : undefined;
  }

  /** Why no call can be sent now; undefined: one can. */
  get unavailable(): ProviderError | undefined {
    const { name } = this.#deps;
    return this.#state.kind === "ready"
      ? startingError(name, this.#state.info, this.status)
      : notConnectedError(name, this.#state);
  }

  /** Some answer showed that the handshake is out of date. Not right after one: a provider that contradicts itself would keep us busy. */
  renew(why: string): void {
    if (this.#sinceAcceptedMs() >= this.#deps.timing.statusNotReadyMs) this.#startOver(why);
  }

  stream<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: RpcOptions,
  ): AsyncGenerator<Response, void, undefined> {
    return this.#deps.channel.stream(rpc, request, options);
  }

  /** Who asks, for every request. */
  context(info: ProviderInfo): CallContext {
    return { cluster: this.#deps.cluster, scopeId: info.scopeId };
  }

  /** Resolves when a call can be sent; rejects with a ProviderError when it cannot be, or must not. */
  async admit({ isChange }: { readonly isChange: boolean }, signal: AbortSignal): Promise<void> {
    if (this.#state.kind === "lost" || this.#state.kind === "connecting") await this.#grace(signal);
    const { unavailable } = this;
    if (unavailable !== undefined) throw unavailable;
    const change = this.#scope.change;
    if (isChange && change !== undefined) {
      throw contractError("SCOPE_MISMATCH", `provider ${this.#deps.name}: ${scopeMessage(change)}`);
    }
  }

  /** Keeps the connection until `signal` aborts. */
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
      const obstacle = await channel.open();
      if (obstacle !== undefined) {
        this.#refuse({ reason: "TLSFilesUnusable", message: obstacle });
        await sleep(timing.retryMs, signal, clock);
      } else if (await raceAbort(channel.connected(this.#connectMs()), signal)) {
        const handshake = await this.#handshake(this.caller, signal);
        if (handshake.kind === "accepted") return this.#accept(handshake.info);
        this.#refuse(handshake.refusal);
        await sleep(timing.retryMs, signal, clock);
      } else {
        await this.#explain(signal);
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
      const request = providerInfoRequest(cluster, version, MAX_MESSAGE_BYTES);
      const wire = await caller.unary(RPCS.getProviderInfo, request, { signal, ...ids.next() });
      return checkHandshake(wire, address);
    } catch (error) {
      signal.throwIfAborted();
      return handshakeFailure(error, address);
    }
  }

  async #explain(signal: AbortSignal): Promise<void> {
    const { address, channel } = this.#deps;
    const finding = await raceAbort(channel.finding(), signal);
    const message = `${address} takes connections but no gRPC connection comes about; look into the provider's log`;
    this.#refuse(finding ?? { reason: "NotResponding", message });
    if (finding !== undefined && finding.reason !== "NotGRPC") return;
    // A connection that was taken but never becomes HTTP/2 has no time-out in @grpc/grpc-js 1.14: it would be waited for, for ever.
    channel.reset();
  }

  #accept(info: ProviderInfo): ProviderInfo {
    const { clock } = this.#deps;
    this.#scope.see(info.scopeId);
    this.#statuses.heard();
    this.#acceptedAtMs = clock.monotonicMs();
    this.#log.accepted(info, this.#handshakes.note(info, clock.nowMs()));
    this.#tellScope();
    this.#tellReady(info);
    this.#enter({ kind: "ready", info });
    return info;
  }

  /** Looks after a connection that stands; resolves with why it must be made anew. */
  async #stay(info: ProviderInfo, signal: AbortSignal): Promise<string> {
    using epoch = childSignal(signal);
    let why = "the controller is shutting down";
    this.#startOver = (reason) => {
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
        if (bootId !== info.bootId) this.#startOver("the provider is another process than before");
      },
    };
    return renewChannel(renewal, signal);
  }

  #watchDisconnect(): void {
    this.#deps.channel.onDisconnect(() => this.#startOver("the provider closed the connection"));
  }

  async #askStatus(info: ProviderInfo, signal: AbortSignal): Promise<ProviderStatus> {
    const { clock, ids } = this.#deps;
    // Without scope there is no whole context, and the status needs none.
    const request = { context: info.scopeId === "" ? undefined : this.context(info) };
    const wire = await this.caller.unary(RPCS.getProviderStatus, request, { signal, ...ids.next() });
    return providerStatusFromProto(wire, clock.nowMs());
  }

  /** A process on this host that is merely slow is still there, and the kernel tells when it is not. */
  #giveUpSilent(): void {
    const { channel } = this.#deps;
    if (!channel.isRemote) return;
    channel.reset();
    this.#startOver("the provider does not answer");
  }

  #tellScope(): void {
    const { change } = this.#scope;
    const message = change && scopeMessage(change);
    if (message === this.#told) return;
    this.#told = message;
    this.#log.scope(change);
    this.#deps.onScopeChange(message);
    const { info } = this;
    if (message === undefined && info !== undefined && this.#state.kind === "ready") this.#deps.onReady(info);
  }

  /** What waits for the provider or its cloud need not wait until its own next try. */
  #tellReady(info: ProviderInfo): void {
    if (info.scopeId !== "") this.#deps.onReady(info);
  }

  #sinceAcceptedMs(): number {
    return this.#deps.clock.monotonicMs() - this.#acceptedAtMs;
  }

  #refuse(refusal: Refusal): void {
    this.#enter({ kind: "refused", refusal });
    this.#log.refused(refusal);
  }

  #enter(state: ConnectionState): void {
    this.#state = state;
    if (state.kind === "ready" || state.kind === "refused") {
      for (const notify of this.#waiting) notify();
    }
  }

  /** Waits while the provider is probably just being restarted. */
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
