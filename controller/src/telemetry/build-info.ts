import type { Metrics } from "./metrics.ts";

/** Which program this is. Name and labels as far as they mean something here: component-base/metrics/prometheus/version v0.36.3. */
export function exposeBuildInfo(metrics: Metrics, version: string): void {
  const [major = "", minor = ""] = version.split(".");
  metrics
    .gauge({
      name: "kubernetes_build_info",
      help: "Always 1; the labels tell version and platform of this program.",
      labels: ["major", "minor", "git_version", "platform"],
    })
    .set({ major, minor, git_version: `v${version}`, platform: `${process.platform}/${process.arch}` }, 1);
}
