import type { ProviderInfo } from "./model/info.ts";
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
import { ProviderChannel, type ProviderChannelDeps, type TlsState } from "./connection/channel.ts";
import {
  type ConnectionDeps,
  CONNECTION_TIMING,
  type ConnectionTiming,
  ProviderConnection,
} from "./connection/connection.ts";
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
import type { BreachSink } from "./model/breach.ts";
import type { ProviderError } from "./model/errors.ts";
import type { Provider } from "./model/provider.ts";
import type { ProviderStatus } from "./model/status.ts";
import { type ChangeAudit, auditedCalls } from "./observers/audit.ts";
import { measuredCalls } from "./observers/metrics.ts";
import { breachReporter } from "./observers/breaches.ts";
import { type CallSink, observed } from "./observers/observed-caller.ts";
import { wireRecorder } from "./observers/recorder.ts";
import type { ProviderTls } from "./connection/address.ts";

/** Largest number of concurrent calls: canceling some thousand calls breaks HTTP/2 sessions (proto/README.md CON-3). */
const MAX_CALLS = 64;

export interface SidecarOptions
  extends Pick<ConnectionDeps, "name" | "address" | "cluster" | "version" | "clock" | "log">,
    Pick<ProviderChannelDeps, "userId"> {
  /** For tcp:// addresses; without it, calls are in plaintext. */
  readonly tls?: ProviderTls | undefined;
  readonly random: Random;
  readonly newId: () => string;
  readonly metrics: ProviderMetrics;
  readonly tracing: Tracing;
  readonly timing?: ConnectionTiming;
  readonly numbers: ChangeNumbers;
  /** Configured rates; they override those of the provider. @default none */
  readonly callRates?: () => readonly OperatorRate[];
  /** Decides whether changes are made or only planned. @default they are made */
  readonly filter?: WriteFilter | undefined;
  /** Receives the calls that may change something. @default none */
  readonly audit?: ChangeAudit | undefined;
  /** Stores the last calls. @default none */
  readonly journal?: CallSink | undefined;
  /** Records all messages. @default none */
  readonly recording?: RecordingSink | undefined;
  /** How an operator accepts another scope, as half a sentence. @default by a restart */
  readonly scopeRemedy?: ScopeRemedy;
  readonly onScopeChange?: ConnectionDeps["onScopeChange"];
  readonly onReady?: ConnectionDeps["onReady"];
}

/** A provider in a separate process: its connection, limits and calls. Inactive before `run`. */
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
    const breaches = breachReporter(name, metrics.breaches, log);
    // One call until the handshake names the limit.
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
      ...options,
      log,
      ids,
      timing: options.timing ?? CONNECTION_TIMING,
      scopeRemedy: options.scopeRemedy ?? (() => "a restart of the controller confirms it"),
      onScopeChange: (message) => options.onScopeChange?.(message),
      channel: channelOf(options, breaches),
      instrument: (route) => instrumented(route, options, log),
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
    const session = new Session({ provider: name, connection, governed, budget, ids, numbers, clock, breaches });
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

  /** Polls the status soon; {@link status} has it then. */
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

  get health(): ProviderHealth {
    return this.#connection.health;
  }

  /** Problems that do not prevent calls. */
  get warnings(): readonly string[] {
    return this.#connection.warnings;
  }

  /** undefined: TLS is not used. */
  get tls(): TlsState | undefined {
    return this.#connection.tls;
  }

  /** Present while changes are rejected because the scope has changed. */
  get scopeChange(): ScopeChange | undefined {
    return this.#connection.scopeChange;
  }

  /** The scope in which it may change things, to be stored; undefined: unknown. */
  get confirmedScope(): string | undefined {
    return this.#connection.confirmedScope;
  }

  /** The stored scope, each time it is read; "": none. */
  recallScope(stored: string): void {
    this.#connection.recallScope(stored);
  }

  /** Applies the current configured and declared call rates. */
  refreshCallRates(): void {
    this.#budget.setRates(rateGroups(this.info?.limits.callRates ?? [], this.#callRates()));
  }

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

function channelOf(options: SidecarOptions, breaches: BreachSink): ProviderChannel {
  const { name: provider, tls, recording: sink } = options;
  return new ProviderChannel({
    ...options,
    provider,
    tls,
    breaches,
    recorder: sink && wireRecorder({ provider, sink }),
  });
}

function instrumented(route: CallRoute, options: SidecarOptions, log: Logger): RpcCaller {
  const { name: provider, filter, audit, journal, metrics } = options;
  const sinks = [
    ...(audit === undefined ? [] : [auditedCalls(audit)]),
    ...(journal === undefined ? [] : [journal]),
    measuredCalls(provider, metrics.calls, log),
  ];
  const caller = observed(route, { ...options, provider, sinks });
  return filter?.isReadOnly === true ? validateOnlyCaller(caller) : caller;
}

/** State of one provider for status output. */
export interface ProviderSnapshot {
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
  /** Why absence reports are ignored; undefined: they are trusted. */
  readonly untrustedReason: string | undefined;
  readonly budgets: readonly BudgetSnapshot[];
  readonly calls: { readonly inFlight: number; readonly waiting: number; readonly limit: number };
}

function contractClient(session: Session, random: Random): ProviderClient {
  return {
    ...instanceCalls(session),
    ...loadBalancerCalls(session),
    ...routeCalls(session),
    ...volumeCalls(session),
    ...watchCalls(session, random),
  };
}
