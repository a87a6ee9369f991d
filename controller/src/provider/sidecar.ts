import type { ClusterRef, ProviderInfo } from "./model/info.ts";
import type { WriteFilter } from "../observe/write-filter.ts";
import type { Logger } from "../telemetry/log.ts";
import type { RecordingSink } from "../telemetry/recording-log.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Clock, Random } from "../util/clock.ts";
import { Semaphore } from "../util/semaphore.ts";
import { instanceCalls } from "./calls/instances.ts";
import { loadBalancerCalls } from "./calls/load-balancers.ts";
import { validateOnlyCaller, validateOnlyClient } from "./calls/validate-only.ts";
import { routeCalls } from "./calls/routes.ts";
import { Session } from "./calls/session.ts";
import { volumeCalls } from "./calls/volumes.ts";
import { watchCalls } from "./calls/watches.ts";
import { ProviderChannel, type TlsState } from "./connection/channel.ts";
import { CONNECTION_TIMING, type ConnectionTiming, ProviderConnection } from "./connection/connection.ts";
import type { HandshakeRecord } from "./connection/handshake.ts";
import {
  type ConnectionState,
  type ProviderHealth,
  type ScopeChange,
  type ScopeRemedy,
  untrustedReason,
} from "./connection/state.ts";
import { type CallRoute, type RpcCaller, callIdsOf } from "./convert/methods.ts";
import { GroupedCallBudget } from "./limits/call-budget.ts";
import { RateLimitedCaller } from "./limits/rate-limited-caller.ts";
import type { ProviderMetrics } from "./metrics.ts";
import { type BudgetSnapshot, type OperatorRate, rateGroups } from "./model/call-rate.ts";
import type { ChangeNumbers, ProviderClient } from "./model/client.ts";
import type { ProviderError } from "./model/errors.ts";
import type { Provider } from "./model/provider.ts";
import type { ProviderStatus } from "./model/status.ts";
import { type ChangeAudit, auditedCalls } from "./observers/audit.ts";
import { measuredCalls } from "./observers/metrics.ts";
import { type CallSink, observed } from "./observers/observed-caller.ts";
import { wireRecorder } from "./observers/recorder.ts";
import type { ProviderTls } from "./connection/address.ts";

/** Most calls at once whatever a provider allows: cancelling some thousand at once breaks HTTP/2 sessions (proto/README.md CON-3). */
const MAX_CALLS = 64;

export interface SidecarOptions {
  /** Operator's name of the provider: label of metrics, field of logs. */
  readonly name: string;
  /** `unix:///path.sock`, `tcp://host:port`. */
  readonly address: string;
  /** For tcp:// addresses; without, calls go in plaintext. */
  readonly tls?: ProviderTls | undefined;
  readonly cluster: ClusterRef;
  /** Version of this program, told to the provider. */
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  /** A random UUID, in production. */
  readonly newId: () => string;
  /** Of this process, for what is said of a socket that it has no right to. */
  readonly userId: number | undefined;
  readonly log: Logger;
  readonly metrics: ProviderMetrics;
  readonly tracing: Tracing;
  readonly timing?: ConnectionTiming;
  /** Of changes; one for all providers. */
  readonly numbers: ChangeNumbers;
  /** What the operator says now; takes the place of what the provider declares. @default nothing */
  readonly callRates?: () => readonly OperatorRate[];
  /** Decides whether changes are made or only planned. @default they are made */
  readonly filter?: WriteFilter;
  /** Told of each call that may change something. @default nobody is */
  readonly audit?: ChangeAudit;
  /** Remembers the last calls. @default nobody does */
  readonly journal?: CallSink;
  /** Gets what goes over the wire. @default nobody does */
  readonly recording?: RecordingSink;
  /** How an operator accepts another scope, as half a sentence. @default by a restart */
  readonly scopeRemedy?: ScopeRemedy;
  /** Called with the reason when the scope changes, and with undefined when it is back. */
  readonly onScopeChange?: (message: string | undefined) => void;
  /** Told after each handshake that lets calls go, and when the cloud behind can be used again. */
  readonly onReady?: (info: ProviderInfo) => void;
}

/** A provider in a process of its own: its connection, its limits and its calls. Nothing happens before `run`. */
export class Sidecar implements Provider {
  readonly name: string;
  readonly client: ProviderClient;
  readonly #connection: ProviderConnection;
  readonly #clock: Clock;
  readonly #address: string;
  readonly #budget: GroupedCallBudget;
  readonly #callRates: () => readonly OperatorRate[];
  readonly #semaphore: Semaphore;

