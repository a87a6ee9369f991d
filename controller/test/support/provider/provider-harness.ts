import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProviderTls } from "../../../src/provider/connection/address.ts";
import { CONNECTION_TIMING, type ConnectionTiming } from "../../../src/provider/connection/connection.ts";
import { providerMetrics } from "../../../src/provider/metrics.ts";
import { Sidecar } from "../../../src/provider/sidecar.ts";
import type { AuditSink } from "../../../src/telemetry/audit-log.ts";
import { ChangeSequence } from "../../../src/leadership/change-sequence.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import type { RecordingSink } from "../../../src/telemetry/recording-log.ts";
import { NO_TRACING, type Tracing } from "../../../src/telemetry/tracing.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { FakeLog } from "../fake-log.ts";
import { eventually } from "../poll.ts";

/** The product's timing, but for waits that would make tests slow. */
const TEST_TIMING: ConnectionTiming = { ...CONNECTION_TIMING, connectMs: 200, retryMs: 50 };

export interface HarnessOptions {
  readonly timing?: Partial<ConnectionTiming>;
  /** @default "acme" */
  readonly name?: string;
  /** @default the socket of the harness */
  readonly address?: string;
  readonly tls?: ProviderTls;
  readonly tracing?: Tracing;
  readonly audit?: AuditSink;
  readonly recording?: RecordingSink;
  readonly onReady?: () => void;
  readonly onScopeChange?: (message: string | undefined) => void;
}

/** A directory for a socket and, on demand, a sidecar connection to it that runs until the test ends. */
export class ProviderHarness implements AsyncDisposable {
  readonly socketPath: string;
  readonly log = new FakeLog();
  readonly metrics = new Metrics();
  readonly #directory: string;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
    this.socketPath = join(directory, "provider.sock");
  }

  static async create(): Promise<ProviderHarness> {
    return new ProviderHarness(await mkdtemp(join(tmpdir(), "cw-")));
  }

  /** For the files of a test; gone when it ends. */
  get directory(): string {
    return this.#directory;
  }

  /** Aborts when the test ends. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  connect(options: HarnessOptions = {}): Sidecar {
    const sidecar = new Sidecar({
      name: options.name ?? "acme",
      address: options.address ?? `unix://${this.socketPath}`,
      tls: options.tls,
      cluster: { id: "cluster-1", name: "test" },
      version: "0.0.0-test",
      clock: systemClock(),
      numbers: new ChangeSequence({ clock: systemClock(), log: this.log, isElected: false }),
      random: Math.random,
      newId: randomUUID,
      userId: process.getuid?.(),
      log: this.log,
      metrics: providerMetrics(this.metrics),
      tracing: options.tracing ?? NO_TRACING,
      ...(options.audit === undefined ? {} : { audit: options.audit }),
      ...(options.recording === undefined ? {} : { recording: options.recording }),
      timing: { ...TEST_TIMING, ...options.timing },
      onReady: () => options.onReady?.(),
      onScopeChange: (message) => options.onScopeChange?.(message),
    });
    this.#running.push(sidecar.run(this.signal));
    return sidecar;
  }

  async ready(sidecar: Sidecar): Promise<void> {
    await eventually("the provider is connected", () => sidecar.health.ready);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await Promise.all(this.#running);
    await rm(this.#directory, { recursive: true, force: true });
  }
}
