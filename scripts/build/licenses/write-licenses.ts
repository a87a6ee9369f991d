// `npm run gen`: the licenses of what is shipped. Fails when one of them may not be.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../lib/run.ts";
import { failOnUserError, UserError } from "../../lib/user-error.ts";
import { licensesPage, type LockedPackages, notAllowed, shippedPackages } from "./licenses.ts";
import { SHIPPED } from "../release/shipped.ts";

await failOnUserError("licenses", async () => {
  const { packages }: { readonly packages: LockedPackages } = JSON.parse(
    await readFile(join(ROOT, "package-lock.json"), "utf8"),
  );
  const shipped = shippedPackages(packages, SHIPPED);
  const refused = notAllowed(shipped).map(({ name, version, license }) => `${name} ${version}: ${license || "none"}`);
  if (refused.length > 0)
    throw new UserError(
      `licenses that must not be shipped; take another package, or allow them in scripts/build/licenses/licenses.ts:\n${refused.join("\n")}`,
    );
  await writeFile(join(ROOT, "docs/reference/licenses.md"), licensesPage(shipped));
  return 0;
});
