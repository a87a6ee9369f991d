// `npm run conformance`: runs the conformance kit on every provider that this repository ships and writes docs/conformance.
//   npm run conformance -- simulated-go      one report, or several; baremetal only where it is named, as root
import process from "node:process";
import { prepareControlPlane } from "./control-plane.ts";
import { prepareNetwork } from "./debian-tools.ts";
import { prepareSidecars } from "./foreign-suites.ts";
import { run } from "../lib/run.ts";
import { failOnUserError, UserError } from "../lib/user-error.ts";

/** The provider whose cloud is network namespaces. */
const BAREMETAL = "baremetal";

await failOnUserError("conformance", async () => {
  const names = process.argv.slice(2);
  const network = names.includes(BAREMETAL) ? await prepareNetwork() : undefined;
  const isAlone = names.length > 0 && names.every((name) => name === BAREMETAL);
  const missing = network ?? (isAlone ? undefined : ((await prepareControlPlane()) ?? (await prepareSidecars())));
  if (missing !== undefined) throw new UserError(missing);
  const args = ["run", "--silent", "conformance", "-w", "@cloudwire/test", "--", ...names];
  return (await run("npm", args, { output: "show" })).code;
});
