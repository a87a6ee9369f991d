import type { Right } from "./kube-api.ts";

/** The rule that gives a right, to be pasted into a Role or ClusterRole. */
export function ruleOf({ apiGroup, resource, verbs, namespace }: Right): string {
  const where = namespace === undefined ? "a ClusterRole" : `a Role in ${namespace}`;
  return `${where} with the rule {apiGroups: ["${apiGroup}"], resources: [${resource}], verbs: [${verbs.join(", ")}]}`;
}

/** The same for a page of the controller. */
export function pageRuleOf(path: string): string {
  return `a ClusterRole with the rule {nonResourceURLs: ["${path}"], verbs: [get]}`;
}
