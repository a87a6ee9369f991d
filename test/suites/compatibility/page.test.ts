import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { PAGE, readCompatibility, versionIn } from "./facts.ts";
import { compatibilityPage } from "./page.ts";

test("compatibilityPage() is what docs/reference/compatibility.md contains (case V-4)", async () => {
  expect(await readFile(PAGE, "utf8")).toBe(compatibilityPage(await readCompatibility()));
});

test("compatibilityPage() has a row for each minor, module and run", () => {
  const page = compatibilityPage({
    defaultMinor: "1.41",
    minors: [
      { minor: "1.41", kubernetes: "1.41.2", etcd: "3.9.1" },
      { minor: "1.40", kubernetes: "1.40.9", etcd: "3.9.0" },
      { minor: "1.39", kubernetes: "1.39.7", etcd: "3.8.5" },
    ],
    modules: [{ what: "Helm", version: "v4.2.0", suite: "deploy" }],
    longRuns: [
      { suite: "kubelet", date: "2026-11-28", commit: "5f3353f0a1", programs: ["containerd 1.6.20", "runc 1.1.5"] },
    ],
  });
  const generated = page
    .split("\n## ")
    .filter((section) => !section.startsWith("Kubernetes 1"))
    .join("\n");
  expect(generated.split("\n").filter((line) => line.startsWith("| "))).toEqual([
    "| Kubernetes | etcd | when | suites |",
    "| --- | --- | --- | --- |",
    "| 1.41.2 | 3.9.1 | each change | all suites with a real control plane |",
    expect.stringMatching(/^\| 1\.40\.9 \| 3\.9\.0 \| on request \| `system-1\.40`: /),
    expect.stringMatching(/^\| 1\.39\.7 \| 3\.8\.5 \| each change \| `system-1\.39`: /),
    "| program | version | suite on each change |",
    "| --- | --- | --- |",
    "| Helm | v4.2.0 | `deploy` |",
    "| suite | last run | commit | programs |",
    "| --- | --- | --- | --- |",
    "| `kubelet` | 2026-11-28 | 5f3353f0a1 | containerd 1.6.20, runc 1.1.5 |",
  ]);
});

test.each([
  ["require k8s.io/api v0.40.1", "v0.40.1"],
  ["\tk8s.io/api v0.40.1 // indirect", "v0.40.1"],
  ["\tk8s.io/api => k8s.io/api v0.40.1", undefined],
  ["\tk8s.io/apimachinery v0.40.1", undefined],
])("versionIn() reads of %j the version %s", (text, version) => {
  expect(versionIn(`module m\n${text}\n`, "k8s.io/api")).toBe(version);
});
