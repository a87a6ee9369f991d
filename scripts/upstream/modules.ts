import { existsSync, globSync, readFileSync } from "node:fs";
import { join, parse, relative } from "node:path";
import { ROOT, run } from "../lib/run.ts";
import { UserError } from "../lib/user-error.ts";
import type { GoFile } from "./go-source.ts";

/** A version of upstream, of which some modules may be missing. */
export interface Upstream {
  /** `v0.37.2` */
  readonly version: string;
  readonly files: readonly GoFile[];
  /** Modules that the Go module proxy does not serve, with its answer. */
  readonly missing: readonly string[];
}

/** What of each module a cloud-controller-manager has; `k8s.io/kubernetes` has the node-ipam-controller and the RBAC policy. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  "cloud-provider": ["**/*.go"],
  "controller-manager": ["**/*.go"],
  "component-base": ["{config,cli,featuregate,logs,metrics,version,zpages}/**/*.go"],
  apiserver: [
    "pkg/server/options/{serving,serving_with_loopback,authentication,authorization,deprecated_insecure_serving}.go",
    "pkg/endpoints/filters/metrics.go",
  ],
  "client-go": ["tools/{record,leaderelection}/**/*.go"],
  kubernetes: [
    "cmd/cloud-controller-manager/*.go",
    "cmd/kube-controller-manager/app/options/nodeipamcontroller.go",
    "pkg/controller/nodeipam/**/*.go",
    "plugin/pkg/auth/authorizer/rbac/bootstrappolicy/controller_policy.go",
  ],
};

const VERSION = /^v?[01]\.(\d+\.\d+(?:-[a-z]+\.\d+)?)$/;

/** `v0.37.2` of `1.37.2`, `v1.37.2` or `v0.37.2`. */
export function stagingVersion(text: string): string {
  const version = VERSION.exec(text)?.[1];
  if (version === undefined) throw new UserError(`"${text}" is not a version like v0.37.2 or v0.38.0-beta.0`);
  return `v0.${version}`;
}

/** The version that the suites compare with. */
export function comparedVersion(): string {
  const text = readFileSync(join(ROOT, "test/programs/upstream-ccm/go.mod"), "utf8");
  return stagingVersion(/^\tk8s\.io\/kubernetes (v1\.\S+)$/m.exec(text)?.[1] ?? "");
}

/** Downloads the modules through the Go module proxy, and reads them. */
export async function readUpstream(version: string): Promise<Upstream> {
  const cache = (await go(["env", "GOMODCACHE"])).output.trim();
  const found = await Promise.all(Object.entries(MODULES).map((module) => readModule(cache, version, module)));
  return {
    version,
    files: found.flatMap(({ files }) => files),
    missing: found.flatMap(({ missing }) => (missing === undefined ? [] : [missing])),
  };
}

async function readModule(
  cache: string,
  version: string,
  [name, patterns]: readonly [string, readonly string[]],
): Promise<{ readonly files: readonly GoFile[]; readonly missing?: string }> {
  const module = `k8s.io/${name}@${name === "kubernetes" ? version.replace("v0.", "v1.") : version}`;
  const { output } = await go(["mod", "download", "-json", module]);
  // The module is extracted even if its go directive requires a newer toolchain, which `go` reports as an error.
  const directory = join(cache, module);
  if (!existsSync(directory)) {
    return { files: [], missing: `${module}: ${/"Error": "(.*)"/.exec(output)?.[1] ?? output.trim()}` };
  }
  const paths = patterns.flatMap((pattern) => globSync(pattern, { cwd: directory }));
  const sources = paths.filter(
    (path) => !/(?:_test|\/zz_generated[^/]*)\.go$/.test(path) && !path.includes("testing/"),
  );
  return {
    files: sources.map((path) => ({ path: `${name}/${path}`, text: readFileSync(join(directory, path), "utf8") })),
  };
}

/** Outside of all modules: a go.mod would restrict the versions. */
async function go(args: readonly string[]): Promise<{ readonly output: string }> {
  try {
    return await run("go", args, { output: "keep", cwd: relative(ROOT, parse(ROOT).root) });
  } catch (error) {
    if (error instanceof Error) throw new UserError(`${error.message}; install Go 1.26 or newer`, { cause: error });
    throw error;
  }
}
