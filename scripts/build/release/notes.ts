// `npm run release:notes -- 0.2.0`: what the changelog says of that version, as the text of a release. "Unreleased" is one, too.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../lib/run.ts";
import { failOnUserError, UserError } from "../../lib/user-error.ts";
import { releaseNotes } from "./changelog.ts";

await failOnUserError("release:notes", async () => {
  const [version = ""] = parseArgs({ allowPositionals: true }).positionals;
  const notes = releaseNotes(await readFile(join(ROOT, "CHANGELOG.md"), "utf8"), version);
  if (notes === undefined)
    throw new UserError(
      `CHANGELOG.md says nothing of "${version}": give its heading "## ${version || "0.2.0"}" and its entries`,
    );
  console.log(notes);
  return 0;
});
