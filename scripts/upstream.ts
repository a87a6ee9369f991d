// What changes for this repository with another version of upstream's cloud-controller-manager: flags, configuration, metrics, events,
// permissions, and sources with behavior. Needs Go, which downloads the modules.
//   npm run upstream -- --to v0.38.0-beta.0                   from the version that the suites compare with
//   npm run upstream -- --from v0.36.3 --to v0.37.2
import { parseArgs } from "node:util";
import { failOnUserError, UserError } from "./lib/user-error.ts";
import { readKnown } from "./upstream/known.ts";
import { comparedVersion, readUpstream, stagingVersion } from "./upstream/modules.ts";
import { report } from "./upstream/report.ts";

await failOnUserError("upstream", async () => {
  const { values } = parseArgs({ options: { from: { type: "string" }, to: { type: "string" } } });
  if (values.to === undefined) throw new UserError("--to names a version, such as --to v0.38.0-beta.0");
  const from = values.from === undefined ? comparedVersion() : stagingVersion(values.from);
  const [before, after] = await Promise.all([readUpstream(from), readUpstream(stagingVersion(values.to))]);
  console.log(report(before, after, readKnown()));
  return 0;
});
