// Builds what the named suites of `npm test` need in Go and Python, in their order; started by it, at a low priority, while others run.
//   node --conditions=development scripts/suites/build-programs.ts parity deploy
import process from "node:process";
import { prepareUpstream } from "./control-plane.ts";
import { prepareDeployPrograms } from "./debian-tools.ts";
import { prepareSidecars } from "./foreign-suites.ts";

const BUILDS: Readonly<Record<string, () => Promise<string | undefined>>> = {
  languages: prepareSidecars,
  "system-go": prepareSidecars,
  "system-python": prepareSidecars,
  parity: prepareUpstream,
  deploy: prepareDeployPrograms,
};

const wanted = new Set(process.argv.slice(2).flatMap((suite) => BUILDS[suite] ?? []));
for (const build of wanted) {
  const missing = await build();
  if (missing !== undefined) console.log(missing);
}
