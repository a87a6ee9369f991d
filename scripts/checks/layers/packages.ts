/** Which workspace package may import which. Type imports count like any other. */
import { type Finding, type SourceFile, targetPath } from "./file.ts";

interface PackageRule {
  /** Directory below the top; `*` stands for one directory name. */
  readonly directory: string;
  /** npm name; `*` stands for the same directory name. */
  readonly name: string;
  /** Names of the workspace packages its sources may import. */
  readonly mayImport: readonly string[];
  /** Further ones that its tests may import. */
  readonly testsMayImport?: readonly string[];
  /** Further ones that some of its directories may import, and no other of its sources. */
  readonly directoriesMayImport?: { readonly directories: readonly string[]; readonly names: readonly string[] };
}

/** Any package may import it: a program's first line, which refuses a Node that is too old. */
const GUARD = "@cloudwire/node-guard";

/**
 * controller → proto; providers/* → provider-sdk → proto. The controller and the SDK never meet but on the wire; devcluster
 * stands alone, as a cluster would.
 */
const PACKAGES: readonly PackageRule[] = [
  { directory: "proto", name: "@cloudwire/proto", mayImport: [] },
  // JSON types of the controller's endpoints, shared with their clients.
  { directory: "operator-api", name: "@cloudwire/operator-api", mayImport: [] },
  { directory: "provider-sdk/typescript", name: "@cloudwire/provider-sdk", mayImport: ["@cloudwire/proto"] },
  // Its templates do, as the projects that are made of them.
  { directory: "provider-sdk/create", name: "@cloudwire/create-provider", mayImport: ["@cloudwire/provider-sdk"] },
  // Knows a provider by its socket alone; the correct provider that it carries to be tested by is one, and its tests need others.
  {
    directory: "provider-sdk/conformance",
    name: "@cloudwire/conformance",
    mayImport: ["@cloudwire/proto"],
    directoriesMayImport: { directories: ["src/reference", "src/selftest"], names: ["@cloudwire/provider-sdk"] },
    testsMayImport: ["@cloudwire/provider-sdk", "@cloudwire/provider-simulated"],
  },
  {
    directory: "controller",
    name: "@cloudwire/controller",
    mayImport: ["@cloudwire/proto", "@cloudwire/operator-api"],
    testsMayImport: ["@cloudwire/devcluster", "@cloudwire/control-plane"],
  },
  // Programs of operators know a controller by its endpoints alone.
  {
    directory: "cli",
    name: "@cloudwire/cli",
    mayImport: ["@cloudwire/operator-api", "@cloudwire/proto"],
    testsMayImport: ["@cloudwire/devcluster"],
  },
  { directory: "status-page", name: "@cloudwire/status-page", mayImport: ["@cloudwire/operator-api"] },
  // Makes manifests of what the controller declares that it needs.
  { directory: "deploy", name: "@cloudwire/deploy", mayImport: ["@cloudwire/controller"] },
  // Starts the programs by their paths; asks the simulated cloud with that one's client.
  { directory: "demo", name: "@cloudwire/demo", mayImport: ["@cloudwire/provider-simulated"] },
  { directory: "devcluster", name: "@cloudwire/devcluster", mayImport: [] },
  { directory: "test/control-plane", name: "@cloudwire/control-plane", mayImport: [] },
  {
    directory: "test",
    name: "@cloudwire/test",
    mayImport: [
      "@cloudwire/proto",
      "@cloudwire/conformance",
      "@cloudwire/control-plane",
      "@cloudwire/controller",
      "@cloudwire/deploy",
      "@cloudwire/devcluster",
      "@cloudwire/provider-sdk",
      "@cloudwire/provider-simulated",
    ],
  },
  // Measures the programs from outside, as the suites test them.
  {
    directory: "bench",
    name: "@cloudwire/bench",
    mayImport: ["@cloudwire/control-plane", "@cloudwire/provider-simulated", "@cloudwire/test"],
  },
  {
    directory: "providers/*",
    name: "@cloudwire/provider-*",
    mayImport: ["@cloudwire/provider-sdk"],
    // A provider is tested from outside, over its socket, with the contract's client.
    testsMayImport: ["@cloudwire/proto"],
  },
  { directory: "scripts/node-guard", name: GUARD, mayImport: [] },
  { directory: "scripts", name: "scripts", mayImport: [] },
];

/** A workspace package as the rules see it. */
interface Owner {
  readonly rule: PackageRule;
  readonly directory: string;
  readonly name: string;
}

/** Across packages: by name only, only packages the table allows; never by a path that leaves the own package. */
export function packageFindings(file: SourceFile): readonly Finding[] {
  const { path, imports } = file;
  const owner = ownerOf(path);
  if (owner === undefined) return [];
  return imports.flatMap(({ specifier, line }) => {
    const message = packageFault(file, owner, specifier);
    return message === undefined ? [] : [{ rule: "packages", path, line, message }];
  });
}

/** Whether a package of the table has it: what is in none is not looked at. */
export function isOwned(path: string): boolean {
  return ownerOf(path) !== undefined;
}

function ownerOf(path: string): Owner | undefined {
  // The longest directory wins: test/control-plane is a package of its own within test.
  const owners = PACKAGES.flatMap((rule) => {
    const match = new RegExp(`^(${rule.directory.replace("*", "([^/]+)")})/`).exec(path);
    return match === null ? [] : [{ rule, directory: match[1] ?? "", name: rule.name.replace("*", match[2] ?? "") }];
  });
  return owners.toSorted((a, b) => b.directory.length - a.directory.length)[0];
}

function packageFault({ path, isTest }: SourceFile, owner: Owner, specifier: string): string | undefined {
  const target = targetPath(path, specifier);
  if (target !== undefined) {
    if (ownerOf(target)?.directory === owner.directory) return undefined;
    return `imports ${specifier}, which leaves ${owner.name}: import the other package by its name`;
  }
  const scoped = /^@cloudwire\/[^/]+/.exec(specifier)?.[0];
  if (scoped === undefined || scoped === owner.name || scoped === GUARD) return undefined;
  const allowed = allowedFrom(path, owner, isTest);
  if (allowed.includes(scoped)) return undefined;
  return `imports ${scoped}: ${owner.name} may import ${allowed.length === 0 ? "no other package" : `only ${allowed.join(", ")}`}`;
}

/** Names of the packages that a file may import. */
function allowedFrom(path: string, { directory, rule }: Owner, isTest: boolean): readonly string[] {
  const { mayImport, testsMayImport = [], directoriesMayImport = { directories: [], names: [] } } = rule;
  const isInDirectory = directoriesMayImport.directories.some((inner) => path.startsWith(`${directory}/${inner}/`));
  return [...mayImport, ...(isTest ? testsMayImport : []), ...(isInDirectory ? directoriesMayImport.names : [])];
}
