/** Which workspace package may import which. Type imports count like any other. */
import { type Finding, type SourceFile, targetPath } from "./file.ts";

interface PackageRule {
  /** Folder below the top; `*` stands for one folder name. */
  readonly folder: string;
  /** npm name; `*` stands for the same folder name. */
  readonly name: string;
  /** Names of the workspace packages its sources may import. */
  readonly mayImport: readonly string[];
  /** Further ones that its tests may import. */
  readonly testsMayImport?: readonly string[];
  /** Further ones that some of its folders may import, and no other of its sources. */
  readonly foldersMayImport?: { readonly folders: readonly string[]; readonly names: readonly string[] };
}

/** Any package may import it: a program's first line, which refuses a Node that is too old. */
const GUARD = "@cloudwire/node-guard";

/**
 * controller → proto; providers/* → provider-sdk → proto. The controller and the SDK never meet but on the wire; devcluster
 * stands alone, as a cluster would.
 */
const PACKAGES: readonly PackageRule[] = [
  { folder: "proto", name: "@cloudwire/proto", mayImport: [] },
  // The shapes in which the controller tells of itself, for it and for its readers.
  { folder: "operator-api", name: "@cloudwire/operator-api", mayImport: [] },
  { folder: "provider-sdk/typescript", name: "@cloudwire/provider-sdk", mayImport: ["@cloudwire/proto"] },
  // Its templates do, as the projects that are made of them.
  { folder: "provider-sdk/create", name: "@cloudwire/create-provider", mayImport: ["@cloudwire/provider-sdk"] },
  // Knows a provider by its socket alone; the correct provider that it carries to be tested by is one, and its tests need others.
  {
    folder: "provider-sdk/conformance",
    name: "@cloudwire/conformance",
    mayImport: ["@cloudwire/proto"],
    foldersMayImport: { folders: ["src/reference", "src/selftest"], names: ["@cloudwire/provider-sdk"] },
    testsMayImport: ["@cloudwire/provider-sdk", "@cloudwire/provider-simulated"],
  },
  {
    folder: "controller",
    name: "@cloudwire/controller",
    mayImport: ["@cloudwire/proto", "@cloudwire/operator-api"],
    testsMayImport: ["@cloudwire/devcluster", "@cloudwire/control-plane"],
  },
  // Programs of operators know a controller by its endpoints alone.
  {
    folder: "cli",
    name: "@cloudwire/cli",
    mayImport: ["@cloudwire/operator-api", "@cloudwire/proto"],
    testsMayImport: ["@cloudwire/devcluster"],
  },
  { folder: "status-page", name: "@cloudwire/status-page", mayImport: ["@cloudwire/operator-api"] },
  // Makes manifests of what the controller declares that it needs.
  { folder: "deploy", name: "@cloudwire/deploy", mayImport: ["@cloudwire/controller"] },
  // Starts the programs by their paths; asks the simulated cloud with that one's client.
  { folder: "demo", name: "@cloudwire/demo", mayImport: ["@cloudwire/provider-simulated"] },
  { folder: "devcluster", name: "@cloudwire/devcluster", mayImport: [] },
  { folder: "test/control-plane", name: "@cloudwire/control-plane", mayImport: [] },
  {
    folder: "test",
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
    folder: "bench",
    name: "@cloudwire/bench",
    mayImport: ["@cloudwire/control-plane", "@cloudwire/provider-simulated", "@cloudwire/test"],
  },
  {
    folder: "providers/*",
    name: "@cloudwire/provider-*",
    mayImport: ["@cloudwire/provider-sdk"],
    // A provider is tested from outside, over its socket, with the contract's client.
    testsMayImport: ["@cloudwire/proto"],
  },
  { folder: "scripts/node-guard", name: GUARD, mayImport: [] },
  { folder: "scripts", name: "scripts", mayImport: [] },
];

/** A workspace package as the rules see it. */
interface Owner {
  readonly rule: PackageRule;
  readonly folder: string;
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
  // The longest folder wins: test/control-plane is a package of its own within test.
  const owners = PACKAGES.flatMap((rule) => {
    const match = new RegExp(`^(${rule.folder.replace("*", "([^/]+)")})/`).exec(path);
    return match === null ? [] : [{ rule, folder: match[1] ?? "", name: rule.name.replace("*", match[2] ?? "") }];
  });
  return owners.toSorted((a, b) => b.folder.length - a.folder.length)[0];
}

function packageFault({ path, isTest }: SourceFile, owner: Owner, specifier: string): string | undefined {
  const target = targetPath(path, specifier);
  if (target !== undefined) {
    if (ownerOf(target)?.folder === owner.folder) return undefined;
    return `imports ${specifier}, which leaves ${owner.name}: import the other package by its name`;
  }
  const scoped = /^@cloudwire\/[^/]+/.exec(specifier)?.[0];
  if (scoped === undefined || scoped === owner.name || scoped === GUARD) return undefined;
  const allowed = allowedFrom(path, owner, isTest);
  if (allowed.includes(scoped)) return undefined;
  return `imports ${scoped}: ${owner.name} may import ${allowed.length === 0 ? "no other package" : `only ${allowed.join(", ")}`}`;
}

/** Names of the packages that a file may import. */
function allowedFrom(path: string, { folder, rule }: Owner, isTest: boolean): readonly string[] {
  const { mayImport, testsMayImport = [], foldersMayImport = { folders: [], names: [] } } = rule;
  const isInFolder = foldersMayImport.folders.some((inner) => path.startsWith(`${folder}/${inner}/`));
  return [...mayImport, ...(isTest ? testsMayImport : []), ...(isInFolder ? foldersMayImport.names : [])];
}
