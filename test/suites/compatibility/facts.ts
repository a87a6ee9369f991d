import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { at, listOf } from "../../support/kube.ts";
import type { Compatibility, GoModuleVersion, LongRun } from "./page.ts";

const TEST = new URL("../../", import.meta.url);

export const PAGE: string = fileURLToPath(new URL("../docs/reference/compatibility.md", TEST));

interface PinnedModule extends Pick<GoModuleVersion, "what" | "suite"> {
  /** A go.mod below `test`. */
  readonly file: string;
  readonly module: string;
}

const MODULES: readonly PinnedModule[] = [
  {
    what: "upstream's `k8s.io/cloud-provider`",
    suite: "parity",
    file: "programs/upstream-ccm/go.mod",
    module: "k8s.io/cloud-provider",
  },
  { what: "Helm", suite: "deploy", file: "programs/helm/go.mod", module: "helm.sh/helm/v4" },
  {
    what: "bridged `k8s.io/cloud-provider-aws`",
    suite: "languages",
    file: "programs/bridged/aws/go.mod",
    module: "k8s.io/cloud-provider-aws",
  },
  {
    what: "bridged `k8s.io/cloud-provider-gcp/providers`",
    suite: "languages",
    file: "programs/bridged/gcp/go.mod",
    module: "k8s.io/cloud-provider-gcp/providers",
  },
];

/** What the page is made of, from the files that pin and record it. */
export async function readCompatibility(): Promise<Compatibility> {
  const versions = await readJson("control-plane/versions.json");
  const minors = Object.entries(recordOf(at(versions, "minors"))).map(([minor, entry]) => ({
    minor,
    kubernetes: String(at(entry, "kubernetes")),
    etcd: String(at(entry, "etcd")),
  }));
  return {
    minors: minors.toReversed(),
    defaultMinor: String(at(versions, "default")),
    modules: await Promise.all(MODULES.map(readModule)),
    longRuns: listOf(await readJson("long-runs.json")).flatMap(longRunOf),
  };
}

async function readModule({ what, suite, file, module }: PinnedModule): Promise<GoModuleVersion> {
  const version = versionIn(await readFile(new URL(file, TEST), "utf8"), module);
  if (version === undefined) throw new Error(`test/${file} does not require ${module}`);
  return { what, suite, version };
}

/** The version of a module that a go.mod requires. */
export function versionIn(gomod: string, module: string): string | undefined {
  const line = gomod.split("\n").find((line) =>
    line
      .trim()
      .replace(/^require /, "")
      .startsWith(`${module} v`),
  );
  return line === undefined ? undefined : /v\S+$/.exec(line.replace(/\s*\/\/.*/, ""))?.[0];
}

/** Only runs with programs of the machine. */
function longRunOf(run: unknown): readonly LongRun[] {
  const programs = at(run, "programs");
  if (!Array.isArray(programs) || programs.length === 0) return [];
  return [
    {
      suite: String(at(run, "suite")),
      date: String(at(run, "date")),
      commit: String(at(run, "commit")),
      programs: programs.map(String),
    },
  ];
}

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(file, TEST), "utf8"));
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
