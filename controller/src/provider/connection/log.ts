import type { Logger } from "../../telemetry/log.ts";
import type { Clock } from "../../util/clock.ts";
import { type ScopeChange, scopeMessage } from "./state.ts";
import { type InfoChange, type Refusal, changeText } from "./handshake.ts";
import type { ProviderInfo } from "../model/info.ts";
import { notReadyMessage, type ProviderStatus } from "../model/status.ts";

export interface ConnectionLogDeps {
  readonly log: Logger;
  readonly clock: Clock;
  /** Between two lines about the same obstacle. */
  readonly repeatMs: number;
}

/** What an operator reads of one connection: each change once, an obstacle that stays now and then. */
export class ConnectionLog {
  readonly #deps: ConnectionLogDeps;
  #reason = "";
  #saidAtMs = Number.NEGATIVE_INFINITY;
  #cloudReady = true;
  #tlsProblem: string | undefined;
  #shortLife: string | undefined;

  constructor(deps: ConnectionLogDeps) {
    this.#deps = deps;
  }

  refused({ reason, message }: Refusal): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (reason === this.#reason && nowMs - this.#saidAtMs < this.#deps.repeatMs) return;
    this.#reason = reason;
    this.#saidAtMs = nowMs;
    this.#deps.log.warn("provider is not connected; trying again", { reason, why: message });
  }

  /** `changes`: since the handshake before. */
  accepted(info: ProviderInfo, changes: readonly InfoChange[]): void {
    const { log } = this.#deps;
    this.#reason = "";
    const { name, version, bootId, scopeId } = info;
    log.info("provider connected", { providerName: name, version, bootId, scopeId });
    this.#tellChanges(changes);
    for (const { severity, reason, summary } of info.diagnostics) {
      log[severity === "info" ? "info" : "warn"]("provider diagnostic", { reason, summary });
    }
  }

  /** What an upgrade took away may be what Services of the cluster ask for. */
  #tellChanges(changes: readonly InfoChange[]): void {
    if (changes.length === 0) return;
    const disappeared = changes.filter(({ after }) => after === undefined).map(({ path }) => path);
    const appeared = changes.filter(({ before }) => before === undefined).map(({ path }) => path);
    const changed = changes.filter(({ before, after }) => before !== undefined && after !== undefined).map(changeText);
    const level = disappeared.length > 0 ? "warn" : "info";
    this.#deps.log[level]("provider declares other things than before", { appeared, disappeared, changed });
  }

  /** undefined: the scope is trusted again. */
  scope(change: ScopeChange | undefined): void {
    const { log } = this.#deps;
    if (change === undefined) return log.info("provider's scope is confirmed; changes go on");
    const { confirmed, current } = change;
    log.error("provider works in another scope; changes are held back", {
      confirmed,
      current,
      why: scopeMessage(change),
    });
  }

  plaintext(address: string): void {
    const why = "whoever can reach the provider, or is on the way, can change the cloud; give --provider-tls";
    this.#deps.log.warn("provider is called without TLS", { address, why });
  }

  /** undefined: nothing is wrong with them. */
  tlsFiles(problem: string | undefined): void {
    if (problem !== undefined && problem !== this.#tlsProblem)
      this.#deps.log.warn("The changed TLS files of the provider are not used; the connection stays", { problem });
    this.#tlsProblem = problem;
  }

  /** undefined: the one that we show ends at no time soon. */
  certificate(shortLife: string | undefined): void {
    if (shortLife !== undefined && shortLife !== this.#shortLife)
      this.#deps.log.warn("The certificate for the provider ends soon, or has ended; renew it", { problem: shortLife });
    this.#shortLife = shortLife;
  }

  renewed(): void {
    this.#tlsProblem = undefined;
    this.#deps.log.info("provider connection renewed with changed TLS files");
  }

  lost(why: string): void {
    this.#deps.log.warn("provider connection lost; connecting again", { why });
  }

  status(status: ProviderStatus): void {
    if (status.ready === this.#cloudReady) return;
    this.#cloudReady = status.ready;
    if (status.ready) this.#deps.log.info("provider says that its cloud can be used again");
    else this.#deps.log.warn("provider says that its cloud cannot be used", { why: notReadyMessage(status) });
  }

  statusFailed(error: Error, failures: number): void {
    this.#deps.log.warn("provider status call failed", { err: error, failures });
  }
}