  constructor(options: SidecarOptions) {
    const { name, address, clock, random, metrics } = options;
    const log = options.log.child({ provider: name });
    const ids = callIdsOf(options.newId);
    // One call until the handshake says how many.
    const semaphore = new Semaphore(1);
    const { filter, callRates = () => [], numbers } = options;
    const budgets = metrics.budgetsOf(name);
    const budget = new GroupedCallBudget(rateGroups([], callRates()), { provider: name, clock, metrics: budgets, log });
    budgets.watch(
      () => budget.snapshot(),
      () => clock.nowMs(),
    );
    this.#callRates = callRates;
    const connection = new ProviderConnection({
      name,
      address,
      cluster: options.cluster,
      version: options.version,
      clock,
      log,
      ids,
      timing: options.timing ?? CONNECTION_TIMING,
      scopeRemedy: options.scopeRemedy ?? (() => "a restart of the controller confirms it"),
      onScopeChange: (message) => options.onScopeChange?.(message),
      channel: channelOf(options),
      instrument: (route) => watched(route, options, log),
      onReady: (info) => {
        semaphore.setLimit(Math.min(info.limits.maxConcurrentCalls, MAX_CALLS));
        this.refreshCallRates();
        options.onReady?.(info);
      },
    });
    const governed = new RateLimitedCaller({
      caller: connection.caller,
      budget,
      semaphore,
      admit: async (rpc, signal) => {
        await connection.admit(rpc, signal);
        if (rpc.isChange && filter?.isReadOnly !== true) numbers.check();
      },
      clock,
      random,
    });
    this.name = name;
    this.#address = address;
    this.#budget = budget;
    this.#semaphore = semaphore;
    this.#connection = connection;
    this.#clock = clock;
    const session = new Session({ provider: name, connection, governed, budget, ids, numbers, clock });
    const client = contractClient(session, random);
    this.client =
      filter === undefined
        ? client
        : validateOnlyClient(client, { provider: name, filter, capabilities: () => this.info?.capabilities });
  }

  get info(): ProviderInfo | undefined {
    return this.#connection.info;
  }

  get status(): ProviderStatus | undefined {
    return this.#connection.status;
  }

  /** Has it say how it is now; {@link status} has it soon after. */
  askStatus(): void {
    this.#connection.askStatus();
  }

  get unavailable(): ProviderError | undefined {
    return this.#connection.unavailable;
  }

  get untrustedReason(): string | undefined {
    const { health, status, info } = this.#connection;
    return untrustedReason(health, status, info?.bootId, this.#clock.nowMs());
  }

  /** For readyz and for people. */
  get health(): ProviderHealth {
    return this.#connection.health;
  }

  /** What an operator should know although calls can be made. */
  get warnings(): readonly string[] {
    return this.#connection.warnings;
  }

  /** Of the certificates between us; undefined: none are used. */
  get tls(): TlsState | undefined {
    return this.#connection.tls;
  }

  /** Present while changes are held back because the provider works in another scope than before. */
  get scopeChange(): ScopeChange | undefined {
    return this.#connection.scopeChange;
  }

  /** What is to be written down of the scope in which it may change things; undefined: nothing yet. */
  get confirmedScope(): string | undefined {
    return this.#connection.confirmedScope;
  }

  /** What was written down, each time it is read; "": nothing. */
  recallScope(written: string): void {
    this.#connection.recallScope(written);
  }

  /** Takes up how often the cloud may be called by what the operator and the provider say now. */
  refreshCallRates(): void {
    this.#budget.setRates(rateGroups(this.info?.limits.callRates ?? [], this.#callRates()));
  }

  /** For people. */
  get snapshot(): ProviderSnapshot {
    const { name, health, warnings, info, status, scopeChange, untrustedReason } = this;
    const { inside: inFlight, waiting, limit } = this.#semaphore;
    return {
      name,
      address: this.#address,
      connection: this.#connection.state.kind,
      health,
      warnings,
      info,
      handshakes: this.#connection.handshakes,
      status,
      scopeChange,
      untrustedReason,
      budgets: this.#budget.snapshot(),
      calls: { inFlight, waiting, limit },
    };
  }

  /** Connects and stays connected until `signal` aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#connection.run(signal);
  }
}

function channelOf(options: SidecarOptions): ProviderChannel {
  const { name: provider, address, tls, version, userId, clock, recording: sink } = options;
  return new ProviderChannel({
    provider,
    address,
    tls,
    version,
    userId,
    clock,
    recorder: sink && wireRecorder({ provider, sink }),
  });
}

/** Calls as `route` makes them, each known to all who want to know of it. */
function watched(route: CallRoute, options: SidecarOptions, log: Logger): RpcCaller {
  const { name: provider, address, filter, audit, journal, metrics, tracing, clock } = options;
  const sinks = [
    ...(audit === undefined ? [] : [auditedCalls(audit)]),
    ...(journal === undefined ? [] : [journal]),
    measuredCalls(provider, metrics.calls, log),
  ];
  const shown = observed(route, { provider, address, tracing, clock, sinks });
  return filter?.isReadOnly === true ? validateOnlyCaller(shown) : shown;
}

/** Everything that is known of one provider at a moment. */
export interface ProviderSnapshot {
  /** The operator's name. */
  readonly name: string;
  readonly address: string;
  readonly connection: ConnectionState["kind"];
  readonly health: ProviderHealth;
  readonly warnings: readonly string[];
  /** Of the last accepted handshake. */
  readonly info: ProviderInfo | undefined;
  readonly handshakes: readonly HandshakeRecord[];
  readonly status: ProviderStatus | undefined;
  readonly scopeChange: ScopeChange | undefined;
  /** Why its word that a machine is gone is not taken now; undefined: it is. */
  readonly untrustedReason: string | undefined;
  readonly budgets: readonly BudgetSnapshot[];
  readonly calls: { readonly inFlight: number; readonly waiting: number; readonly limit: number };
}

/** The calls of the contract over one session. */
function contractClient(session: Session, random: Random): ProviderClient {
  return {
    ...instanceCalls(session),
    ...loadBalancerCalls(session),
    ...routeCalls(session),
    ...volumeCalls(session),
    ...watchCalls(session, random),
  };
}
