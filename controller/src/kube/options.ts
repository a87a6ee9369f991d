import { type Problem, numberFlag, stringFlag } from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";
import { type Cidr, parseCidr } from "../util/cidr.ts";
import { withoutUserinfo } from "../util/text.ts";

/** The API server. */
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
    help: "address of the API server, in the place of the one in the kubeconfig",
  }),
  kubeApiQps: numberFlag({
    path: "Generic.ClientConnection.QPS",
    group: "kubernetes",
    valueName: "number",
    defaultValue: 0,
    min: 0,
    whole: false,
    help: "calls a second to the API server, watches not counted; 0: no limit of our own",
    differs: "20 a second hides what the API server can take, which limits its clients fairly by itself today",
  }),
  kubeApiBurst: numberFlag({
    path: "Generic.ClientConnection.Burst",
    group: "kubernetes",
    valueName: "number",
    defaultValue: 30,
    min: 1,
    whole: true,
    help: "calls that may exceed --kube-api-qps for a moment",
  }),
} as const;

export type KubeOptions = OptionsOf<typeof kubeFlags>;

/** What more than one capability knows of the cluster. */
export const clusterFlags = {
  clusterName: stringFlag({
    path: "KubeCloudShared.ClusterName",
    group: "controllers",
    valueName: "name",
    defaultValue: "kubernetes",
    help: "name of the cluster, given to providers for people to read; identity is the UID of the namespace kube-system",
  }),
  clusterCidr: stringFlag({
    path: "KubeCloudShared.ClusterCIDR",
    group: "controllers",
    valueName: "cidr[,cidr]",
    help: "range of all pods, or one of each IP family; empty: routes to nodes' pod ranges are not managed",
    differs: "empty turns the routes off, where upstream's process ends as soon as the provider serves routes",
  }),
} as const;

export type ClusterOptions = OptionsOf<typeof clusterFlags>;

export function kubeProblems({ master }: Pick<KubeOptions, "master">): readonly Problem[] {
  if (master === "") return [];
  const shown = withoutUserinfo(master);
  const wrong = (what: string): readonly Problem[] => [{ where: "--master", what: `"${shown}" ${what}` }];
  const url = URL.parse(master);
  if (url === null || !/^https?:\/\//.test(master))
    return wrong("is not an address; write it like https://10.0.0.1:6443");
  if (url.username === "" && url.password === "") return [];
  return wrong("has a user in it; credentials have their place in the file of --kubeconfig");
}

export function clusterProblems({ clusterCidr }: Pick<ClusterOptions, "clusterCidr">): readonly Problem[] {
  return cidrListProblems("--cluster-cidr", clusterCidr);
}

/** The ranges of `cidr[,cidr]`; what is none is left out. */
export function readCidrs(text: string): readonly Cidr[] {
  return text.split(",").flatMap((part) => parseCidr(part.trim()) ?? []);
}

/** cloud-provider/app/core.go v0.36.3: nothing, one range, or one of each family. */
export function cidrListProblems(where: string, text: string): readonly Problem[] {
  if (text === "") return [];
  const parts = text.split(",").map((part) => part.trim());
  const ranges = parts.map((part) => ({ part, range: parseCidr(part) }));
  const malformed = ranges.filter(({ range }) => range === undefined);
  if (malformed.length > 0) {
    return malformed.map(({ part }) => ({
      where,
      what: `"${part}" is not a range; write it like 10.120.0.0/16 or fd00:10::/48`,
    }));
  }
  if (parts.length > 2)
    return [{ where, what: `${parts.length} ranges are given; give one, or one of each IP family` }];
  if (parts.length === 2 && ranges[0]?.range?.family === ranges[1]?.range?.family) {
    return [{ where, what: `both ranges of "${text}" are ${ranges[0]?.range?.family}; give one of each IP family` }];
  }
  return [];
}
