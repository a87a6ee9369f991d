import type { BudgetSnapshot } from "./model/call-rate.ts";
import type { ConnectionState, ProviderHealth } from "./connection/state.ts";
import type { HandshakeRecord } from "./connection/handshake-history.ts";
import type { ProviderInfo } from "./model/info.ts";
import type { ProviderStatus } from "./model/status.ts";
import type { ScopeChange } from "./connection/scope-guard.ts";

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
  readonly doubt: string | undefined;
  readonly budgets: readonly BudgetSnapshot[];
  readonly calls: { readonly inFlight: number; readonly waiting: number; readonly limit: number };
}
