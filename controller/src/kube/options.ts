import { type Problem, numberFlag, stringFlag } from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";
import { type Cidr, parseCidr } from "../util/cidr.ts";
import { withoutUserinfo } from "../util/text.ts";

export const kubeFlags = {
  kubeconfig: stringFlag({
    path: "Generic.ClientConnection.Kubeconfig",
    group: "kubernetes",
    valueName: "file",
    help: "kubeconfig with the API server's address and credentials; empty: the pod's service account",
  }),
  master: stringFlag({
    group: "kubernetes",
    valueName: "url",
    help: "address of the API server; overrides the kubeconfig",
  }),
  kubeApiQps: numberFlag({
    path: "Generic.ClientConnection.QPS",
    group: "kubernetes",
    valueName: "number",
    defaultValue: 0,
    min: 0,
    whole: false,
    help: "calls per second to the API server, without watches; 0: no client-side limit",
    differs:
      "upstream's 20 per second wastes capacity: the API server limits its clients itself (priority and fairness)",
  }),
  kubeApiBurst: numberFlag({
    path: "Generic.ClientConnection.Burst",
    group: "kubernetes",
    valueName: "number",
    defaultValue: 30,
    min: 1,
    whole: true,
    help: "calls that may exceed --kube-api-qps in a burst",
  }),
} as const;

export type KubeOptions = OptionsOf<typeof kubeFlags>;

export const clusterFlags = {
  clusterName: stringFlag({
    path: "KubeCloudShared.ClusterName",
    group: "controllers",
    valueName: "name",
    defaultValue: "kubernetes",
    help: "informational name of the cluster, sent to providers; its identity is the UID of namespace kube-system",
  }),
  clusterCidr: stringFlag({
    path: "KubeCloudShared.ClusterCIDR",
    group: "controllers",
    valueName: "cidr[,cidr]",
    help: "CIDR of all pods, or one per IP family; empty: routes to the nodes' pod CIDRs are not managed",
    differs: "empty disables routes; upstream exits if the provider supports routes",
  }),
} as const;

export type ClusterOptions = OptionsOf<typeof clusterFlags>;

export function kubeProblems({ master }: Pick<KubeOptions, "master">): readonly Problem[] {
  if (master === "") return [];
  const shown = withoutUserinfo(master);
  const problem = (what: string): readonly Problem[] => [{ where: "--master", what: `"${shown}" ${what}` }];
  const url = URL.parse(master);
  if (url === null || !/^https?:\/\//.test(master))
    return problem("is not an address; write it like https://10.0.0.1:6443");
  if (url.username === "" && url.password === "") return [];
  return problem("contains credentials; set them in the kubeconfig (--kubeconfig)");
}

export function clusterProblems({ clusterCidr }: Pick<ClusterOptions, "clusterCidr">): readonly Problem[] {
  return cidrListProblems("--cluster-cidr", clusterCidr);
}

/** The valid CIDRs of `cidr[,cidr]`. */
export function readCidrs(text: string): readonly Cidr[] {
  return text.split(",").flatMap((part) => parseCidr(part.trim()) ?? []);
}

/** cloud-provider/app/core.go v0.36.3: empty, one CIDR, or one per family. */
export function cidrListProblems(where: string, text: string): readonly Problem[] {
  if (text === "") return [];
  const parts = text.split(",").map((part) => part.trim());
  const cidrs = parts.map((part) => ({ part, cidr: parseCidr(part) }));
  const malformed = cidrs.filter(({ cidr }) => cidr === undefined);
  if (malformed.length > 0) {
    return malformed.map(({ part }) => ({
      where,
      what: `"${part}" is not a CIDR; write it like 10.120.0.0/16 or fd00:10::/48`,
    }));
  }
  if (parts.length > 2) return [{ where, what: `has ${parts.length} CIDRs; specify one, or one per IP family` }];
  if (parts.length === 2 && cidrs[0]?.cidr?.family === cidrs[1]?.cidr?.family) {
    return [{ where, what: `both CIDRs of "${text}" are ${cidrs[0]?.cidr?.family}; specify one per IP family` }];
  }
  return [];
}
