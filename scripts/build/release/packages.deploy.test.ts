import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { capture, ROOT, run } from "../../lib/run.ts";
import { packLibrary, unpack } from "./pack.ts";
import { LIBRARIES } from "./shipped.ts";

const BUILT_MS = 280_000;
const SOURCE = "git+https://git.example.com/cloudwire.git";

/** What is to be found in each, and what of it a program imports. */
const PACKAGES = [
  {
    name: "proto",
    holds: ["cloudprovider/v1/instance.proto", "gen/descriptor-set.binpb", "dist/gen/rules.js", "dist/gen/rules.d.ts"],
    imports: ["rules", "reasons", "codes", "words", "methods", "descriptor-set", "cloudprovider/v1/common"],
  },
  {
    name: "provider-sdk",
    holds: ["dist/src/index.js", "dist/src/index.d.ts"],
    imports: ["", "addresses", "program", "testing"],
  },
  { name: "create-provider", holds: ["dist/main.js", "templates/typescript/package.json"], imports: [] },
];

/** As strict as it gets, types of packages included. */
const CONSUMER = {
  compilerOptions: {
    noEmit: true,
    strict: true,
    module: "nodenext",
    target: "es2023",
    types: ["node"],
    skipLibCheck: false,
  },
  files: ["consumer.mts"],
};

let directory: string;
let scope: string;

/** An empty directory with our packages as they are published, and those of others as they are installed here. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "packages-"));
  scope = join(directory, "node_modules/@cloudwire");
  const out = join(directory, "tarballs");
  for (const path of [scope, out]) await mkdir(path, { recursive: true });
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(CONSUMER));
  await capture("tsc", ["-b", ...LIBRARIES]);
  for (const library of LIBRARIES) {
    const tarball = await packLibrary(library, { out, scratch: join(directory, "scratch"), source: SOURCE });
    const unpacked = join(directory, "unpacked", library);
    await mkdir(unpacked, { recursive: true });
    await unpack(tarball, unpacked);
    const { name }: { readonly name: string } = JSON.parse(
      await readFile(join(unpacked, "package/package.json"), "utf8"),
    );
    await symlink(join(unpacked, "package"), join(directory, "node_modules", name));
  }
  for (const name of await readdir(join(ROOT, "node_modules")))
    if (name !== "@cloudwire" && !name.startsWith("."))
      await symlink(join(ROOT, "node_modules", name), join(directory, "node_modules", name));
}, BUILT_MS);

afterAll(() => rm(directory, { recursive: true, force: true }));

async function contents(name: string): Promise<readonly string[]> {
  const top = join(scope, name);
  const entries = await readdir(`${top}/`, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(top.length + 1));
}

describe.each(PACKAGES)("the package $name", ({ name, holds }) => {
  test("has what it needs, and nothing of our own affairs", async () => {
    const files = await contents(name);
    expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE", "package.json", ...holds]));
    const compiled = files.filter((file) => !file.startsWith("templates/"));
    expect(
      compiled.filter((file) => /\.test\.|\.map$|\.tsbuildinfo$|^src\/|(?<!\.d)\.ts$|^dist\/test\//.test(file)),
    ).toEqual([]);
  });

  test("says where it comes from, and is ready for provenance", async () => {
    const manifest: unknown = JSON.parse(await readFile(join(scope, name, "package.json"), "utf8"));
    expect(manifest).toMatchObject({
      name: `@cloudwire/${name}`,
      license: "Apache-2.0",
      repository: { type: "git", url: SOURCE },
      publishConfig: { access: "public", provenance: true },
    });
    expect(manifest).not.toHaveProperty("private");
    expect(JSON.stringify(manifest)).not.toContain("development");
  });
});

test.each(PACKAGES.filter(({ imports }) => imports.length > 0))(
  "what $name exports can be imported, and has types",
  async ({ name, imports }) => {
    const specifiers = imports.map((path) => join("@cloudwire", name, path));
    const lines = specifiers.map((specifier, index) => `import * as part${index} from "${specifier}";\n`);
    const counts = specifiers.map((_, index) => `Object.keys(part${index}).length`);
    const source = `${lines.join("")}console.log(Math.min(${counts.join(", ")}) > 0);\n`;
    for (const end of ["mts", "mjs"]) await writeFile(join(directory, `consumer.${end}`), source);
    expect(await run("tsc", ["-p", directory], { output: "keep" })).toEqual({ code: 0, output: "" });
    const program = join(directory, "consumer.mjs");
    expect(await run(process.execPath, [program], { output: "keep" })).toEqual({ code: 0, output: "true\n" });
  },
);

test("the generator runs as it is packed", async () => {
  const script = join(scope, "create-provider/dist/main.js");
  const { code, output } = await run(process.execPath, [script, "--help"], { output: "keep" });
  expect(code).toBe(0);
  expect(output).toContain("Usage: npm create @cloudwire/provider");
});
