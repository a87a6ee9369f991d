/** Scenarios that kube-apiserver 1.37, and so devcluster, changed. On an older minor they must differ, and all others must not. */
const CHANGED_IN_1_37 = [
  "discovery",
  "node: what may not change",
  "node: refused values",
  "endpoint slice",
  "certificate signing request: request, approve, issue",
  "merge patch",
  "JSON patch",
  "patch requests that make no sense",
  "access reviews",
];

const CHANGED_IN_1_36 = [
  "node: everything set at creation is kept, quantities and times in canonical form",
  "service: accepted specs and their defaults",
  "service: refused specs",
];

const DIFFERENT: Readonly<Record<string, readonly string[]>> = {
  "1.35": [...CHANGED_IN_1_36, ...CHANGED_IN_1_37],
  "1.36": CHANGED_IN_1_37,
};

/** Whether kube-apiserver of that minor must differ from devcluster in the scenario. */
export function differsOn(minor: string, scenario: string): boolean {
  return DIFFERENT[minor]?.includes(scenario) ?? false;
}
