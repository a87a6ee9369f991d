// `npm run conformance`: runs the conformance kit on every provider that this repository ships and writes docs/conformance.
//   npm run conformance -- simulated-go      one report, or several
import process from "node:process";
import { prepareControlPlane } from "./lib/control-plane.ts";
import { prepareSidecars } from "./lib/foreign-suites.ts";
import { run } from "./lib/run.ts";
import { failOnUserError, UserError } from "./lib/user-error.ts";

await failOnUserError("conformance", async () => {
  const missing = (await prepareControlPlane()) ?? (await prepareSidecars());
  if (missing !== undefined) throw new UserError(missing);
  const args = ["run", "--silent", "conformance", "-w", "@cloudwire/test", "--", ...process.argv.slice(2)];
  return (await run("npm", args, { output: "show" })).code;
});
