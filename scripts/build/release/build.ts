// `npm run release:build`: everything that is released, in one directory, with SHA256SUMS. docs/release.md says what comes before and after.
//   npm run release:build -- --out=DIR        default: dist/release
//   npm run release:build -- --source=URL     where the sources are: makes the npm packages ready for provenance
//   npm run release:build -- --images         with the images, which takes minutes
import { createHash } from "node:crypto";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { capture, ROOT } from "../../lib/run.ts";
import { failOnUserError, UserError } from "../../lib/user-error.ts";
import { releaseNotes } from "./changelog.ts";
import { packCli } from "./cli-package.ts";
import { packLibrary, packStaged } from "./pack.ts";
import { packPython } from "./pack-python.ts";
import { LIBRARIES } from "./shipped.ts";

const OPTIONS = {
  out: { type: "string", default: "dist/release" },
  source: { type: "string" },
  images: { type: "boolean", default: false },
} as const;

interface Build {
  readonly out: string;
  readonly scratch: string;
  readonly version: string;
  readonly source: string | undefined;
}

await failOnUserError("release:build", async () => {
  const { out, source, images } = parseArgs({ options: OPTIONS }).values;
  const { version }: { readonly version: string } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const build = { out: resolve(ROOT, out), scratch: await mkdtemp(join(tmpdir(), "release-")), version, source };
  await rm(build.out, { recursive: true, force: true });
  await mkdir(build.out, { recursive: true });
  try {
    await capture("tsc", ["-b", ...LIBRARIES]);
    await npmPackages(build);
    await packPython({ out: build.out, scratch: build.scratch });
    await programs(build);
    await archive(
      build,
      "deploy/charts",
      "cloudwire-controller-manager",
      `cloudwire-controller-manager-${version}.tgz`,
    );
    await archive(build, "deploy", "manifests", `cloudwire-manifests-${version}.tar.gz`);
    await archive(build, "deploy", "observability", `cloudwire-observability-${version}.tar.gz`);
    if (images) await node("deploy/src/image/main.ts", `--out=${join(build.out, "images")}`, ...sourceOf(build));
    await texts(build);
    await checksums(build.out);
  } finally {
    await rm(build.scratch, { recursive: true, force: true });
  }
  console.log(`Release ${version} is in ${build.out}`);
  return 0;
});

/** The libraries, and the conformance kit, which is a file of its own for vendors without npm, too. */
async function npmPackages({ out, scratch, source }: Build): Promise<void> {
  const options = { out, scratch, ...(source === undefined ? {} : { source }) };
  for (const directory of LIBRARIES) await packLibrary(directory, options);
  const [kit, executable] = [join(scratch, "kit"), join(scratch, "executable")];
  await node("scripts/build/bundle/conformance.ts", "package", `--out=${kit}`);
  await packStaged(kit, "provider-sdk/conformance", options);
  await node("scripts/build/bundle/conformance.ts", "executable", `--out=${executable}`);
  await copyFile(
    join(executable, "cloudwire-conformance"),
    join(out, `cloudwire-conformance-${process.platform}-${process.arch}`),
  );
}

/** Each program in a directory that needs nothing but Node; the operators' one for npm, too. */
async function programs(build: Build): Promise<void> {
  const { out, scratch, source } = build;
  const directory = join(scratch, "programs");
  await node("scripts/build/bundle/main.ts", `--out=${directory}`);
  for (const name of await readdir(directory))
    await archive(build, directory, name, `${name}-${build.version}-node.tar.gz`);
  await packCli(join(directory, "cloudwire"), { out, scratch, ...(source === undefined ? {} : { source }) });
}

/** A directory as an archive that is the same each time: order, times and owners are set. */
async function archive({ out }: Build, directory: string, name: string, file: string): Promise<void> {
  const epoch = process.env["SOURCE_DATE_EPOCH"] ?? (await capture("git", ["log", "-1", "--format=%ct"])).trim();
  const same = [
    "--sort=name",
    `--mtime=@${epoch}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--use-compress-program=gzip -n",
  ];
  await capture("tar", [...same, "-cf", join(out, file), "-C", resolve(ROOT, directory), name]);
}

async function texts({ out, version }: Build): Promise<void> {
  const changelog = await readFile(join(ROOT, "CHANGELOG.md"), "utf8");
  const notes = releaseNotes(changelog, version) ?? releaseNotes(changelog, "Unreleased");
  if (notes === undefined) throw new UserError(`CHANGELOG.md says nothing of ${version}, and nothing of Unreleased`);
  await writeFile(join(out, "RELEASE_NOTES.md"), `${notes}\n`);
  const sbom = await capture("npm", ["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--omit=dev"]);
  await writeFile(join(out, `cloudwire-${version}.cdx.json`), sbom);
}

async function checksums(out: string): Promise<void> {
  const files = (await readdir(out, { withFileTypes: true, recursive: true })).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  const lines = await Promise.all(
    paths.map(async (path) => {
      const sum = createHash("sha256")
        .update(await readFile(path))
        .digest("hex");
      return `${sum}  ${path.slice(out.length + 1)}`;
    }),
  );
  await writeFile(join(out, "SHA256SUMS"), `${lines.join("\n")}\n`);
}

function node(path: string, ...args: readonly string[]): Promise<string> {
  return capture(process.execPath, ["--conditions=development", join(ROOT, path), ...args]);
}

function sourceOf({ source }: Build): readonly string[] {
  return source === undefined ? [] : [`--source=${source}`];
}
