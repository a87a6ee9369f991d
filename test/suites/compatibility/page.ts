/** What the compatibility page is made of. */
export interface Compatibility {
  /** Newest first. */
  readonly minors: readonly Minor[];
  readonly defaultMinor: string;
  readonly modules: readonly GoModuleVersion[];
  readonly longRuns: readonly LongRun[];
}

export interface Minor {
  readonly minor: string;
  readonly kubernetes: string;
  readonly etcd: string;
}

export interface GoModuleVersion {
  readonly what: string;
  readonly version: string;
  readonly suite: string;
}

/** A run on request with programs that are not pinned here, of test/long-runs.json. */
export interface LongRun {
  readonly suite: string;
  readonly date: string;
  readonly commit: string;
  /** Such as "containerd 1.6.20". */
  readonly programs: readonly string[];
}

/** What is known of a version that cannot run here. Delete it when the suites run with it. */
const NEXT_MINOR = [
  "## Kubernetes 1.38",
  "",
  "Not released. The suites do not run with its beta, because two modules that it requires are not published.",
  "",
  ...table(
    ["change in 1.38", "here"],
    [
      [
        "kubelets can request serving certificates for ML-DSA keys",
        "[approved](../explanation/bootstrap.md#what-is-checked)",
      ],
      [
        "feature gate `CloudNodeAdditionalLabelsReconciliation` of upstream adds missing labels to initialized Nodes",
        "[N18](../explanation/differences-from-upstream.md) also updates labels and reverts edits, without a feature gate",
      ],
      [
        "`Initialize` of a Go provider can get a `TypedClientBuilder`",
        "[the bridge](../../provider-sdk/go/bridge/README.md) has no such builder yet: its `k8s.io/cloud-provider` is older",
      ],
      [
        "Go 1.27; `pkg/kubemark` is removed",
        "the [test control plane](../../test/control-plane/README.md) needs another hollow kubelet",
      ],
    ],
  ),
  "",
];

/** docs/reference/compatibility.md */
export function compatibilityPage({ minors, defaultMinor, modules, longRuns }: Compatibility): string {
  return [
    "# Compatibility",
    "",
    "The versions of other programs with which the suites run. `npm run gen -w @cloudwire/test` writes this page from",
    "[versions.json](../../test/control-plane/versions.json), the module files of the tests and [long-runs.json](../../test/long-runs.json).",
    "[Upgrades and version skew](../guides/upgrade.md) has the rules for versions of Cloudwire.",
    "",
    "## Kubernetes",
    "",
    "Kubelet, kube-scheduler, kube-controller-manager and kubectl have the version of kube-apiserver.",
    "",
    ...table(
      ["Kubernetes", "etcd", "when", "suites"],
      minors.map(({ minor, kubernetes, etcd }, index) => {
        const isInCi = minor === defaultMinor || index === minors.length - 1;
        return [kubernetes, etcd, isInCi ? "each change" : "on request", suitesOn(minor, defaultMinor)];
      }),
    ),
    "",
    "One version of the controller works with all of them. It has no setting for a version of Kubernetes.",
    "",
    "## Other programs",
    "",
    ...table(
      ["program", "version", "suite on each change"],
      modules.map(({ what, version, suite }) => [what, version, `\`${suite}\``]),
    ),
    "",
    ...NEXT_MINOR,
    "## Programs of the machine",
    "",
    "These suites run on request, with the programs that the machine has.",
    "",
    ...table(
      ["suite", "last run", "commit", "programs"],
      longRuns.map(({ suite, date, commit, programs }) => [`\`${suite}\``, date, commit, programs.join(", ")]),
    ),
    "",
  ].join("\n");
}

function suitesOn(minor: string, defaultMinor: string): string {
  return minor === defaultMinor
    ? "all suites with a real control plane"
    : `\`system-${minor}\`: Nodes, Services, routes, pod CIDRs, serving certificates, leader election, endpoints, permissions`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = rows.length === 0 ? [head.map((_, index) => (index === 0 ? "none yet" : ""))] : rows;
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`);
}
