import { type Check, type CheckContext, CheckFailure, type Level } from "./check.ts";
import { errorText } from "../errors.ts";
import type { Fixtures } from "./fixtures.ts";
import { Caller } from "../endpoint/caller.ts";
import { cleanUp } from "./clean-up.ts";
import { type Exchange, outcomeLine } from "../endpoint/exchange.ts";
import { clusterPrefix, CreatedResources, type CreatedResource, type MadeBy } from "./created-resources.ts";
import { methods } from "../contract/methods.ts";
import { undoAll } from "./run-hook.ts";
import { type HookRecord, HookSession } from "./hook-session.ts";
import { seededRandom } from "./plan.ts";
import { OwnProviders } from "../endpoint/own-providers.ts";
import { client, reach } from "../endpoint/reach.ts";
import { Connection, SteadyConnection } from "../endpoint/connection.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";

/** What the checks of a run are given. */
export interface SessionOptions {
  readonly endpoint: Endpoint;
  readonly fixtures: Fixtures;
  readonly seed: number;
  readonly slowFactor: number;
  readonly timeFactor?: number | undefined;
  readonly long: boolean;
  /** With which checks start providers of their own. */
  readonly command?: readonly string[] | undefined;
  /** Aborted when the provider has ended that was started by the command. */
  readonly gone?: AbortSignal | undefined;
  readonly providerPid?: number | undefined;
  readonly onHook?: ((check: string, record: HookRecord) => void) | undefined;
  readonly onExchange?: ((check: string, exchange: Exchange) => void) | undefined;
  readonly onBorrow?: ((check: string, from: string) => void) | undefined;
  readonly onMake?: ((entry: CreatedResource, by: MadeBy) => void) | undefined;
  readonly runId: string;
}

/** What became of what a run has made. */
export interface CleanedUp {
  /** Things that may have been made. */
  readonly made: number;
  /** What is still there, and why. */
  readonly left: readonly string[];
}

/** How long a provider may take to be ready that a check has started. */
const startMs = 10_000;
/** One that does not get ready is a finding about it. */
const ready = (
  { endpoint, process }: Parameters<CheckContext["ready"]>[0],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CheckContext["info"]> =>
  reach(endpoint, timeoutMs, AbortSignal.any([signal, process.gone])).catch((error: unknown) => {
    throw new CheckFailure({
      message: "a provider that was started once more does not get ready",
      expected: `a handshake within ${Math.round(timeoutMs / 1_000)} s`,
      got: errorText(error),
    });
  });

const mayChange: ReadonlySet<Level> = new Set(["M", "D", "X"]);

/** What the checks of one run share. */
export class RunSession {
  readonly #options: SessionOptions;
  readonly #info: CheckContext["info"];
  readonly #clusterId: string;
  readonly #resources: CreatedResources;
  readonly #hooks: HookSession;
  /** One for all, reopened after a check that broke it. */
  readonly #connection: SteadyConnection;

  constructor(options: SessionOptions, info: CheckContext["info"]) {
    this.#options = options;
    this.#info = info;
    this.#clusterId = `${clusterPrefix}${options.runId}`;
    const { maxResources } = options.fixtures.limits ?? {};
    this.#resources = new CreatedResources(this.#clusterId, (entry, by) => options.onMake?.(entry, by), maxResources);
    const { fixtures, providerPid, onHook } = options;
    const [hooks, resources, runId] = [fixtures.hooks ?? {}, this.#resources, this.#clusterId];
    this.#hooks = new HookSession({ hooks, resources, runId, providerPid, onHook });
    this.#connection = new SteadyConnection(options.endpoint);
  }

  /** Why no check can be evaluated any longer: a fault in the cloud that could not be undone. */
  get stuck(): string | undefined {
    return this.#hooks.stuck;
  }

  /** What one run of a check works with, and its end. */
  openContext(check: Check, signal: AbortSignal): { context: CheckContext; close: () => Promise<void> } {
    const { endpoint, fixtures, seed, slowFactor, timeFactor, long, onExchange, onBorrow, command } = this.#options;
    const connections: Connection[] = [];
    const providers = command === undefined ? undefined : new OwnProviders(command);
    const opened = this.#hooks.open(check.id, signal);
    const context: CheckContext = {
      info: this.#info,
      endpoint,
      fixtures,
      hooks: opened.hooks,
      caller: new Caller({
        connection: this.#connection.now(),
        signal,
        record: (exchange) => onExchange?.(check.id, exchange),
        check: check.id,
        borrowed: (from) => onBorrow?.(check.id, from),
        deadlineFactor: timeFactor,
        changes: mayChange.has(check.level) ? this.#resources : undefined,
      }),
      callContext: { cluster: { id: this.#clusterId, name: "conformance" }, scopeId: this.#info.scopeId },
      connect: () => {
        const connection = new Connection(endpoint);
        connections.push(connection);
        return connection;
      },
      start: providers && ((socketPath) => providers.start(socketPath)),
      startTls: providers && (() => providers.startTls()),
      ready: (own) => ready(own, startMs * Math.max(1, slowFactor), signal),
      signal,
      random: seededRandom(seed, check.id),
      slowFactor,
      long,
      run: this,
    };
    return {
      context,
      close: async () => {
        await opened.close();
        for (const connection of connections) connection.close();
        await providers?.stop();
      },
    };
  }

  /** Undefined while the provider still answers a connection of its own, else what became of it. */
  async lost(): Promise<string | undefined> {
    const connection = new Connection(this.#options.endpoint);
    try {
      const deadlineMs = 5_000 * Math.max(1, this.#options.slowFactor);
      const called = await new Caller({ connection }).call(methods.getProviderInfo, { client }, { deadlineMs });
      return called.kind === "ok" ? undefined : `the provider no longer answers (${outcomeLine(called)})`;
    } finally {
      connection.close();
    }
  }

  /** Removes what the checks have made and did not remove themselves. */
  async cleanUp(timeoutMs: number): Promise<CleanedUp> {
    const { entries } = this.#resources;
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
    const hooksLeft = await undoAll(entries, this.#options.fixtures.hooks ?? {}, signal);
    const { command, gone } = this.#options;
    const again = gone?.aborted === true && entries.length > 0 && command !== undefined ? command : undefined;
    const left =
      again === undefined
        ? await cleanUp(() => this.#connection.now(), entries, signal)
        : await this.#cleanUpAgain(again, entries, signal);
    return { made: entries.length, left: [...hooksLeft, ...left] };
  }

  /** Through the provider started once more: the one that the run was on has ended. */
  async #cleanUpAgain(
    command: readonly string[],
    entries: readonly CreatedResource[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const providers = new OwnProviders(command);
    const own = await providers.start();
    const connection = new SteadyConnection(own.endpoint);
    try {
      await ready(own, startMs * Math.max(1, this.#options.slowFactor), signal);
      return await cleanUp(() => connection.now(), entries, signal);
    } catch (error) {
      return [`${entries.length} things that the run made: the provider has ended, and ${errorText(error)}`];
    } finally {
      connection.close();
      await providers.stop();
    }
  }

  close(): void {
    this.#connection.close();
  }
}
