import type { Node } from "../../api/node.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { type OwnershipProblem, ownershipProblems } from "./conflicts.ts";
import type { OwnershipRules, ProviderSet } from "../model/provider.ts";

export interface OwnershipReportDeps {
  readonly providers: ProviderSet;
  readonly rules: Pick<OwnershipRules, "nodeSelectors" | "defaultLoadBalancerProvider">;
  /** All Nodes known. */
  readonly nodes: () => Iterable<Node>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Shows who owns what: Nodes by owner and what providers contest, in metrics; in the log what is contested, once each. */
export class OwnershipReport {
  readonly #deps: OwnershipReportDeps;
  #told: ReadonlyMap<string, OwnershipProblem> = new Map();

  constructor(deps: OwnershipReportDeps) {
    this.#deps = deps;
    deps.metrics.gauge({
      name: "cloudwire_nodes",
      help: "Nodes by the provider that owns them; without provider: unowned, or undecided for the time being. Those are left alone.",
      labels: ["provider", "state"],
      collect: (gauge) => {
        gauge.reset();
        for (const { name } of deps.providers.providers) gauge.set({ provider: name, state: "owned" }, 0);
        for (const state of ["unowned", "undecided"]) gauge.set({ provider: "", state }, 0);
        for (const node of deps.nodes()) {
          const owner = deps.providers.ownerOfNode(node);
          gauge.inc({ provider: owner.kind === "owned" ? owner.provider.name : "", state: owner.kind });
        }
      },
    });
    deps.metrics.gauge({
      name: "cloudwire_ownership_problems",
      help: "1 for each provider-ID prefix or load-balancer class that several providers declare, and for a default provider without load balancers.",
      labels: ["kind", "value"],
      collect: (gauge) => {
        gauge.reset();
        for (const { kind, value } of this.problems()) gauge.set({ kind, value }, 1);
      },
    });
  }

  problems(): readonly OwnershipProblem[] {
    return ownershipProblems(this.#deps.providers.providers, this.#deps.rules);
  }

  /** A provider has answered a handshake: says in the log what is contested now and was not before, and what no longer is. */
  check(): void {
    const { log } = this.#deps;
    const now = new Map(this.problems().map((one) => [`${one.kind} ${one.value} ${one.providers.join()}`, one]));
    for (const [id, { kind, value, providers, message }] of now) {
      if (!this.#told.has(id))
        log.error("Providers cannot all have what they declare", { kind, value, providers, why: message });
    }
    for (const [id, { kind, value }] of this.#told) {
      if (!now.has(id)) log.info("Providers no longer contest what they declare", { kind, value });
    }
    this.#told = now;
  }
}
