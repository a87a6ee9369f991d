import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Modules and directories that every SDK has, under the same name, so that a developer who knows one SDK finds the same in the others. */
const SHARED = [
  "call-recorder",
  "capabilities",
  "change-serializer",
  "classify",
  "cloud-provider",
  "definition",
  "errors",
  "http-port",
  "instances",
  "lists",
  "load-balancers",
  "log",
  "lookup",
  "lru",
  "metrics",
  "nodes",
  "requests",
  "results",
  "routes",
  "rpc",
  "server",
  "shared-task",
  "state",
  "status-monitor",
  "telemetry",
  "testing",
  "unix-socket",
  "version",
  "volumes",
  "watch-from-list",
  "watches",
] as const;

interface Sdk {
  readonly language: string;
  readonly root: string;
  /** Ending of a source file. */
  readonly source: RegExp;
  /** Tests, generated code, and what is no part of the SDK itself. */
  readonly ignored: RegExp;
  /** Names that the language's own custom demands. */
  readonly customs?: Readonly<Record<string, string>>;
}

const SDKS: readonly Sdk[] = [
  { language: "typescript", root: "typescript/src", source: /\.ts$/, ignored: /\.(?:test|bench)\.ts$/ },
  {
    language: "go",
    root: "go",
    source: /\.go$/,
    ignored: /_test\.go$|^(?:cloudprovider|bridge|smallest)$/,
    customs: { providertest: "testing" },
  },
  {
    language: "python",
    root: "python/src/cloudwire_provider",
    source: /\.py$/,
    ignored: /^__|^gen$/,
  },
];

/** The name without what languages write differently: `change_serializer`, `change-serializer`, `unixsocket`. */
const plain = (name: string): string => name.replaceAll(/[-_]/g, "");

const modulesOf = ({ root, source, ignored, customs = {} }: Sdk): ReadonlySet<string> => {
  const names = new Set<string>();
  const walk = (directory: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (ignored.test(entry.name)) continue;
      if (!entry.isDirectory() && !source.test(entry.name)) continue;
      const name = plain(entry.name.replace(source, ""));
      names.add(customs[name] ?? name);
      if (entry.isDirectory()) walk(join(directory, entry.name));
    }
  };
  walk(join(import.meta.dirname, "../..", root));
  return names;
};

test.each(SDKS)("the SDK in $language has every shared module under its name", (sdk) => {
  const names = modulesOf(sdk);
  expect(SHARED.filter((name) => !names.has(plain(name)))).toEqual([]);
});

test("a module that every SDK has is in the list", () => {
  const [first = new Set<string>(), ...others] = SDKS.map(modulesOf);
  const common = [...first].filter((name) => others.every((names) => names.has(name)));
  expect(common.toSorted()).toEqual(SHARED.map(plain).toSorted());
});
