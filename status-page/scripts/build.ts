// Makes the page of its sources: npm run build -w @cloudwire/status-page writes it to dist/page.
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = join(PACKAGE, "src");

/** The page's files by name, as they are to be served from one directory: index.html, app.js, app.css, icon.svg. */
export async function buildPage(): Promise<ReadonlyMap<string, Uint8Array>> {
  const [html, icon, script, style] = await Promise.all([
    readFile(join(SOURCES, "index.html")),
    readFile(join(SOURCES, "icon.svg")),
    buildScript(),
    buildStyle(),
  ]);
  return new Map([
    ["index.html", html],
    ["app.js", Buffer.from(script)],
    ["app.css", Buffer.from(style)],
    ["icon.svg", icon],
  ]);
}

async function buildScript(): Promise<string> {
  await using bundle = await rolldown({
    cwd: PACKAGE,
    input: { app: join(SOURCES, "main.tsx") },
    platform: "browser",
    resolve: { conditionNames: ["development", "browser"] },
    onLog: (level, { message }) => {
      if (level === "warn") throw new Error(`bundling the status page: ${message}`);
    },
  });
  const { output } = await bundle.generate({
    format: "esm",
    minify: true,
    // The program that serves the page has them in its THIRD_PARTY_NOTICES.txt.
    comments: { legal: false },
  });
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error("the status page's script is more than one file");
  return chunk.code;
}

/** All sheets in the order of their names: what is general comes first. */
async function buildStyle(): Promise<string> {
  const directory = join(SOURCES, "styles");
  const names = (await readdir(directory)).filter((name) => name.endsWith(".css")).toSorted();
  const sheets = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  return withoutComments(sheets.join("\n"));
}

/** Most of what minifying saves is saved by compression already. */
function withoutComments(css: string): string {
  const bare = css.replaceAll(/\/\*.*?\*\//gs, "");
  return bare
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
}

if (import.meta.main) {
  const directory = join(PACKAGE, "dist/page");
  await mkdir(directory, { recursive: true });
  let total = 0;
  for (const [name, bytes] of await buildPage()) {
    // Atomic: a controller may read it at the same time.
    const fresh = join(directory, `${name}.${process.pid}`);
    await writeFile(fresh, bytes);
    await rename(fresh, join(directory, name));
    const packed = gzipSync(bytes).length;
    total += packed;
    console.log(
      `${name.padEnd(12)} ${String(bytes.length).padStart(7)} bytes, ${String(packed).padStart(6)} compressed`,
    );
  }
  console.log(`together ${total} bytes compressed`);
}
