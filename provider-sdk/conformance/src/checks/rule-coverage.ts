import type { Check } from "../suite/check.ts";

/** IDs of the checks of a rule. */
export const checksOf = (checks: readonly Check[], rule: string): readonly string[] =>
  checks.filter(({ rules }) => rules.includes(rule)).map(({ id }) => id);

/** Rules without a check, and the reason. */
export const uncheckedRules: Readonly<Record<string, string>> = {
  "INF-7": "It is a requirement for the controller.",
  "INF-8": "The check would have to start the provider during an outage of its cloud. The tests of the SDKs do this.",
  "ERR-7": "It is a requirement for the controller and other callers.",
  "STA-3": "It is a requirement for the controller.",
  "ABS-8": "The check would need two instances with the same name, which few clouds allow.",
  "ABS-9": "It is a requirement for the controller.",
  "LB-17": "It is a requirement for the controller: what it publishes if a response has no `ingress`.",
  "LB-18": "The kit does not know which annotations assign a Service to another controller.",
  "VOL-3": "The contract has no RPC that creates, attaches or deletes a volume.",
  "TIM-3": "It is a requirement for the controller and its transport.",
  "CON-3": "It is a requirement for the controller.",
  "CON-4": "It is a SHOULD for providers, and a requirement for the controller.",
  "LIM-3": "It is a requirement for the controller, which sends the metadata.",
  "LIM-4": "It is a requirement for the controller, which receives the response.",
  "LIM-5": "It is a requirement for the controller, which compares the clocks.",
  "LIM-6": "It is a requirement for the controller. The kit checks the field rules of every response.",
  "LST-6": "It is a requirement for the controller. A small cloud does not reach the limits.",
};

/** Rules without a check and a reason, or with both, and references to unknown rules. */
export const coverageProblems = (
  rules: readonly string[],
  checks: readonly Check[],
  reasons: Readonly<Record<string, string>>,
): readonly string[] => [
  ...rules.flatMap((rule) => {
    const isProven = checksOf(checks, rule).length > 0;
    const hasReason = reasons[rule] !== undefined;
    if (isProven && hasReason) return [`${rule} has checks and is in uncheckedRules: remove it there`];
    return isProven || hasReason ? [] : [`${rule} has neither a check nor a reason in uncheckedRules`];
  }),
  ...checks.flatMap(({ id, rules: cited }) =>
    cited
      .filter((rule) => !rules.includes(rule))
      .map((rule) => `${id} cites ${rule}, which is not in the specification`),
  ),
  ...checks.filter(({ rules: cited }) => cited.length === 0).map(({ id }) => `${id} cites no rule`),
  ...Object.keys(reasons)
    .filter((rule) => !rules.includes(rule))
    .map((rule) => `uncheckedRules has ${rule}, which is not in the specification`),
];
