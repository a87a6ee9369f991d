// The version of Cloudwire, which is that of the top package.json and stands in many files.
//   npm run release:version              checks that all agree, as `npm run check` does
//   npm run release:version -- 0.2.0     gives all of them this one
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../lib/run.ts";
import { treeTexts } from "../../lib/tree.ts";
import { failOnUserError, UserError } from "../../lib/user-error.ts";
import { isVersion, versionsIn, withVersion } from "./versions.ts";

await failOnUserError("release:version", async () => {
  const [wanted] = parseArgs({ allowPositionals: true }).positionals;
  const files = await treeTexts();
  if (wanted === undefined) return check(files);
  if (!isVersion(wanted)) throw new UserError(`"${wanted}" is no version: give one such as 0.2.0 or 0.2.0-rc.1`);
  const changed = withVersion(files, wanted);
  for (const [path, text] of changed) await writeFile(join(ROOT, path), text);
  console.log(`${wanted} stands in ${changed.size} files now. Next: npm install, npm run gen, and the changelog.`);
  return 0;
});

function check(files: ReadonlyMap<string, string>): number {
  const { version }: { readonly version: string } = JSON.parse(files.get("package.json") ?? "{}");
  const { found, lost } = versionsIn(files);
  const others = found.filter((one) => one.version !== version);
  for (const { path, line, version: other } of others)
    console.log(`${path}:${line} has version ${other}, and package.json ${version}`);
  for (const what of lost) console.log(`scripts/build/release/versions.ts: ${what}`);
  return others.length + lost.length === 0 ? 0 : 1;
}
