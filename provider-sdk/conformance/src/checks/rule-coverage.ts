import type { Check } from "../suite/check.ts";

/** Ids of the checks that cite a rule. */
export const checksOf = (checks: readonly Check[], rule: string): readonly string[] =>
  checks.filter(({ rules }) => rules.includes(rule)).map(({ id }) => id);

/** Rules without a check, and why no check of a provider can prove them. */
export const uncheckedRules: Readonly<Record<string, string>> = {
  "INF-7": "a duty of the controller.",
  "INF-8":
    "needs a provider that is started while its cloud is away, and that asks it for its scope: the tests of the SDKs have one.",
  "STA-3": "a duty of the controller.",
  "ABS-8": "needs two instances with the same name, which few clouds allow.",
  "ABS-9": "a duty of the controller.",
  "LB-17": "a duty of the controller: what it publishes when an answer has no `ingress`.",
  "LB-18": "the kit cannot know which annotations assign a Service to another controller.",
  "VOL-3": "there is no RPC to make, attach or remove a volume with.",
  "TIM-3": "a duty of the controller and its transport.",
  "CON-3": "a duty of the controller.",
  "CON-4": "a provider only should; the rest is a duty of the controller.",
  "LIM-3": "a duty of the controller, which sends the metadata.",
};

/** What is wrong between the rules that there are, the checks and the reasons: empty when each rule has one or the other. */
export const coverageProblems = (
  rules: readonly string[],
  checks: readonly Check[],
  reasons: Readonly<Record<string, string>>,
): readonly string[] => [
  ...rules.flatMap((rule) => {
    const isProven = checksOf(checks, rule).length > 0;
    const hasReason = reasons[rule] !== undefined;
    if (isProven && hasReason) return [`${rule} has checks, and a reason to have none: take it off uncheckedRules`];
    return isProven || hasReason ? [] : [`${rule} has neither a check nor a reason in uncheckedRules`];
  }),
  ...checks.flatMap(({ id, rules: cited }) =>
    cited.filter((rule) => !rules.includes(rule)).map((rule) => `${id} cites ${rule}, which the specification has not`),
  ),
  ...checks.filter(({ rules: cited }) => cited.length === 0).map(({ id }) => `${id} cites no rule`),
  ...Object.keys(reasons)
    .filter((rule) => !rules.includes(rule))
    .map((rule) => `uncheckedRules has ${rule}, which the specification has not`),
];
