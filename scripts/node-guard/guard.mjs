// `import "@cloudwire/node-guard";` as the first line of a program. Modules are evaluated in the order of their imports, so it
// speaks before a dependency stumbles over something this Node does not have. Plain JavaScript, which every Node can load.
import { refusal, SUPPORTED } from "./node-version.mjs";

const line = refusal(process.versions.node, SUPPORTED, process.execPath);
if (line !== undefined) {
  console.error(line);
  process.exit(1);
}
