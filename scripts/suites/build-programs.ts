// Builds what the named suites of `npm test` need in Go and Python, in their order; started by it, at a low priority, while others run.
//   node --conditions=development scripts/suites/build-programs.ts parity deploy
import process from "node:process";
import { prepareControlPlane, prepareUpstream } from "./control-plane.ts";
import { prepareDeployPrograms } from "./debian-tools.ts";
import { prepareSidecars } from "./foreign-suites.ts";
import { MINORS_IN_CI, suiteOn } from "../lib/kubernetes-minors.ts";

const prepareOldestMinor = (): Promise<string | undefined> => prepareControlPlane(MINORS_IN_CI);

const BUILDS: Readonly<Record<string, () => Promise<string | undefined>>> = {
  languages: prepareSidecars,
  "system-go": prepareSidecars,
  "system-python": prepareSidecars,
  ...Object.fromEntries(MINORS_IN_CI.map((minor) => [suiteOn(minor), prepareOldestMinor])),
  parity: prepareUpstream,
  deploy: prepareDeployPrograms,
};

const wanted = new Set(process.argv.slice(2).flatMap((suite) => BUILDS[suite] ?? []));
for (const build of wanted) {
  const missing = await build();
  if (missing !== undefined) console.log(missing);
}
