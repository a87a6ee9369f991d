import { expect, test } from "vitest";
import { dependencyFaults, goManifest } from "./dependency-table.ts";

const page = "| package | why |\n| --- | --- |\n| `a`, `@x/b` | because `c` was worse |\n| `d` | |\n";

test("dependencyFaults() finds none when each package has a row, own packages aside", () => {
  const manifests = new Map([
    ["package.json", { devDependencies: { a: "1.0.0" }, optionalDependencies: { d: "1.0.0" } }],
    ["controller/package.json", { dependencies: { "@x/b": "1.0.0", "@cloudwire/proto": "0.1.0" } }],
  ]);
  expect(dependencyFaults(manifests, page)).toEqual([]);
});

test("dependencyFaults() names packages without a row, and rows without a package", () => {
  const manifests = new Map([
    ["controller/package.json", { dependencies: { a: "1.0.0", c: "1.0.0", "@x/b": "1.0.0" } }],
  ]);
  expect(dependencyFaults(manifests, page)).toEqual([
    "controller/package.json uses c, which has no row in docs/decisions/dependencies.md",
    "docs/decisions/dependencies.md has a row for d, which nothing uses",
  ]);
});

test("goManifest() names what a module asks for itself", () => {
  const text = `module cloudwire.dev/x

require k8s.io/api v0.28.2

require (
\tcloudwire.dev/provider-sdk/go v0.0.0
\tgoogle.golang.org/grpc v1.82.1
\tgolang.org/x/net v0.40.0 // indirect
)

replace cloudwire.dev/provider-sdk/go => ../
`;
  expect(goManifest(text)).toEqual({ dependencies: { "k8s.io/api": "", "google.golang.org/grpc": "" } });
});
