import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than a minute and a half, the longest first. A new machine has no durations of its own to sort by. */
const LONG_FILES: readonly string[] = [
  "chart-cluster.deploy.test.ts",
  "conformance.languages.test.ts",
  "image.deploy.test.ts",
  "parity.parity.test.ts",
  "flags.parity.test.ts",
  "lifecycle.system.test.ts",
  "scaffold.languages.test.ts",
  "guides.deploy.test.ts",
  "observe.parity.test.ts",
  "conformance.network.test.ts",
  "csr.system.test.ts",
  "explain-failures.system.test.ts",
  "end-to-end.network.test.ts",
];

/** Starts long files first, so that no worker runs one while the others have nothing left. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId));
  }
}

function rankOf(path: string): number {
  const rank = LONG_FILES.findIndex((name) => path.endsWith(`/${name}`));
  return rank === -1 ? LONG_FILES.length : rank;
}
