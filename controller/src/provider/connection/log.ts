import type { Logger } from "../../telemetry/log.ts";
import type { Clock } from "../../util/clock.ts";
import { type ScopeChange, scopeMessage } from "./state.ts";
import { type InfoChange, type Rejection, changeText } from "./handshake.ts";
import type { ProviderInfo } from "../model/info.ts";
import { notReadyMessage, type ProviderStatus } from "../model/status.ts";

export interface ConnectionLogDeps {
  readonly log: Logger;
  readonly clock: Clock;
  /** Interval of lines about the same problem. */
  readonly repeatMs: number;
}

/** Logs the changes of one connection once, and persistent problems at intervals. */
export class ConnectionLog {
  readonly #deps: ConnectionLogDeps;
  #reason = "";
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  #cloudReady = true;
  #tlsProblem: string | undefined;
  #shortLife: string | undefined;

  constructor(deps: ConnectionLogDeps) {
    this.#deps = deps;
  }

  rejected({ reason, message }: Rejection): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (reason === this.#reason && nowMs - this.#loggedAtMs < this.#deps.repeatMs) return;
    this.#reason = reason;
    this.#loggedAtMs = nowMs;
    this.#deps.log.warn("Could not connect to provider; retrying", { reason, detail: message });
  }

  /** `changes` from the handshake before. */
  accepted(info: ProviderInfo, changes: readonly InfoChange[]): void {
    const { log } = this.#deps;
    this.#reason = "";
    const { name, version, bootId, scopeId } = info;
    log.info("Connected to provider", { providerName: name, version, bootId, scopeId });
    this.#logChanges(changes);
    for (const { severity, reason, summary } of info.diagnostics) {
      log[severity === "info" ? "info" : "warn"]("Provider diagnostic", { reason, summary });
    }
  }

  /** Services may use a removed feature. */
  #logChanges(changes: readonly InfoChange[]): void {
    if (changes.length === 0) return;
    const disappeared = changes.filter(({ after }) => after === undefined).map(({ path }) => path);
    const appeared = changes.filter(({ before }) => before === undefined).map(({ path }) => path);
    const changed = changes.filter(({ before, after }) => before !== undefined && after !== undefined).map(changeText);
    const level = disappeared.length > 0 ? "warn" : "info";
    this.#deps.log[level]("Capabilities of provider changed", { appeared, disappeared, changed });
  }

  /** undefined: the scope is trusted again. */
  scope(change: ScopeChange | undefined): void {
    const { log } = this.#deps;
    if (change === undefined) return log.info("The scope of provider is confirmed; changes resume");
    const { confirmed, current } = change;
    log.error("The scope of provider changed; changes are paused", {
      confirmed,
      current,
      detail: scopeMessage(change),
    });
  }

  plaintext(address: string): void {
    const why =
      "any client that can reach the provider or intercept the connection can change the cloud; set --provider-tls";
    this.#deps.log.warn("Provider is called without TLS", { address, detail: why });
  }

  /** undefined: the files are usable. */
  tlsFiles(problem: string | undefined): void {
    if (problem !== undefined && problem !== this.#tlsProblem)
      this.#deps.log.warn("Could not use the changed TLS files of provider; the connection is kept", {
        detail: problem,
      });
    this.#tlsProblem = problem;
  }

  /** undefined: our certificate does not expire soon. */
  certificate(shortLife: string | undefined): void {
    if (shortLife !== undefined && shortLife !== this.#shortLife)
      this.#deps.log.warn("The client certificate for provider has expired or expires soon", { detail: shortLife });
    this.#shortLife = shortLife;
  }

  renewed(): void {
    this.#tlsProblem = undefined;
    this.#deps.log.info("Reconnected to provider with changed TLS files");
  }

  lost(why: string): void {
    this.#deps.log.warn("Lost connection to provider; reconnecting", { detail: why });
  }

  status(status: ProviderStatus): void {
    if (status.ready === this.#cloudReady) return;
    this.#cloudReady = status.ready;
    if (status.ready) this.#deps.log.info("Provider reports that its cloud is available again");
    else this.#deps.log.warn("Provider reports that its cloud is unavailable", { detail: notReadyMessage(status) });
  }

  statusFailed(error: Error, failures: number): void {
    this.#deps.log.warn("Could not read the status of provider", { err: error, failures });
  }
}
