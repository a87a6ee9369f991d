#!/usr/bin/env node
// Runs what `npm run build` compiled, or the sources of a checkout where nothing is compiled yet.
import "@cloudwire/node-guard";
import { existsSync } from "node:fs";

const compiled = new URL("../dist/src/main.js", import.meta.url);
if (!existsSync(compiled)) {
  console.error("cloudwire-conformance: is not built yet; run: npm run build");
  process.exit(1);
}
await import(compiled.href);
