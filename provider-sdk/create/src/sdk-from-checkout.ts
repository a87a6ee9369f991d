import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { Language } from "./language.ts";
import { packagesNeeded } from "./npm-packages.ts";
import type { Files } from "./template.ts";
import { UserError } from "./user-error.ts";

/**
 * Directory of a project that holds the SDK, when it comes from a checkout. The project is complete in itself then: it can be moved, built as
 * an image and tested by CI, with no path of the machine it was made on.
 */
const SDK_DIRECTORY = "sdk";

const SDK: Readonly<Record<Language, string>> = {
  typescript: "provider-sdk/typescript",
  go: "provider-sdk/go",
  python: "provider-sdk/python",
};

/** Names of the npm packages that a project needs: the kit of its conformance job, in any language. */
const NPM_PACKAGES: Readonly<Record<Language, readonly string[]>> = {
  typescript: ["@cloudwire/provider-sdk", "@cloudwire/conformance"],
  go: ["@cloudwire/conformance"],
  python: ["@cloudwire/conformance"],
};

/** What keeps a directory from being a checkout to take the SDK from. */
export async function checkoutProblems(
  checkout: string,
  language: Language,
  asWritten: string,
): Promise<readonly string[]> {
  if (!existsSync(join(checkout, SDK[language])))
    return [`--sdk "${asWritten}": is not a checkout of Cloudwire, it has no ${SDK[language]}`];
  const unbuilt = (await packagesNeeded(checkout, NPM_PACKAGES[language])).filter(
    ({ directory, manifest }) => manifest.files.some(isBuilt) && !existsSync(join(checkout, directory, "dist")),
  );
  if (unbuilt.length === 0) return [];
  const directories = unbuilt.map(({ directory }) => directory).join(", ");
  return [`--sdk "${asWritten}": is not built yet (${directories}); run there: npm run build`];
}

/** Whether a path that a package ships is made by its build. */
const isBuilt = (path: string): boolean => path === "dist" || path.startsWith("dist/");

/** Puts the SDK of a checkout into the project and answers the project's files with the references changed to it. */
export async function takeSdk(
  files: Files,
  { checkout, language, project }: { readonly checkout: string; readonly language: Language; readonly project: string },
  signal: AbortSignal,
): Promise<Files> {
  const directory = join(project, SDK_DIRECTORY);
  await mkdir(directory, { recursive: true });
  const tarballs = new Map<string, string>();
  for (const { name, directory: source } of await packagesNeeded(checkout, NPM_PACKAGES[language]))
    tarballs.set(name, `${SDK_DIRECTORY}/${await pack(join(checkout, source), directory, signal)}`);
  if (language !== "typescript")
    await cp(join(checkout, SDK[language]), join(directory, language), { recursive: true, filter: isSource });
  return new Map([...files].map(([path, text]) => [path, pointAtSdk(path, text, tarballs)]));
}

const promiseExecFile = promisify(execFile);

/** Packs as for the registry, and answers the name of the file. */
async function pack(source: string, destination: string, signal: AbortSignal): Promise<string> {
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", destination];
  try {
    const { stdout } = await promiseExecFile("npm", args, { cwd: source, signal });
    return basename(stdout.trim());
  } catch (error) {
    signal.throwIfAborted();
    throw new UserError([`\`npm ${args.join(" ")}\` failed in ${source}`], { cause: error });
  }
}

/** Beside the sources stand their tests, what tools made of them, and a Go module of its own: the bridge. */
const NOT_SOURCE = new Set(["bridge", "node_modules", "bin", "build", "dist", "tests", "testdata", "__pycache__"]);

function isSource(path: string): boolean {
  const name = basename(path);
  return !NOT_SOURCE.has(name) && !/^\.|_cache$|\.egg-info$|_test\.go$/.test(name);
}

/** Changes the references to the published SDK, which are the same words in the templates of all languages. */
function pointAtSdk(path: string, text: string, tarballs: ReadonlyMap<string, string>): string {
  switch (basename(path)) {
    case "package.json":
      return withTarballs(text, tarballs);
    case "go.mod":
      return `${text}\nreplace cloudwire.dev/provider-sdk/go => ./${SDK_DIRECTORY}/go\n`;
    case "requirements.txt":
      return text.replace(/^cloudwire-provider-sdk==.*$/m, `./${SDK_DIRECTORY}/python`);
    default:
      return text.replaceAll(
        /--package @cloudwire\/conformance@\S+/g,
        [...tarballs.values()].map((tarball) => `--package ./${tarball}`).join(" "),
      );
  }
}

/** Each package becomes one of the project's own, also those that others bring: npm would look for them in the registry. */
function withTarballs(text: string, tarballs: ReadonlyMap<string, string>): string {
  const manifest: { dependencies: Record<string, string>; devDependencies: Record<string, string> } = JSON.parse(text);
  for (const [name, tarball] of tarballs) {
    const table = name in manifest.dependencies ? manifest.dependencies : manifest.devDependencies;
    table[name] = `file:${tarball}`;
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}
