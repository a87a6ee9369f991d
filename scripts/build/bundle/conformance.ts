// Makes the conformance kit as vendors get it, in provider-sdk/conformance/dist:
//   npm run build:package -w @cloudwire/conformance       package/: one file that needs Node alone, and its manifest, for npm pack
//   npm run build:executable -w @cloudwire/conformance    executable/: one file that needs no Node, for this machine's platform
import { chmod, copyFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { type Plugin, rolldown } from "rolldown";
import { capture, ROOT } from "../../lib/run.ts";
import { failOnUserError, UserError } from "../../lib/user-error.ts";
import { noticesOf } from "./notices.ts";

const NAME = "cloudwire-conformance";
const KIT = join(ROOT, "provider-sdk/conformance");
const NOTICES = "THIRD_PARTY_NOTICES.txt";
/** What Node looks for in its own file to see whether it is an application (Node 24, doc/api/single-executable-applications.md). */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** The module that reads the contract's descriptors from a file beside it; in one file they are a text of it. */
const withDescriptors: Plugin = {
  name: "with-descriptors",
  load: async (id) => {
    if (id !== join(ROOT, "proto/src/descriptor-set.ts")) return undefined;
    const bytes = await readFile(join(ROOT, "proto/gen/descriptor-set.binpb"), "base64");
    return `export const readDescriptorSet = () => Buffer.from(${JSON.stringify(bytes)}, "base64");`;
  },
};

await failOnUserError("bundle the conformance kit", async () => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { out: { type: "string" } } });
  const [what] = positionals;
  if (what !== "package" && what !== "executable") throw new UserError("what to make? package or executable");
  const directory = values.out ?? join(KIT, "dist", what);
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const file = what === "package" ? await makePackage(directory) : await makeExecutable(directory);
  console.log(`${file}: ${((await stat(file)).size / 1e6).toFixed(1)} MB`);
  return 0;
});

/** The whole kit in one CommonJS file: an executable's main file can be nothing else. */
async function bundle(file: string): Promise<void> {
  await using build = await rolldown({
    cwd: ROOT,
    input: join(KIT, "src/main.ts"),
    platform: "node",
    plugins: [withDescriptors],
    resolve: { conditionNames: ["development", "node"] },
    onLog: (level, { message }) => {
      if (level === "warn") throw new Error(`bundling ${file}: ${message}`);
    },
  });
  const { output } = await build.write({
    file,
    format: "cjs",
    codeSplitting: false,
    minify: { compress: true, mangle: { keepNames: true }, codegen: true },
    comments: { legal: false },
  });
  const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
  await writeFile(join(file, "..", NOTICES), await noticesOf(modules));
}

/** A package without dependencies, so that its tarball is all that npx needs. */
async function makePackage(directory: string): Promise<string> {
  const file = join(directory, `${NAME}.cjs`);
  await bundle(file);
  await writeFile(file, `#!/usr/bin/env node\n${await readFile(file, "utf8")}`);
  await chmod(file, 0o755);
  for (const [from, to] of [
    [join(ROOT, "LICENSE"), "LICENSE"],
    [join(KIT, "README.md"), "README.md"],
  ] as const)
    await copyFile(from, join(directory, to));
  const manifest: Record<string, unknown> = JSON.parse(await readFile(join(KIT, "package.json"), "utf8"));
  const { engines }: Record<string, unknown> = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const { name, version, description, license } = manifest;
  const packed = { name, version, description, license, engines, bin: { [NAME]: `${NAME}.cjs` } };
  await writeFile(join(directory, "package.json"), `${JSON.stringify(packed, undefined, 2)}\n`);
  return file;
}

/** A copy of the Node that runs this, with the kit inside. */
async function makeExecutable(directory: string): Promise<string> {
  if (process.platform !== "linux") throw new UserError(`executables are made on Linux; this is ${process.platform}`);
  const file = join(directory, NAME);
  const [source, blob, config] = [`${file}.cjs`, `${file}.blob`, `${file}.json`];
  await bundle(source);
  await writeFile(config, JSON.stringify({ main: source, output: blob, disableExperimentalSEAWarning: true }));
  await capture(process.execPath, ["--experimental-sea-config", config]);
  await copyFile(process.execPath, file);
  await chmod(file, 0o755);
  await capture(join(ROOT, "node_modules/.bin/postject"), [file, "NODE_SEA_BLOB", blob, "--sentinel-fuse", FUSE]);
  await copyFile(join(dirname(process.execPath), "../LICENSE"), join(directory, "NODE_LICENSE.txt"));
  for (const part of [source, blob, config]) await rm(part);
  return file;
}
