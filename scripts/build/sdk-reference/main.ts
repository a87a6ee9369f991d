/**
 * Writes docs/reference/sdk*.md and docs/surface/{sdk-*,operator-api,contract}.txt from what the packages export. Fails for an export, or a member of one, without documentation. Pages of a
 * language whose tools are not installed stay as they are; in CI that is a failure.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ROOT, run } from "../../lib/run.ts";
import { failOnUserError, UserError } from "../../lib/user-error.ts";
import { indexPage } from "./index-page.ts";
import { readPackages, type SdkPackage, undocumented } from "./model.ts";
import { type Page, renderPage } from "./page.ts";
import { contractSurface, renderSurface } from "./surface.ts";
import { readTypeScript } from "./typescript.ts";

/** One language: its page, and how its packages are read. */
interface Language extends Omit<Page, "packages"> {
  readonly file: string;
  /** The packages, or what is missing on this machine to read them. */
  readonly read: () => Promise<readonly SdkPackage[] | string>;
}

const typeScriptSources = join(ROOT, "provider-sdk/typescript/src");

/** Import paths and directories. */
const goPackages = ["provider", "providertest", "bridge"].map(
  (name) => `cloudwire.dev/provider-sdk/go/${name}=${join(ROOT, "provider-sdk/go", name)}`,
);

const pythonSources = "provider-sdk/python/src";
const pythonModules = ["cloudwire_provider", "cloudwire_provider.testing"];

const LANGUAGES: readonly Language[] = [
  {
    file: "sdk-typescript.md",
    title: "TypeScript SDK",
    intro:
      "What `@cloudwire/provider-sdk` exports. How to use it: [its README](../../provider-sdk/typescript/README.md). All properties are readonly.",
    language: "ts",
    source: "the documentation comments in provider-sdk/typescript/src",
    read: async () =>
      readTypeScript([
        { name: "@cloudwire/provider-sdk", doc: "For the provider.", indexPath: join(typeScriptSources, "index.ts") },
        {
          name: "@cloudwire/provider-sdk/addresses",
          doc: "IP addresses and ranges of them, for a provider that assigns addresses or serves routes.",
          indexPath: join(typeScriptSources, "addresses/index.ts"),
        },
        {
          name: "@cloudwire/provider-sdk/program",
          doc: "For a provider's main program: options from the command line and the environment, `--help`, and tables for its README.",
          indexPath: join(typeScriptSources, "program/index.ts"),
        },
        {
          name: "@cloudwire/provider-sdk/testing",
          doc: "For the provider's tests, with any test runner.",
          indexPath: join(typeScriptSources, "testing/index.ts"),
        },
      ]),
  },
  {
    file: "sdk-go.md",
    title: "Go SDK and bridge",
    intro:
      "What the modules `cloudwire.dev/provider-sdk/go` and `cloudwire.dev/provider-sdk/go/bridge` export, besides the contract's messages in `cloudprovider/v1`.",
    language: "go",
    source: "the documentation comments in provider-sdk/go",
    read: () => readByTool("go", ["run", "-C", "scripts/build/sdk-reference/go", ".", ...goPackages]),
  },
  {
    file: "sdk-python.md",
    title: "Python SDK",
    intro:
      "What the distribution `cloudwire-provider-sdk` exports, besides the contract's messages in `cloudwire_provider.v1`.",
    language: "python",
    source: "the docstrings in provider-sdk/python/src",
    read: () =>
      readByTool("python3", ["scripts/build/sdk-reference/python/reader.py", pythonSources, ...pythonModules]),
  },
];

/** The JSON of the operator endpoints and of `cloudwire -o json`. */
const OPERATOR_API = { name: "@cloudwire/operator-api", doc: "", indexPath: join(ROOT, "operator-api/src/index.ts") };

const readByTool = async (command: string, args: readonly string[]): Promise<readonly SdkPackage[] | string> => {
  const there = await run(command, [command === "go" ? "version" : "--version"], { output: "keep" }).catch(
    () => undefined,
  );
  if (there?.code !== 0) return `${command} is not installed`;
  const { code, output } = await run(command, args, { output: "keep" });
  if (code !== 0) throw new UserError(`${command} ${args.join(" ")} failed:\n${output.trimEnd()}`);
  return readPackages(JSON.parse(output));
};

const main = async (): Promise<number> => {
  const mustHaveAll = process.env["CI"] === "true";
  const missing: string[] = [];
  for (const { read, file, ...page } of LANGUAGES) {
    const packages = await read();
    if (typeof packages === "string") {
      if (mustHaveAll) throw new UserError(`docs/reference/${file} cannot be written: ${packages}`);
      console.error(`docs/reference/${file} stays as it is: ${packages}`);
      continue;
    }
    missing.push(...packages.flatMap(undocumented));
    write(`reference/${file}`, renderPage({ ...page, packages }));
    write(`surface/${file.replace(".md", ".txt")}`, renderSurface(packages));
  }
  write("reference/sdk.md", indexPage(LANGUAGES));
  write("surface/operator-api.txt", renderSurface(readTypeScript([OPERATOR_API])));
  write("surface/contract.txt", await contractSurface());
  if (missing.length > 0)
    throw new UserError(`${missing.length} exports of the SDKs have no documentation:\n  ${missing.join("\n  ")}`);
  return 0;
};

const write = (file: string, text: string): void => writeFileSync(join(ROOT, "docs", file), text);

await failOnUserError("sdk-reference", main);
