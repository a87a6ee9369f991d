/**
 * The rules of the house about who may import whom. `scripts/check-layers.ts` applies them; CONTRIBUTING.md explains them.
 * Type imports count like any other.
 */

export interface PackageRule {
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
export const GUARD = "@cloudwire/node-guard";

/**
 * controller → proto; providers/* → provider-sdk → proto. The controller and the SDK never meet but on the wire; devcluster
 * stands alone, as a cluster would.
 */
export const PACKAGES: readonly PackageRule[] = [
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
  // The demo asks the simulated cloud with its own client.
  { folder: "scripts/node-guard", name: GUARD, mayImport: [] },
  { folder: "scripts", name: "scripts", mayImport: ["@cloudwire/provider-simulated"] },
];

/** A package whose own folders are ordered: a folder imports only from lower rows, never upward, never sideways. */
export interface RowRule {
  readonly sources: string;
  /** Lowest first. `x/*` means that each folder in x is a neighbour of the others; a name with `.ts` is a file. */
  readonly rows: readonly (readonly string[])[];
}

export const ROWS: readonly RowRule[] = [
  {
    sources: "controller/src",
    rows: [
      ["api"],
      ["util"],
      ["options"],
      ["telemetry"],
      ["observe"],
      ["kube", "provider", "workqueue"],
      ["runtime"],
      ["leadership", "server"],
      ["controllers/*"],
      // Judges what the controllers say; they know nothing of it.
      ["explain"],
      ["app"],
      ["main.ts", "index.ts"],
    ],
  },
];

/** Files that decide: values in, values out. What they may import by value, and what they may not touch. */
export const PURE = {
  sources: "controller/src",
  /** plan.ts, predicates.ts, and files a large plan is split into: plan-addresses.ts or plan/addresses.ts. */
  isPure: (path: string): boolean =>
    /(?:^|\/)(?:plan(?:-[a-z0-9-]+)?|predicates)\.ts$|\/(?:plan|guard)\/[a-z0-9-]+\.ts$/.test(path),
  valueImports: ["api", "util"],
  globals: [
    "process",
    "console",
    "performance",
    "crypto",
    "fetch",
    "setTimeout",
    "setInterval",
    "setImmediate",
    "queueMicrotask",
    "globalThis",
  ],
  members: [
    ["Date", "now"],
    ["Math", "random"],
  ],
} as const;

/** A foreign library enters in one folder and is wrapped there: its values are imported nowhere else. Tests are free. */
export const BOUNDARIES: readonly { readonly sources: string; readonly library: string; readonly folder: string }[] = [
  { sources: "controller/src", library: "@kubernetes/client-node", folder: "kube" },
  { sources: "controller/src", library: "undici", folder: "kube" },
  { sources: "controller/src", library: "@grpc/grpc-js", folder: "provider" },
  { sources: "controller/src", library: "fastify", folder: "server" },
];
