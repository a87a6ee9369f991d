#!/usr/bin/env node
// Starts the program that `npm run build` makes.
import "@cloudwire/node-guard";
import { existsSync } from "node:fs";

const program = new URL("../dist/bundle/cloudwire.mjs", import.meta.url);
if (!existsSync(program)) {
  console.error("cloudwire: is not built yet; run: npm run build");
  process.exit(1);
}
await import(program.href);
