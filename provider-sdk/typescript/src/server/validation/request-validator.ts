import type { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import { ProviderError } from "../../results/errors.ts";
import { quote } from "@cloudwire/proto/formats";
import type { RuleChecker } from "@cloudwire/proto/rule-checker";
import { refusal, type Violation } from "./violation.ts";

/** Rejects requests that break a rule, with all their violations. */
export class RequestValidator {
  readonly #rules: RuleChecker;
  readonly #scopeId: () => string;

  /** `scopeId` answers the scope, or throws while it is not known. */
  constructor(rules: RuleChecker, scopeId: () => string) {
    this.#rules = rules;
    this.#scopeId = scopeId;
  }

  /** Throws unless the request keeps to the rules of its fields and to `extra`, and is meant for the scope served. */
  check(method: string, request: { readonly context: CallContext | undefined }, extra: readonly Violation[]): void {
    const byRule = this.#rules
      .check(`cloudprovider.v1.${method}Request`, request)
      .filter(({ field }) => !isHint(method, field));
    const refused = refusal(method, merge(extra, byRule));
    if (refused) throw refused;
    this.#checkScope(request.context?.scopeId ?? "");
  }

  #checkScope(wanted: string): void {
    const served = this.#scopeId();
    if (wanted === served) return;
    throw new ProviderError(
      "SCOPE_MISMATCH",
      `context.scope_id is ${quote(wanted)}, but the provider works in ${quote(served)}: another account, project or region`,
      { metadata: { expected: wanted.slice(0, 253), actual: served } },
    );
  }
}

const methodsWithHints = new Set(["GetLoadBalancer", "UpdateLoadBalancerNodes", "DeleteLoadBalancer"]);

/** Class and annotations are hints there: a bad one never makes the call fail, least of all a deletion. Contract: LB-16. */
const isHint = (method: string, field: string): boolean =>
  methodsWithHints.has(method) && (field === "class" || field.startsWith("annotations"));

/** A special finding about a field says more than the rule table's about the same field. */
const merge = (special: readonly Violation[], byRule: readonly Violation[]): readonly Violation[] => {
  const fields = new Set(special.map(({ field }) => field));
  return [...special, ...byRule.filter(({ field }) => !fields.has(field))];
};
