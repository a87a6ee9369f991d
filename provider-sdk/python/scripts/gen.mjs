// Generates the Python stubs with the generators that requirements.txt pins; part of `npm run gen`.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { prepareVenv } from "../../../scripts/suites/toolchains.ts";

const missing = await prepareVenv("provider-sdk/python");
if (missing !== undefined) {
  console.error(`Generating the stubs of provider-sdk/python needs Python 3.10 or newer: ${missing}`);
  process.exit(1);
}
execFileSync(".venv/bin/python", ["scripts/gen.py"], {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  stdio: "inherit",
});
